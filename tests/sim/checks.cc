// The oracles: what is looked at while it happens, and what at the end.
#include <algorithm>
#include <utility>

#include "common/time_text.h"
#include "scheduler/verify/due_plan.h"
#include "scheduler/verify/verify.h"
#include "tests/sim/simulation.h"
#include "tests/verify/memory_history.h"

namespace tidemark::sim {
namespace {

// In the calm, what is due is settled, and what is live ended, after so long.
constexpr absl::Duration kPatience = absl::Hours(1);
// Longer than executors are waited for after a fail-over.
constexpr absl::Duration kNowhere = absl::Minutes(8);
// By then an edit's effect on the past is found by the check.
constexpr absl::Duration kChecksAll = absl::Minutes(150);

}  // namespace

std::vector<absl::CivilDay> Simulation::DueDates(int64_t job_id, absl::Time until) const {
  std::vector<absl::CivilDay> dates;
  const auto job = Store().jobs.find(job_id);
  if (job == Store().jobs.end() || !job->second.ledger_from.has_value()) return dates;
  const verify::DuePlan plan(History(job_id));
  for (const verify::DueDate& due : plan.Dates(*job->second.ledger_from, until)) {
    if (due.last <= until) dates.push_back(due.date);
  }
  return dates;
}

// All jobs are in Shanghai, where the clock is never set.
std::vector<absl::CivilDay> Simulation::ExpectedDates(int64_t job_id, absl::Time until) const {
  std::vector<absl::CivilDay> dates;
  const auto job = Store().jobs.find(job_id);
  if (job == Store().jobs.end() || !job->second.ledger_from.has_value()) return dates;
  const std::optional<absl::Duration> by = NewestSpec(job->second.name).expected_by;
  const absl::TimeZone zone = absl::FixedTimeZone(8 * 3600);
  for (const verify::DueDate& due :
       verify::DuePlan(History(job_id)).Dates(*job->second.ledger_from, until)) {
    absl::Time at =
        absl::FromCivil(absl::ToCivilDay(due.last, zone), zone) + by.value_or(absl::Hours(9));
    if (!by.has_value()) at = std::max(at, due.last + absl::Hours(2));
    if (at <= due.last) at += absl::Hours(24);
    if (at > job->second.created_at && at <= until) dates.push_back(due.date);
  }
  return dates;
}

void Simulation::ForgetSuperseded() {
  for (const auto& executor : executors_) {
    const auto acting = Store().executors.find(executor->executor_id());
    if (!executor->alive() || acting == Store().executors.end()) continue;
    const bool was_acting =
        Store().incarnations.contains(executor->executor_id() + "/" + executor->uuid());
    if (!was_acting || acting->second.second == executor->uuid()) continue;
    if (oracle_.Died(executor->Process())) ++report_.superseded;
  }
}

verify::History Simulation::History(int64_t job_id) const {
  return HistoryOf(Store(), job_id, DbNow(),
                   [this](const std::string& text) { return SpecOf(text); });
}

// X6: no handler is entered by the word of a former owner, once its process knows of a later one.
void Simulation::CheckEpoch(const SimExecutor& executor, const v1::Trigger& trigger) {
  const std::pair attempt(trigger.attempt().run_id(), trigger.attempt().attempt());
  if (!told_[executor.Process()].stale.contains(attempt)) return;
  oracle_.Blame(queue_.now(), trigger.batch_id() + " entered in " + executor.Process() +
                                  " by a trigger of a former owner: " + attempt.first);
}

void Simulation::CheckEntering(const v1::Trigger& trigger) {
  Focus();
  ForgetSuperseded();
  for (const auto& [key, run] : Store().active) {
    const bool rerun = !run.rerun_of.empty() || !run.tag.empty();
    if (run.run_id != trigger.attempt().run_id() || rerun || !Store().jobs.contains(key.job_id))
      continue;
    if (trigger.job() == "strict") CheckStrict(run);
    if (run.biz_date.has_value()) CheckUpstreams(run);
  }
}

// Dates that were due when the run was made, and still are: an edit may add dates later, or take
// them away.
void Simulation::CheckStrict(const ActiveRun& run) {
  // A forced run of a DONE date, which a person's word may have made so, is in nobody's way.
  const auto mark = Store().watermarks.find({run.occurrence.job_id, *run.biz_date});
  if (mark != Store().watermarks.end() && mark->second.status == "DONE") return;
  const verify::History history = History(run.occurrence.job_id);
  const verify::DuePlan known(history, run.job_version, run.created_at);
  std::vector<std::string> before;
  for (const absl::CivilDay day : DueDates(run.occurrence.job_id, DbNow())) {
    const auto due = known.DateOf(day);
    if (day < *run.biz_date && due.has_value() && due->last <= run.created_at) {
      before.push_back(run.job_name + "/" + FormatDate(day));
    }
  }
  oracle_.CheckOrder(queue_.now(), run.job_name + "/" + FormatDate(*run.biz_date), before);
}

// What the run's definition waits for has succeeded, as far as it was due by all that was known.
void Simulation::CheckUpstreams(const ActiveRun& run) {
  const JobRow& job = Store().jobs.at(run.occurrence.job_id);
  std::vector<std::string> before;
  for (const JobRow::Version& version : job.versions) {
    if (version.version != run.job_version) continue;
    for (const Dependency& d : SpecOf(version.spec).after) {
      const int64_t id = job_ids_.at(d.job);
      const absl::CivilDay date = *run.biz_date + d.offset;
      const std::optional<absl::CivilDay> first = Store().jobs.at(id).ledger_from;
      if (!first.has_value() || date < *first || !DueAllAlong(id, date, run.created_at)) continue;
      before.push_back(d.job + "/" + FormatDate(date));
    }
  }
  oracle_.CheckOrder(queue_.now(), run.job_name + "/" + FormatDate(*run.biz_date), before);
}

// Whether the date was due under every definition and calendar from that time on.
bool Simulation::DueAllAlong(int64_t job_id, absl::CivilDay date, absl::Time since) const {
  const verify::History history = History(job_id);
  std::vector<absl::Time> moments = {since, absl::InfiniteFuture()};
  for (const auto& [name, editions] : history.calendars) {
    for (const verify::Edition& edition : editions) moments.push_back(edition.valid_from);
  }
  for (const verify::Definition& definition : history.definitions) {
    const bool later =
        &definition == &history.definitions.back() || (&definition)[1].valid_from > since;
    if (!later) continue;
    for (const absl::Time moment : moments) {
      const verify::DuePlan plan(history, definition.version, std::max(moment, since));
      if (!plan.DateOf(date).has_value()) return false;
    }
  }
  return true;
}

void Simulation::CheckAcknowledged(const std::string& run_id, int attempt) {
  // What the old primary committed, the new one may have lost.
  if (queue_.now() < commits_lost_until_) return;
  for (const auto& [shard, item] : Store().inbox) {
    if (item.attempt == AttemptRef{run_id, attempt}) return;  // its owner takes it from there
  }
  for (const auto& [key, run] : Store().active) {
    if (run.run_id != run_id || run.attempt != attempt || run.executor_id.empty()) continue;
    oracle_.Blame(queue_.now(), run_id + "#" + std::to_string(attempt) +
                                    " was acknowledged, and the store still has it as live");
  }
}

// Whether its owner, whose name it says, and its executor have had a way to each other.
bool Simulation::ShouldReach(const ActiveRun& run, std::string* by) const {
  const auto job = Store().jobs.find(run.occurrence.job_id);
  if (job == Store().jobs.end()) return false;
  const auto& owner = primary_->rows.shards[static_cast<size_t>(job->second.shard)].owner;
  const auto acting = Store().executors.find(run.executor_id);
  if (!owner || acting == Store().executors.end()) return false;
  *by = owner->second;
  return std::any_of(links_.begin(), links_.end(), [&](const auto& entry) {
    const Link& link = entry.second;
    return link.node->name() == owner->first && link.node->alive() && !link.node->suspended() &&
           link.node->reaches_database() && !stays_with_old_.contains(owner->first) &&
           link.welcomed && !link.cut && !link.closed && link.executor->alive() &&
           link.executor->executor_id() == run.executor_id &&
           acting->second == std::pair(run.registration, link.executor->uuid());
  });
}

void Simulation::WatchSent() {
  std::map<AttemptRef, std::pair<absl::Duration, std::string>> nowhere;
  for (const auto& [key, run] : Store().active) {
    std::string by;
    const bool sent = !run.executor_id.empty() && !run.armed && StateOf(run) == "sent";
    if (!sent || !ShouldReach(run, &by)) continue;
    const AttemptRef attempt{run.run_id, run.attempt};
    const auto known = nowhere_.find(attempt);
    auto since = std::pair(queue_.now(), by);
    if (known != nowhere_.end() && known->second.second == by) since.first = known->second.first;
    if (queue_.now() - since.first > kNowhere) {
      oracle_.Blame(queue_.now(), key.key + " " + run.run_id + " is live in " + run.executor_id +
                                      ", which does not have it, for long");
    }
    nowhere[attempt] = since;
  }
  nowhere_ = std::move(nowhere);
  queue_.After(absl::Minutes(1), [this] { WatchSent(); });
}

// Rows around a clock that was set back tell no order: `verify` can only believe them.
bool Simulation::InDoubt(const verify::History& history, const verify::Finding& finding) const {
  const auto doubtful = [&](std::optional<absl::Time> time) {
    return time.has_value() &&
           std::any_of(setbacks_.begin(), setbacks_.end(), [&](const auto& span) {
             return span.first - absl::Seconds(5) <= *time &&
                    *time <= span.second + absl::Seconds(5);
           });
  };
  if (doubtful(finding.fire_time)) return true;
  for (const verify::Run& run : history.runs) {
    const auto& ids = finding.run_ids;
    if (std::find(ids.begin(), ids.end(), run.run_id) == ids.end()) continue;
    if (doubtful(run.created_at) || doubtful(run.ended_at)) return true;
    for (const verify::Attempt& attempt : run.attempts) {
      if (doubtful(attempt.sent_at) || doubtful(attempt.ended_at)) return true;
    }
  }
  return false;
}

// Whether the date waits for another job's that has not been due yet.
bool Simulation::UpstreamIsAhead(int64_t job_id, absl::CivilDay date, absl::Time until) const {
  for (const verify::Upstream& upstream : History(job_id).upstreams) {
    const auto due = verify::DuePlan(upstream.history).DateOf(date + upstream.offset);
    if (due.has_value() && due->last > until) return true;
  }
  return false;
}

void Simulation::CheckJob(int64_t id, const std::string& name) {
  if (name != "beat") {
    const absl::Time until = DbNow() - kPatience;
    auto due = DueDates(id, until);
    if (due.size() < 2) oracle_.Blame(queue_.now(), name + ": nothing was due");
    // In a strict job those after one that waits wait, too.
    const bool strict = NewestSpec(name).catch_up.order == CatchUpOrder::kStrict;
    bool waits = false;
    std::erase_if(due, [&](absl::CivilDay date) {
      waits = (strict && waits) || UpstreamIsAhead(id, date, until);
      return waits;
    });
    oracle_.CheckSettled(queue_.now(), Store(), id, due);
    oracle_.CheckJudged(queue_.now(), Store(), id, ExpectedDates(id, DbNow() - kChecksAll));
  }
  const verify::History history = History(id);
  const verify::Verdict verdict = VerifyJob(history, {});
  report_.judged += static_cast<size_t>(verdict.judged);
  for (const verify::Finding& finding : verdict.findings) {
    std::string text = "verify: " + std::string(verify::Name(finding.kind)) + " " + name + " " +
                       (finding.date ? FormatDate(*finding.date) : "") +
                       (finding.fire_time ? FormatInstant(*finding.fire_time) : "") + ": " +
                       finding.text;
    for (const std::string& run_id : finding.run_ids) text += " " + run_id;
    if (InDoubt(history, finding)) {
      Trace("in doubt, the clock was set back: " + text);
    } else {
      oracle_.Blame(queue_.now(), text);
    }
  }
}

void Simulation::CheckEnd() {
  for (const auto& [id, done] : Store().commands) {
    if (done.code != absl::StatusCode::kOk) Trace("refused " + id + ": " + done.message);
  }
  for (const auto& [key, run] : Store().active) {
    const std::string text = run.job_name + " " + key.key + " " + run.run_id + " in '" +
                             run.executor_id + "'" + (run.held ? " held" : "");
    Trace("live at the end: " + text);
    if (run.created_at < DbNow() - kPatience) {
      oracle_.Blame(queue_.now(), "live for too long: " + text);
    }
  }
  oracle_.CheckWatermarks(queue_.now(), Store());
  oracle_.CheckTold(queue_.now(), Store());
  for (const auto& [id, job] : Store().jobs) CheckJob(id, job.name);
}

}  // namespace tidemark::sim
