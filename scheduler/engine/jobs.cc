#include "scheduler/engine/jobs.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "common/status.h"
#include "scheduler/core/misfire.h"
#include "scheduler/engine/alerts.h"
#include "scheduler/engine/arming.h"
#include "scheduler/engine/checks.h"
#include "scheduler/engine/gaps.h"
#include "scheduler/engine/runs.h"

namespace tidemark {

namespace {

// A clock that was set back by less catches up with the cursor before a person could act.
constexpr absl::Duration kCursorHorizon = absl::Hours(1);
// A turn must not last, or what its first fires send would wait for the last ones: what is left is
// done in the next turn, which follows at once.
constexpr int kAtOnce = 256;

// Whether it is the calendar that lets nothing be due any more: without it there would be fires.
bool CalendarRanOut(const Schedule& schedule, absl::Time now) {
  const ScheduleSpec& spec = schedule.spec();
  if (schedule.calendar() == nullptr || (spec.end_at.has_value() && *spec.end_at <= now)) {
    return false;
  }
  if (spec.kind == ScheduleSpec::Kind::kEvery) return true;
  return spec.kind == ScheduleSpec::Kind::kCron &&
         schedule.cron().Next(now, schedule.zone()).has_value();
}

// What the owner alone writes is newer in its memory than in any row that was read: the write may
// be on its way, and a cursor that went back would fire again.
void KeepOwn(const JobState& job, JobRow& row) {
  const JobFacts& known = job.row;
  row.paused = known.paused;
  row.pause = job.extra().pause;
  if (known.ledger_from.has_value()) row.ledger_from = *known.ledger_from;
  if (known.cursor.has_value()) {
    row.cursor = std::max(row.cursor.value_or(*known.cursor), *known.cursor);
  }
}

JobFacts FactsOf(const JobRow& row) {
  JobFacts facts;
  facts.job_id = row.job_id;
  facts.created_at = row.created_at;
  facts.cursor = row.cursor;
  facts.check_from = row.check_from;
  facts.checked_until = row.checked_until;
  facts.ledger_from = row.ledger_from;
  facts.due_until = row.due_until;
  facts.version = row.version;
  facts.shard = static_cast<int16_t>(row.shard);
  facts.paused = row.paused;
  facts.finished = row.finished;
  facts.deleted = row.deleted;
  return facts;
}

}  // namespace

JobState& Jobs::Take(JobRow row) {
  const auto [made, fresh] = s_.jobs.Make(row.job_id);
  JobState& job = *made;
  if (!fresh) {
    KeepOwn(job, row);
    s_.arm_part->Disarm(job);
    Unindex(job);
  }
  job.row = FactsOf(row);
  job.check_all = true;
  TakeExtra(job, row);
  s_.jobs.Place(job, row.name, row.ns, row.app);
  const absl::Status compiled = s_.definitions.Compile(row, &job.definition);
  for (const Dependency& d : job.spec().after) s_.dependents[d.job].insert(job.row.job_id);
  if (!compiled.ok()) {
    SetError(job, Message(compiled));
    return job;
  }
  if (!job.extra().known_error.empty()) {
    s_.Extra(job).known_error.clear();
    JobUpdate update;
    update.job_id = job.row.job_id;
    update.error = "";
    s_.flush.jobs.push_back(std::move(update));
    alerts::JobMended(s_, job);
  }
  if (!job.timeline().dated() && !job.row.cursor.has_value()) {
    job.row.cursor = row.versions.front().valid_from;
  }
  // What is due already is found by the gap of a dated job, and from the cursor of an interval job.
  AwaitFire(job, job.timeline().dated() ? s_.now.lo : *job.row.cursor);
  WatchCursor(job);
  s_.check_part->Plan(job);
  return job;
}

void Jobs::SetError(JobState& job, const std::string& error) {
  s_.Extra(job).error = error;
  job.next_fire.reset();
  s_.arm_part->Disarm(job);
  s_.Say(LogLine::Level::kError, "job in error", {{"job", job.name()}, {"error", error}});
  if (job.extra().known_error == error) return;
  s_.Extra(job).known_error = error;
  JobUpdate update;
  update.job_id = job.row.job_id;
  update.error = error;
  s_.flush.jobs.push_back(std::move(update));
  alerts::JobInError(s_, job);
}

void Jobs::TakeExtra(JobState& job, const JobRow& row) {
  const JobExtra& known = job.extra();
  if (row.error.empty() && row.pause == nullptr && known.error.empty() &&
      known.known_error.empty() && known.told_held.empty() && known.pause == nullptr) {
    return;  // nearly always
  }
  JobExtra& extra = s_.Extra(job);
  extra.error.clear();
  extra.known_error = row.error;
  extra.told_held.clear();
  extra.pause = row.pause;
}

void Jobs::Unindex(const JobState& job) {
  for (const Dependency& d : job.spec().after) {
    const auto it = s_.dependents.find(d.job);
    if (it == s_.dependents.end()) continue;
    it->second.erase(job.row.job_id);
    if (it->second.empty()) s_.dependents.erase(it);
  }
}

void Jobs::Forget(int64_t job_id) {
  JobState* job = s_.FindJob(job_id);
  if (job == nullptr) return;
  s_.arm_part->Disarm(*job);
  Unindex(*job);
  s_.check_part->Forget(*job);
  std::vector<std::function<void(JobState*)>> waiting;
  if (!job->extra().when_quiet.empty()) waiting = std::move(s_.Extra(*job).when_quiet);
  s_.jobs.Remove(*job);
  for (const auto& order : waiting) order(nullptr);
}

void Jobs::AwaitFire(JobState& job, absl::Time after) {
  const std::optional<Occurrence> next = job.timeline().Next(after);
  job.next_fire.reset();
  if (next.has_value()) {
    job.next_fire = next->fire_time;
    s_.ahead.Add(next->fire_time - kArmAhead, job.row.job_id);
  }
  MarkFinished(job);
}

void Jobs::MarkFinished(JobState& job) {
  const Schedule& schedule = job.timeline().current();
  const bool finished =
      !job.next_fire.has_value() && schedule.spec().kind != ScheduleSpec::Kind::kManual;
  if (finished != job.row.finished) {
    job.row.finished = finished;
    JobUpdate update;
    update.job_id = job.row.job_id;
    update.finished = finished;
    s_.flush.jobs.push_back(std::move(update));
    s_.Say(LogLine::Level::kInfo, finished ? "job finished" : "job goes on", {{"job", job.name()}});
  }
  const bool ran_out = finished && CalendarRanOut(schedule, s_.now.lo);
  if (!ran_out) {
    alerts::CalendarGoesOn(s_, job);
  } else if (!job.told_calendar) {
    alerts::CalendarEnded(s_, job, *schedule.calendar());
  }
  job.told_calendar = ran_out;
}

void Jobs::FireDue() {
  if (s_.holding) return;
  for (int i = 0; i < kAtOnce && !s_.FlushFull(); ++i) {
    const auto due = s_.fires.TakeDue(s_.now.lo);
    if (!due.has_value()) return;
    JobState* job = s_.FindJob(due->second);
    // Entries of edited or forgotten jobs are stale.
    if (job == nullptr || job->next_fire != due->first) continue;
    const std::optional<Occurrence> occurrence = job->Next();
    if (!occurrence.has_value()) continue;
    AwaitFire(*job, s_.now.lo);
    if (job->opens()) ++s_.tally.apps[job->spec().app].due;
    if (job->timeline().dated()) {
      s_.arm_part->Launch(*job, *occurrence);
      s_.gap_part->Evaluate(*job, TriggerPoint::kFire);
    } else {
      LaunchFires(*job);
    }
  }
}

void Jobs::SkipRange(const JobState& job, absl::Time from, absl::Time to, int64_t fires,
                     const std::string& reason) {
  s_.flush.skipped.push_back({job.row.job_id, from, to, fires, reason});
  s_.Say(LogLine::Level::kWarn, "fires skipped",
         {{"job", job.name()}, {"fires", std::to_string(fires)}, {"reason", reason}});
}

void Jobs::WatchCursor(JobState& job) {
  if (!job.error().empty() || job.timeline().dated() || !job.row.cursor.has_value()) return;
  const bool ahead = *job.row.cursor - s_.now.lo > kCursorHorizon;
  if (!ahead) {
    alerts::CursorFine(s_, job);
  } else if (!job.told_cursor) {
    alerts::CursorAhead(s_, job);
  }
  job.told_cursor = ahead;
  if (ahead) s_.cursors_ahead.insert(job.row.job_id);
}

void Jobs::WatchCursors() {
  for (const int64_t id : std::exchange(s_.cursors_ahead, {})) {
    if (JobState* job = s_.FindJob(id)) WatchCursor(*job);
  }
}

void Jobs::LaunchFires(JobState& job) {
  // A paused interval job goes on from where it is resumed.
  if (!job.opens()) return;
  PassAdopted(job);
  const FirePlan plan = PlanFires(job.timeline(), *job.row.cursor, s_.now.lo, job.spec().misfire);
  if (!plan.cursor.has_value()) return;
  job.row.cursor = plan.cursor;
  s_.flush.cursors.push_back({job.row.job_id, *plan.cursor});
  for (const FirePlan::Skip& skip : plan.skip) {
    SkipRange(job, skip.from, skip.to, skip.fires, skip.reason);
  }
  if (!plan.skip.empty()) alerts::FiresSkipped(s_, job, plan);
  for (const FirePlan::Launch& launch : plan.launch) {
    RunRequest request;
    request.occurrence = launch.occurrence;
    request.key = FireKey(job.row.job_id, launch.occurrence.fire_time);
    request.trigger = launch.trigger;
    if (launch.trigger == TriggerType::kSchedule && s_.arm_part->Launch(job, launch.occurrence)) {
      continue;
    }
    s_.run_part->Launch(job, request);
  }
  // A policy may have decided otherwise.
  if (job.extra().armed != nullptr && job.extra().armed->run.row.fire_time <= s_.now.lo)
    s_.arm_part->Disarm(job);
}

void Jobs::PassAdopted(JobState& job) {
  std::optional<absl::Time> last;
  for (const std::string& run_id : job.runs()) {
    const LiveRun* run = s_.FindRun(run_id);
    if (run == nullptr || run->row.occurrence.kind != 'F') continue;
    if (run->row.fire_time <= s_.now.lo && run->row.fire_time > *job.row.cursor) {
      last = std::max(last.value_or(run->row.fire_time), run->row.fire_time);
    }
  }
  if (!last.has_value()) return;
  job.row.cursor = last;
  s_.flush.cursors.push_back({job.row.job_id, *last});
}

}  // namespace tidemark
