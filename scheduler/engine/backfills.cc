#include "scheduler/engine/backfills.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/engine/alerts.h"
#include "scheduler/engine/command_answers.h"
#include "scheduler/engine/gaps.h"

namespace tidemark {
namespace {

constexpr int kMaxParallel = 1000;

std::string RangeText(const Backfill& row) {
  return FormatDate(row.from) + " to " + FormatDate(row.to);
}

// The order's arguments, or INVALID_ARGUMENT.
absl::StatusOr<Backfill> ReadBackfill(const Command& command) {
  Backfill row;
  row.backfill_id = Arg(command, "backfill_id");
  row.job_id = command.job_id;
  TM_ASSIGN_OR_RETURN(row.from, ParseDate(Arg(command, "from")));
  TM_ASSIGN_OR_RETURN(row.to, ParseDate(Arg(command, "to")));
  const std::optional<Reprocess> reprocess = ParseReprocess(Arg(command, "reprocess"));
  if (!reprocess.has_value()) {
    return absl::InvalidArgumentError("reprocess must be missing, failed or all");
  }
  row.reprocess = *reprocess;
  row.reverse = Arg(command, "reverse") == "true";
  const std::string parallel = Arg(command, "parallel");
  std::from_chars(parallel.data(), parallel.data() + parallel.size(), row.parallel);
  row.parallel = std::min(row.parallel, kMaxParallel);
  row.reason = Arg(command, "reason");
  row.actor = command.actor;
  return row;
}

bool Overlap(const Backfill& a, const Backfill& b) { return a.from <= b.to && b.from <= a.to; }

std::string Standing(const DateStanding& standing) {
  const bool none = standing.status.empty() || standing.status == "RUNNING";
  return FormatDate(standing.date) + " is " + (none ? "MISSING" : standing.status);
}

}  // namespace

void Backfills::Take(OpenBackfill backfill) {
  JobState* job = s_.FindJob(backfill.row.job_id);
  if (job != nullptr) s_.Extra(*job).backfills.push_back(std::move(backfill));
}

void Backfills::Write(const Backfill& row) { s_.flush.backfills.push_back({row}); }

OpenBackfill* Backfills::Find(JobState& job, const std::string& backfill_id) const {
  if (job.extra().backfills.empty()) return nullptr;
  std::vector<OpenBackfill>& all = s_.Extra(job).backfills;
  const auto it = std::find_if(all.begin(), all.end(), [&](const OpenBackfill& open) {
    return open.row.backfill_id == backfill_id;
  });
  return it == all.end() ? nullptr : &*it;
}

int Backfills::LiveRuns(const JobState& job, const std::string& backfill_id) const {
  int live = 0;
  for (const std::string& run_id : job.runs()) {
    const LiveRun* run = s_.FindRun(run_id);
    if (run != nullptr && run->row.backfill_id == backfill_id) ++live;
  }
  return live;
}

// ---------------------------------------------------------------- orders

void Backfills::Carry(const Command& command, JobState& job) {
  if (command.kind == "backfill_create") return Create(command, job);
  Move(command, job);
}

std::string Backfills::WhyNot(const JobState& job, const Backfill& backfill) const {
  for (const OpenBackfill& open : job.extra().backfills) {
    if (!Overlap(open.row, backfill)) continue;
    const std::string& id = open.row.backfill_id;
    return "backfill " + id + " (" + RangeText(open.row) + ", " +
           std::string(Name(open.row.state)) +
           ") overlaps it. Follow that one: tidemark backfill "
           "get " +
           id + "; or end it: tidemark backfill cancel " + id;
  }
  return BackfillProblem(backfill, job.spec().catch_up);
}

void Backfills::Create(const Command& command, JobState& job) {
  if (!job.dated()) {
    return AnswerRefused(s_, command, absl::StatusCode::kFailedPrecondition,
                         job.error().empty()
                             ? "job " + job.name() + " is an interval job: it has no dates"
                             : "job " + job.name() + " is in error: " + job.error() +
                                   ". Mend it: tidemark job apply -f FILE");
  }
  absl::StatusOr<Backfill> row = ReadBackfill(command);
  if (!row.ok()) {
    return AnswerRefused(s_, command, absl::StatusCode::kInvalidArgument, Message(row.status()));
  }
  const absl::CivilDay first = s_.gap_part->Launch(job);
  std::vector<absl::CivilDay> dates;
  for (const Occurrence& due : job.timeline().Due(first, s_.now.lo)) {
    if (due.biz_date <= row->to) dates.push_back(due.biz_date);
  }
  if (row->to < row->from || dates.empty() || dates.back() < row->from) {
    return AnswerRefused(
        s_, command, absl::StatusCode::kInvalidArgument,
        "no date from " + RangeText(*row) + " is due: see tidemark watermark list " + job.name());
  }
  s_.gap_part->AskWhenQuiet(
      job, std::move(dates),
      [this, command, row = *std::move(row)](JobState* job, const LedgerResult& ledger) {
        Decide(command, row, job, ledger);
      });
}

void Backfills::Decide(const Command& command, Backfill backfill, JobState* job,
                       const LedgerResult& ledger) {
  if (job == nullptr) {
    return AnswerRefused(s_, command, absl::StatusCode::kNotFound, "the job was deleted meanwhile");
  }
  if (!ledger.status.ok()) {
    return AnswerRefused(s_, command, absl::StatusCode::kUnavailable,
                         "the watermarks could not be read: " + Message(ledger.status));
  }
  if (const std::string why = WhyNot(*job, backfill); !why.empty()) {
    return AnswerRefused(s_, command, absl::StatusCode::kFailedPrecondition, why);
  }
  std::vector<DateStanding> standings;
  for (const LedgerEntry& entry : ledger.entries) {
    const LiveRun* live = LiveRunOf(s_, *job, DateKey(job->row.job_id, entry.date));
    standings.push_back(
        {entry.date, entry.status, entry.reason, live == nullptr ? "" : live->row.run_id});
  }
  const BackfillPlan plan = PlanBackfill(backfill, standings);
  if (plan.dates.empty()) {
    return AnswerRefused(
        s_, command, absl::StatusCode::kFailedPrecondition,
        "nothing to do from " + RangeText(backfill) + ": no date is " +
            (backfill.reprocess == Reprocess::kMissing  ? "MISSING or EXPIRED"
             : backfill.reprocess == Reprocess::kFailed ? "MISSING, EXPIRED or FAILED"
                                                        : "free to be run again") +
            ". See tidemark watermark list " + job->name() +
            "; --reprocess all runs DONE dates again");
  }
  const absl::CivilDay today = absl::ToCivilDay(s_.now.lo, job->timeline().current().zone());
  const absl::CivilDay held_before = today - s_.gap_part->LongestGap(*job) - 1;
  if (job->spec().catch_up.order == CatchUpOrder::kStrict) {
    if (const auto first = InTheWay(plan, standings, held_before)) {
      return AnswerRefused(s_, command, absl::StatusCode::kFailedPrecondition,
                           Standing(*first) +
                               " and must come first (order strict). Take it along: "
                               "--from " +
                               FormatDate(std::min(first->date, backfill.from)) +
                               (first->status == "FAILED" ? " --reprocess failed" : "") +
                               "; or accept it: tidemark watermark waive " + job->name() + " " +
                               FormatDate(first->date) + " --reason WHY");
    }
  }
  backfill.dates = plan.dates;
  backfill.created_at = s_.now.lo;
  Write(backfill);
  const std::string count = std::to_string(backfill.dates.size());
  AnswerDone(s_, command,
             {{"backfill_id", backfill.backfill_id},
              {"dates", count},
              {"message", job->name() + ": " + count + " dates are run again"}});
  s_.Extra(*job).backfills.push_back({std::move(backfill), {}});
  ++job->changes;  // an answer that is on its way does not know it
  s_.gap_part->Evaluate(*job, TriggerPoint::kOperator);
}

void Backfills::Resume(OpenBackfill& backfill) const {
  backfill.row.state = BackfillState::kRunning;
  backfill.row.state_reason.clear();
  backfill.row.resumed_at = s_.now.lo;
  for (auto& [date, tried] : backfill.tried) {
    if (tried == OpenBackfill::Tried::kFailed) tried = OpenBackfill::Tried::kAgain;
  }
}

void Backfills::Move(const Command& command, JobState& job) {
  const std::string id = Arg(command, "backfill_id");
  OpenBackfill* open = Find(job, id);
  if (open == nullptr) {
    return AnswerRefused(s_, command, absl::StatusCode::kFailedPrecondition,
                         "backfill " + id + " has ended: see tidemark backfill get " + id);
  }
  if (command.kind == "backfill_cancel") {
    const std::string words = Arg(command, "reason");
    End(job, *open, BackfillState::kCancelled,
        "by " + command.actor + (words.empty() ? "" : ": " + words));
    return AnswerDone(s_, command, {{"message", "cancelled; what runs goes on to its end"}});
  }
  const bool pause = command.kind == "backfill_pause";
  if (pause == (open->row.state == BackfillState::kPaused)) {
    return AnswerDone(s_, command, {{"message", pause ? "it is paused already" : "it is running"}});
  }
  if (pause) {
    const std::string words = Arg(command, "reason");
    open->row.state = BackfillState::kPaused;
    open->row.state_reason = "by " + command.actor + (words.empty() ? "" : ": " + words);
  } else {
    Resume(*open);
    alerts::BackfillGoesOn(s_, id);
  }
  ++job.changes;
  Write(open->row);
  AnswerDone(
      s_, command,
      {{"message", pause ? "paused; what runs goes on to its end"
                   : job.row.paused
                       ? "it goes on once the job is resumed: tidemark job resume " + job.name()
                       : "it goes on"}});
  s_.gap_part->Evaluate(job, TriggerPoint::kOperator);
}

void Backfills::CancelAll(JobState& job, const std::string& why) {
  const std::vector<OpenBackfill> all = job.extra().backfills;
  for (const OpenBackfill& open : all) End(job, open, BackfillState::kCancelled, why);
}

void Backfills::End(JobState& job, OpenBackfill backfill, BackfillState state,
                    const std::string& why) {
  const std::string id = backfill.row.backfill_id;
  backfill.row.state = state;
  backfill.row.state_reason = why;
  backfill.row.ended_at = s_.now.lo;
  Write(backfill.row);
  alerts::BackfillGoesOn(s_, id);
  if (state != BackfillState::kCancelled) alerts::BackfillFinished(s_, job, backfill);
  std::erase_if(s_.Extra(job).backfills,
                [&](const OpenBackfill& open) { return open.row.backfill_id == id; });
}

// ---------------------------------------------------------------- for the planner

bool Backfills::Running(const JobState& job) const {
  return std::any_of(
      job.extra().backfills.begin(), job.extra().backfills.end(),
      [](const OpenBackfill& open) { return open.row.state == BackfillState::kRunning; });
}

void Backfills::AddDates(const JobState& job, std::vector<absl::CivilDay>& dates) const {
  for (const OpenBackfill& open : job.extra().backfills) {
    if (open.row.state != BackfillState::kRunning) continue;
    dates.insert(dates.end(), open.row.dates.begin(), open.row.dates.end());
  }
}

std::string Backfills::WhoWants(const JobState& job, const LedgerEntry& entry) const {
  for (const OpenBackfill& open : job.extra().backfills) {
    if (open.row.state != BackfillState::kRunning) continue;
    if (StillWanted(open, entry.date, entry.status)) return open.row.backfill_id;
  }
  return "";
}

std::vector<BackfillPace> Backfills::Paces(const JobState& job) const {
  std::vector<BackfillPace> paces;
  for (const OpenBackfill& open : job.extra().backfills) {
    const Backfill& row = open.row;
    if (row.state != BackfillState::kRunning) continue;
    paces.push_back({row.backfill_id, row.reverse, row.parallel, LiveRuns(job, row.backfill_id)});
  }
  return paces;
}

void Backfills::Credit(const JobState& job, RunRequest& request) const {
  for (const OpenBackfill& open : job.extra().backfills) {
    if (open.row.backfill_id != request.backfill_id) continue;
    request.requested_by = open.row.actor;
    request.reason = open.row.reason;
  }
}

void Backfills::EndThoseDone(JobState& job, const CatchUpInput& input) {
  const std::vector<OpenBackfill> all = job.extra().backfills;
  for (const OpenBackfill& open : all) {
    const std::string& id = open.row.backfill_id;
    if (open.row.state != BackfillState::kRunning || LiveRuns(job, id) > 0) continue;
    const auto wanted = [&](const UnsettledDate& date) { return date.backfill == id; };
    const auto live = [&](const UnsettledDate& date) {
      // Someone else's run: what it comes to is seen when it ends.
      return date.live && date.occurrence.biz_date >= open.row.from &&
             date.occurrence.biz_date <= open.row.to &&
             StillWanted(open, date.occurrence.biz_date, "");
    };
    if (std::any_of(input.dates.begin(), input.dates.end(), wanted) ||
        std::any_of(input.redo.begin(), input.redo.end(), wanted) ||
        std::any_of(input.dates.begin(), input.dates.end(), live)) {
      continue;
    }
    std::string why;
    for (const auto& [date, tried] : open.tried) {
      if (tried == OpenBackfill::Tried::kFailed)
        why += (why.empty() ? "" : ", ") + FormatDate(date);
    }
    End(job, open, Ended(open), why.empty() ? "" : "failed: " + why);
  }
}

void Backfills::OnClosing(const ActiveRun& run, RunStatus status, const std::string& why) {
  if (run.backfill_id.empty() || !run.biz_date.has_value()) return;
  JobState* job = s_.FindJob(run.occurrence.job_id);
  OpenBackfill* open = job == nullptr ? nullptr : Find(*job, run.backfill_id);
  if (open == nullptr) return;
  const bool done = status == RunStatus::kCompleted;
  if (!done && open->row.state == BackfillState::kRunning &&
      job->spec().catch_up.order == CatchUpOrder::kStrict) {
    open->row.state = BackfillState::kPaused;
    open->row.state_reason = FormatDate(*run.biz_date) + " did not succeed (" + why + ", run " +
                             run.run_id + "): resume tries it again";
    Write(open->row);
    alerts::BackfillStopped(s_, *job, open->row, *run.biz_date);
  }
  s_.OnCommit([this, run_id = run.run_id, id = run.backfill_id, job_id = run.occurrence.job_id,
               date = *run.biz_date, done](const FlushResult& result) {
    JobState* job = s_.FindJob(job_id);
    OpenBackfill* open = job == nullptr ? nullptr : Find(*job, id);
    if (open == nullptr || !result.closed.contains(run_id)) return;
    open->tried[date] = done ? OpenBackfill::Tried::kDone : OpenBackfill::Tried::kFailed;
  });
}

}  // namespace tidemark
