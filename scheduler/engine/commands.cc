#include "scheduler/engine/commands.h"

#include <algorithm>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/engine/alerts.h"
#include "scheduler/engine/arming.h"
#include "scheduler/engine/backfills.h"
#include "scheduler/engine/cascades.h"
#include "scheduler/engine/checks.h"
#include "scheduler/engine/command_answers.h"
#include "scheduler/engine/gaps.h"
#include "scheduler/engine/jobs.h"
#include "scheduler/engine/runs.h"
#include "scheduler/engine/sessions.h"

namespace tidemark {

void Commands::Carry(const Command& command) {
  if (command.kind == "job_changed") return JobChanged(command);
  if (command.kind == "cancel") return Cancel(command);
  if (command.kind == "release") return Release(command);
  if (command.kind == "drain_executor") return DrainExecutor(command);
  JobState* job = s_.FindJob(command.job_id);
  if (job == nullptr) {
    return Refuse(command, absl::StatusCode::kNotFound, "the job was deleted meanwhile");
  }
  if (command.kind == "trigger") return Trigger(command, *job);
  if (command.kind == "rerun") return Rerun(command, *job);
  if (command.kind == "pause") return Pause(command, *job);
  if (command.kind == "resume") return Resume(command, *job);
  if (command.kind == "delete") return Delete(command, *job);
  if (command.kind == "waive" || command.kind == "force_done" || command.kind == "unwaive") {
    return dates_.Carry(command, *job);
  }
  if (command.kind == "drill") return drills_.Carry(command, *job);
  if (command.kind == "reset_cursor") return ResetCursor(command, *job);
  if (command.kind.starts_with("backfill_")) return s_.backfill_part->Carry(command, *job);
  Refuse(command, absl::StatusCode::kUnimplemented,
         "this scheduler does not know the order '" + command.kind + "': upgrade all nodes");
}

void Commands::Done(const Command& command, std::map<std::string, std::string> result) {
  AnswerDone(s_, command, std::move(result));
}

void Commands::Refuse(const Command& command, absl::StatusCode code, const std::string& message) {
  AnswerRefused(s_, command, code, message);
}

void Commands::JobChanged(const Command& command) {
  if (command.job.has_value() && !command.job->deleted) {
    JobState& job = s_.job_part->Take(*command.job);
    job.row.due_until.reset();  // other dates may be due now: all are noted anew
    s_.check_part->RunDue();    // what is expected by now is judged as it was found
    if (!job.timeline().dated() && job.error().empty()) s_.job_part->LaunchFires(job);
    s_.run_part->AdvanceJob(job);
    s_.gap_part->Evaluate(job, TriggerPoint::kOperator);
    s_.gap_part->EvaluateDependents(job.name());
    s_.gap_part->TellOthers(job);
  }
  Done(command, {{"message", "taken over"}});
}

// ---------------------------------------------------------------- trigger and rerun

void Commands::Trigger(const Command& command, JobState& job) {
  if (!job.error().empty()) {
    return Refuse(command, absl::StatusCode::kFailedPrecondition,
                  "job " + job.name() + " is in error: " + job.error() +
                      ". Mend it: tidemark job apply -f FILE");
  }
  if (!job.timeline().dated()) return TriggerOnce(command, job);
  const std::string text = Arg(command, "biz_date");
  if (!text.empty()) {
    const absl::StatusOr<absl::CivilDay> date = ParseDate(text);
    if (!date.ok()) return Refuse(command, date.status().code(), Message(date.status()));
    return TriggerDate(command, job, *date, /*force=*/false);
  }
  const absl::CivilDay first = s_.gap_part->Launch(job);
  const std::optional<Occurrence> latest = job.timeline().LatestDue(first, s_.now.lo);
  if (!latest.has_value()) {
    return Refuse(
        command, absl::StatusCode::kFailedPrecondition,
        "job " + job.name() + " has no due date yet: see tidemark job next " + job.name());
  }
  TriggerDate(command, job, latest->biz_date, /*force=*/false);
}

void Commands::TriggerDate(const Command& command, JobState& job, absl::CivilDay date, bool force) {
  const absl::CivilDay first = s_.gap_part->Launch(job);
  if (const std::string why = WhyNotDue(s_, job, first, date); !why.empty()) {
    return Refuse(
        command, absl::StatusCode::kInvalidArgument,
        "biz_date " + FormatDate(date) + " " + why + ": see tidemark watermark list " + job.name());
  }
  const Occurrence due = *job.timeline().OccurrenceOf(date);
  const OccurrenceKey key = DateKey(job.row.job_id, date);
  if (const LiveRun* live = LiveRunOf(s_, job, key)) {
    return Refuse(command, absl::StatusCode::kFailedPrecondition,
                  job.name() + " " + FormatDate(date) + " is live already (run " +
                      live->row.run_id + ", " + std::string(Name(live->row.status)) +
                      "): follow it with tidemark run get " + live->row.run_id);
  }
  // What lies before says whether it is its turn, what lies after, what was computed from it.
  std::vector<absl::CivilDay> dates;
  for (const Occurrence& each : job.timeline().Due(first, force ? s_.now.lo : due.fire_time)) {
    if (force || each.biz_date <= date) dates.push_back(each.biz_date);
  }
  s_.gap_part->AskWhenQuiet(job, std::move(dates),
                            [this, command, due, force](JobState* job, const LedgerResult& result) {
                              if (job == nullptr)
                                return Carry(command);  // and is told that the job is gone
                              DecideDate(command, *job, due, force, result);
                            });
}

void Commands::DecideDate(const Command& command, JobState& job, const Occurrence& due, bool force,
                          const LedgerResult& ledger) {
  const std::string date = FormatDate(due.biz_date);
  if (!ledger.status.ok()) {
    return Refuse(command, absl::StatusCode::kUnavailable,
                  "the watermarks could not be read: " + Message(ledger.status));
  }
  std::string status;
  std::string oldest;
  for (const LedgerEntry& entry : ledger.entries) {
    if (entry.date == due.biz_date) status = entry.status;
    const bool settled = IsSettled(entry.status, entry.reason);
    if (entry.date < due.biz_date && !settled && oldest.empty()) oldest = FormatDate(entry.date);
  }
  if (status == "DONE" && !force) {
    return Refuse(command, absl::StatusCode::kFailedPrecondition,
                  job.name() + " " + date +
                      " is DONE. To run it again all the same: tidemark run rerun RUN_ID --force");
  }
  if (status == "DONE") return RerunDone(command, job, due, ledger);
  const std::optional<UpstreamDate> upstream = s_.gap_part->WaitsFor(due.biz_date, ledger);
  if (upstream.has_value()) {
    return Refuse(command, absl::StatusCode::kFailedPrecondition,
                  job.name() + " " + date + " waits for " + Text(*upstream) +
                      ", which is neither DONE nor WAIVED. Look: tidemark watermark list " +
                      upstream->job);
  }
  const bool again = status == "WAIVED" || status == "EXPIRED";
  if (!again && !oldest.empty() && job.spec().catch_up.order == CatchUpOrder::kStrict) {
    return Refuse(command, absl::StatusCode::kFailedPrecondition,
                  job.name() + " " + date + " is behind the gap: " + oldest +
                      " must come first (order strict). Run that: tidemark job trigger " +
                      job.name() + " --biz-date " + oldest + "; the rest follows by itself");
  }
  OpenManual(command, job, due, DateKey(job.row.job_id, due.biz_date));
}

void Commands::RerunDone(const Command& command, JobState& job, const Occurrence& due,
                         const LedgerResult& ledger) {
  const std::vector<absl::CivilDay> later = ComputedFrom(job, due.biz_date, ledger);
  const auto dependents = s_.dependents.find(job.name());
  std::vector<std::string> names;
  if (dependents != s_.dependents.end()) {
    for (const int64_t id : dependents->second) names.push_back(s_.FindJob(id)->name());
  }
  std::sort(names.begin(), names.end());
  std::vector<std::string> texts;
  texts.reserve(later.size());
  for (const absl::CivilDay date : later) texts.push_back(FormatDate(date));
  const bool cascade = Arg(command, "cascade") == "true";
  OpenManual(command, job, due, DateKey(job.row.job_id, due.biz_date),
             {{"later", Join(texts, ",")}, {"dependents", Join(names, ",")}},
             cascade ? CascadeTag(due.biz_date) : "");
  if (cascade) OpenCascade(s_, job, command, CascadeTag(due.biz_date), later);
}

// A job that this one waits for was run again: what was DONE from the old results runs again, too.
void Commands::RerunAfterUpstream(const Command& command, JobState& job) {
  const absl::StatusOr<absl::CivilDay> from = ParseDate(Arg(command, "from"));
  const absl::StatusOr<absl::CivilDay> to = ParseDate(Arg(command, "to"));
  if (!from.ok() || !to.ok() || !job.dated()) {
    return Refuse(command, absl::StatusCode::kFailedPrecondition,
                  "job " + job.name() + " has no such dates to run again");
  }
  std::vector<absl::CivilDay> dates;
  for (const Occurrence& each : job.timeline().Due(s_.gap_part->Launch(job), s_.now.lo)) {
    if (each.biz_date >= *from) dates.push_back(each.biz_date);
  }
  if (dates.empty()) return Done(command, {{"message", "nothing to run again"}});
  s_.gap_part->AskWhenQuiet(
      job, std::move(dates), [this, command, to = *to](JobState* job, const LedgerResult& ledger) {
        if (job == nullptr) return Carry(command);
        if (!ledger.status.ok()) {
          return Refuse(command, absl::StatusCode::kUnavailable,
                        "the watermarks could not be read: " + Message(ledger.status));
        }
        std::vector<absl::CivilDay> again = DoneDates(*job, to, ledger);
        for (const absl::CivilDay date : again) {
          const LiveRun* live = LiveRunOf(s_, *job, DateKey(job->row.job_id, date));
          if (live == nullptr) continue;
          // It may have read what was there before: once it has ended, again.
          s_.Extra(*job).after_run.push_back(command);
          return;
        }
        Done(command, {{"message", std::to_string(again.size()) + " dates run again"}});
        if (!again.empty()) OpenCascade(s_, *job, command, CascadeTag(again.front()), again);
      });
}

void Commands::TriggerOnce(const Command& command, JobState& job) {
  if (!Arg(command, "biz_date").empty()) {
    return Refuse(command, absl::StatusCode::kInvalidArgument,
                  "job " + job.name() +
                      " is an interval job: it has no business dates, leave --biz-date out");
  }
  const std::string request_id = Arg(command, "request_id");
  Occurrence now;
  now.fire_time = s_.now.lo;
  now.nominal = absl::ToCivilSecond(s_.now.lo, job.timeline().current().zone());
  OpenManual(command, job, now,
             ManualKey(job.row.job_id, request_id.empty() ? command.command_id : request_id));
}

void Commands::OpenManual(const Command& command, JobState& job, const Occurrence& due,
                          OccurrenceKey key, std::map<std::string, std::string> more,
                          const std::string& tag) {
  if (const LiveRun* live = LiveRunOf(s_, job, key)) {
    return Refuse(command, absl::StatusCode::kFailedPrecondition,
                  "it is live already: tidemark run get " + live->row.run_id);
  }
  RunRequest request;
  request.occurrence = due;
  request.key = std::move(key);
  request.trigger = TriggerType::kManual;
  request.tag = tag;
  request.request_id = Arg(command, "request_id");
  request.requested_by = command.actor;
  request.reason = Arg(command, "reason");
  request.rerun_of = Arg(command, "run_id");
  request.wanted_executor = Arg(command, "executor_id");
  request.params = Arg(command, "params");
  // For dates the gap is the queue; for all else the blocking policy decides.
  const std::string run_id =
      job.timeline().dated() ? s_.run_part->Open(job, request) : s_.run_part->Launch(job, request);
  const std::string date = job.timeline().dated() ? FormatDate(due.biz_date) : "";
  more["run_id"] = run_id;
  more["biz_date"] = date;
  Done(command, std::move(more));
}

void Commands::Rerun(const Command& command, JobState& job) {
  if (!Arg(command, "from").empty()) return RerunAfterUpstream(command, job);
  const std::string text = Arg(command, "biz_date");
  if (!job.error().empty() || (!text.empty() && !job.timeline().dated())) {
    return Refuse(command, absl::StatusCode::kFailedPrecondition,
                  "job " + job.name() + " cannot run it as it is defined now");
  }
  if (!text.empty()) {
    const absl::StatusOr<absl::CivilDay> date = ParseDate(text);
    if (!date.ok()) return Refuse(command, date.status().code(), Message(date.status()));
    return TriggerDate(command, job, *date, Arg(command, "force") == "true");
  }
  const std::string kind = Arg(command, "kind");
  const std::string occurrence = Arg(command, "occurrence");
  Occurrence due;
  due.fire_time = s_.now.lo;
  if (kind == "F") {
    const absl::StatusOr<absl::Time> fire = ParseInstant(occurrence);
    if (fire.ok()) due.fire_time = *fire;
  }
  due.nominal = absl::ToCivilSecond(due.fire_time, job.timeline().current().zone());
  OpenManual(command, job, due,
             {job.row.job_id, kind.empty() ? 'M' : kind[0],
              occurrence.empty() ? command.command_id : occurrence});
}

void Commands::Cancel(const Command& command) {
  const std::string run_id = Arg(command, "run_id");
  LiveRun* run = s_.FindRun(run_id);
  if (run == nullptr) {
    return Done(command, {{"was_terminal", "true"},
                          {"confirmed", "true"},
                          {"message", "it had ended: nothing to cancel"}});
  }
  s_.run_part->Cancel(*run, command.actor, Arg(command, "reason"), command.command_id);
}

void Commands::Release(const Command& command) {
  const std::string run_id = Arg(command, "run_id");
  LiveRun* run = s_.FindRun(run_id);
  if (run == nullptr) {
    return Refuse(command, absl::StatusCode::kFailedPrecondition,
                  "run " + run_id + " is not live: there is nothing to release");
  }
  if (!s_.run_part->Release(*run, command.actor, Arg(command, "reason"))) {
    return Refuse(
        command, absl::StatusCode::kFailedPrecondition,
        "run " + run_id + " is in no executor's hands: stop it with tidemark run cancel " + run_id);
  }
  Done(command, {{"message", "released: its occurrence is free for another attempt"}});
}

void Commands::DrainExecutor(const Command& command) {
  const std::string executor_id = Arg(command, "executor_id");
  const bool drained = Arg(command, "undo") != "true";
  s_.session_part->Drain(executor_id, drained);
  Done(command, {{"message", drained ? executor_id + " gets nothing new; what runs goes on"
                                     : executor_id + " is used again"}});
}

// ---------------------------------------------------------------- pause, resume, delete

void Commands::Pause(const Command& command, JobState& job) {
  if (job.row.paused) {
    return Done(command, {{"message", job.name() + " is paused already"}});
  }
  job.row.paused = true;
  s_.arm_part->Disarm(job);
  s_.Extra(job).pause = std::make_shared<const JobRow::Pause>(
      JobRow::Pause{s_.now.lo, Arg(command, "reason"), command.actor});
  JobUpdate update;
  update.job_id = job.row.job_id;
  update.paused = true;
  update.pause_reason = Arg(command, "reason");
  update.paused_by = command.actor;
  s_.flush.jobs.push_back(std::move(update));
  s_.check_part->Plan(job);
  Done(command, {{"message", job.name() + " is paused; what runs goes on to its end"}});
}

void Commands::Resume(const Command& command, JobState& job) {
  if (!job.row.paused) return Done(command, {{"message", job.name() + " is not paused"}});
  const bool skip = Arg(command, "skip_missed") == "true";
  if (skip && job.dated()) {
    return dates_.WaiveMissed(command, job, [this, command](JobState& waived) {
      Command plain = command;
      plain.args["skip_missed"] = "false";
      Resume(plain, waived);
    });
  }
  job.row.paused = false;
  s_.Extra(job).pause.reset();
  JobUpdate update;
  update.job_id = job.row.job_id;
  update.paused = false;
  s_.flush.jobs.push_back(std::move(update));
  s_.check_part->Plan(job);
  if (job.error().empty() && !job.timeline().dated()) {
    job.row.cursor = std::max(job.row.cursor.value_or(s_.now.lo), s_.now.lo);
    s_.flush.cursors.push_back({job.row.job_id, *job.row.cursor});
    s_.job_part->AwaitFire(job, s_.now.lo);
    Done(command, {{"message", job.name() + " goes on from now"}});
  } else {
    Done(command, {{"message", job.name() + " goes on; missed dates are caught up"}});
  }
  s_.run_part->AdvanceJob(job);
  s_.gap_part->Evaluate(job, TriggerPoint::kOperator);
}

void Commands::ResetCursor(const Command& command, JobState& job) {
  if (job.timeline().dated() || !job.error().empty()) {
    return Refuse(command, absl::StatusCode::kFailedPrecondition,
                  "job " + job.name() + " has no cursor, or is in error");
  }
  if (job.row.cursor.value_or(s_.now.lo) <= s_.now.lo) {
    return Refuse(command, absl::StatusCode::kFailedPrecondition,
                  "the cursor of " + job.name() + " is not ahead of now (it is at " +
                      FormatInstant(job.row.cursor.value_or(s_.now.lo)) + "): nothing to reset");
  }
  const std::string before = FormatInstant(*job.row.cursor);
  job.row.cursor = s_.now.lo;
  s_.flush.cursors.push_back({job.row.job_id, s_.now.lo, /*reset=*/true});
  s_.flush.audits.push_back({command.actor, "cursor_reset", job.name(), FormatInstant(s_.now.lo),
                             "from " + before + ": " + Arg(command, "reason")});
  s_.job_part->WatchCursor(job);
  s_.arm_part->Disarm(job);
  s_.job_part->AwaitFire(job, s_.now.lo);
  Done(command, {{"message", job.name() + " fires from now on; its cursor was at " + before}});
}

void Commands::Delete(const Command& command, JobState& job) {
  if (!job.runs().empty()) {
    return Refuse(command, absl::StatusCode::kFailedPrecondition,
                  "job " + job.name() + " has live runs, the first is " + *job.runs().begin() +
                      ": let it end, or tidemark run cancel " + *job.runs().begin());
  }
  if (const auto dependents = s_.dependents.find(job.name()); dependents != s_.dependents.end()) {
    std::vector<std::string> names;
    for (const int64_t id : dependents->second) names.push_back(s_.FindJob(id)->name());
    std::sort(names.begin(), names.end());
    return Refuse(command, absl::StatusCode::kFailedPrecondition,
                  "job " + job.name() + " is waited for by " + Join(names, ", ") +
                      ". Take it out of their 'after' first: tidemark job apply -f FILE");
  }
  JobUpdate update;
  update.job_id = job.row.job_id;
  update.deleted = true;
  s_.flush.jobs.push_back(std::move(update));
  s_.backfill_part->CancelAll(job, "the job was deleted");
  alerts::JobGone(s_, job);
  Done(command, {{"message", job.name() + " is deleted; its history is kept"}});
  s_.job_part->Forget(job.row.job_id);
}

}  // namespace tidemark
