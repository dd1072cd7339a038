#include "scheduler/engine/date_orders.h"

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

// What an order is about.
struct DateOrders::Range {
  std::vector<absl::CivilDay> dates;  // due, ascending, never empty
  bool one = false;                   // a date was named, not a range
};

namespace {

// What a date is to become, or why it stays as it is.
struct DateVerdict {
  std::optional<std::string> status;  // "" no row; unset: it stays
  bool wanted = false;                // it stays, because it is what was asked for
};

bool Forced(const LedgerEntry& entry) {
  return entry.status == "DONE" && entry.reason == kForcedDone;
}

DateVerdict Judge(const std::string& kind, const LedgerEntry& entry) {
  const bool settled = entry.status == "DONE" || entry.status == "WAIVED";
  if (kind == "waive") {
    if (settled) return {std::nullopt, entry.status == "WAIVED"};
    return {"WAIVED"};
  }
  if (kind == "force_done") {
    if (settled) return {std::nullopt, entry.status == "DONE"};
    return {"DONE"};
  }
  if (entry.status == "WAIVED" || Forced(entry)) return {""};
  return {std::nullopt, entry.status.empty() || entry.status == "RUNNING"};
}

std::string Shown(const LedgerEntry& entry) {
  // RUNNING without a live run is no verdict.
  if (entry.status.empty() || entry.status == "RUNNING") return "MISSING";
  return entry.status + (entry.reason.empty() ? "" : " (" + entry.reason + ")");
}

// Why a single date cannot be changed so, with the command that was probably meant.
std::string Refusal(const std::string& kind, const std::string& job, const LedgerEntry& entry) {
  const std::string date = FormatDate(entry.date);
  const std::string what = job + " " + date + " is " + Shown(entry);
  if (kind == "waive") return what + ": there is nothing to waive";
  if (kind == "force_done") {
    return what + ". To have it counted as done: tidemark watermark unwaive " + job + " " + date +
           ", then tidemark watermark force-done " + job + " " + date;
  }
  if (entry.status == "DONE") {
    return what + " by a run, not by a person's word. To run it again: tidemark run rerun " +
           (entry.run_id.empty() ? "RUN_ID" : entry.run_id) + " --force";
  }
  return what + ", not WAIVED. To run it: tidemark job trigger " + job + " --biz-date " + date;
}

const char* Did(const std::string& kind) {
  return kind == "waive"        ? "waived"
         : kind == "force_done" ? "counted as done"
                                : "taken back, due again";
}

}  // namespace

std::string DateOrders::ReadRange(const Command& command, JobState& job, Range& range) {
  const std::string one = Arg(command, "date");
  range.one = !one.empty();
  const absl::StatusOr<absl::CivilDay> from = ParseDate(range.one ? one : Arg(command, "from"));
  const absl::StatusOr<absl::CivilDay> to = ParseDate(range.one ? one : Arg(command, "to"));
  if (!from.ok()) return Message(from.status());
  if (!to.ok()) return Message(to.status());
  const absl::CivilDay first = s_.gap_part->Launch(job);
  if (range.one) {
    const std::string why = WhyNotDue(s_, job, first, *from);
    if (!why.empty()) return "date " + FormatDate(*from) + " " + why;
    range.dates = {*from};
    return "";
  }
  for (const Occurrence& due : job.timeline().Due(std::max(first, *from), s_.now.lo)) {
    if (due.biz_date <= *to) range.dates.push_back(due.biz_date);
  }
  const std::optional<Occurrence> next = job.timeline().Next(s_.now.lo);
  if (next.has_value() && next->biz_date >= *from && next->biz_date <= *to) {
    return "date " + FormatDate(next->biz_date) + " " + WhyNotDue(s_, job, first, next->biz_date) +
           ", end the range before it";
  }
  if (!range.dates.empty()) return "";
  return "no date from " + FormatDate(*from) + " to " + FormatDate(*to) + " is due";
}

std::string DateOrders::WhyLive(const JobState& job,
                                const std::vector<absl::CivilDay>& dates) const {
  for (const absl::CivilDay date : dates) {
    const LiveRun* live = LiveRunOf(s_, job, DateKey(job.row.job_id, date));
    if (live == nullptr) continue;
    const std::string& run_id = live->row.run_id;
    const std::string what = job.name() + " " + FormatDate(date) + " is live (run " + run_id + ")";
    if (!live->row.held) return what + ". Stop it first: tidemark run cancel " + run_id;
    return what + " and held: it may still be running in " + live->row.executor_id +
           ". Once you know that it is not: tidemark run release " + run_id;
  }
  return "";
}

void DateOrders::Carry(const Command& command, JobState& job) {
  if (!job.dated()) {
    return AnswerRefused(s_, command, absl::StatusCode::kFailedPrecondition,
                         job.error().empty()
                             ? "job " + job.name() + " is an interval job: it has no dates"
                             : "job " + job.name() + " is in error: " + job.error() +
                                   ". Mend it: tidemark job apply -f FILE");
  }
  if (command.kind != "unwaive" && Arg(command, "reason").empty()) {
    return AnswerRefused(s_, command, absl::StatusCode::kInvalidArgument,
                         "it needs a reason: --reason \"why\"");
  }
  Range range;
  if (const std::string problem = ReadRange(command, job, range); !problem.empty()) {
    return AnswerRefused(s_, command, absl::StatusCode::kInvalidArgument,
                         problem + ": see tidemark watermark list " + job.name());
  }
  if (const std::string why = WhyLive(job, range.dates); !why.empty()) {
    return AnswerRefused(s_, command, absl::StatusCode::kFailedPrecondition, why);
  }
  std::vector<absl::CivilDay> dates = range.dates;
  s_.gap_part->AskWhenQuiet(job, std::move(dates),
                            [this, command, range](JobState* job, const LedgerResult& ledger) {
                              Decide(command, range, job, ledger);
                            });
}

void DateOrders::Decide(const Command& command, const Range& range, JobState* job,
                        const LedgerResult& ledger) {
  if (job == nullptr) {
    return AnswerRefused(s_, command, absl::StatusCode::kNotFound, "the job was deleted meanwhile");
  }
  if (!ledger.status.ok()) {
    return AnswerRefused(s_, command, absl::StatusCode::kUnavailable,
                         "the watermarks could not be read: " + Message(ledger.status));
  }
  if (const std::string why = WhyLive(*job, range.dates); !why.empty()) {
    return AnswerRefused(s_, command, absl::StatusCode::kFailedPrecondition, why);
  }
  std::vector<std::string> changed;
  std::vector<std::string> skipped;
  for (const LedgerEntry& entry : ledger.entries) {
    const DateVerdict verdict = Judge(command.kind, entry);
    if (verdict.status.has_value()) {
      Change(*job, entry, *verdict.status, command.actor, Arg(command, "reason"), command.kind);
      changed.push_back(FormatDate(entry.date));
      continue;
    }
    if (range.one && !verdict.wanted) {
      return AnswerRefused(s_, command, absl::StatusCode::kFailedPrecondition,
                           Refusal(command.kind, job->name(), entry));
    }
    skipped.push_back(FormatDate(entry.date) + " " + Shown(entry));
  }
  std::string message = job->name() + ": ";
  message += changed.empty() ? "nothing to do" : Join(changed, ", ") + " " + Did(command.kind);
  if (!skipped.empty()) message += "; left as they are: " + Join(skipped, ", ");
  AnswerDone(
      s_, command,
      {{"message", message}, {"dates", Join(changed, ",")}, {"skipped", Join(skipped, ",")}});
  if (changed.empty()) return;
  s_.gap_part->WriteUnderWay(*job);
  s_.gap_part->Evaluate(*job, TriggerPoint::kOperator);
}

void DateOrders::Change(JobState& job, const LedgerEntry& entry, const std::string& status,
                        const std::string& actor, const std::string& words,
                        const std::string& action) {
  WatermarkWrite write;
  write.job_id = job.row.job_id;
  write.job_name = job.name();
  write.date = entry.date;
  write.status = status;
  if (status == "DONE") write.reason = kForcedDone;
  write.note = words;
  write.actor = actor;
  write.only_if_unsettled = false;  // what stands there is known
  s_.flush.watermarks.push_back(std::move(write));
  if (!status.empty()) alerts::DateSettled(s_, job, entry.date);
  Audit audit;
  audit.actor = actor;
  audit.action = "date_" + action;
  audit.job_name = job.name();
  audit.subject = FormatDate(entry.date);
  audit.detail = Shown(entry) + (entry.run_id.empty() ? "" : " of run " + entry.run_id) + " → " +
                 (status.empty() ? "MISSING" : status) + (words.empty() ? "" : ": " + words);
  s_.flush.audits.push_back(std::move(audit));
}

void DateOrders::WaiveMissed(const Command& command, JobState& job,
                             std::function<void(JobState&)> then) {
  std::vector<absl::CivilDay> dates;
  for (const Occurrence& due : job.timeline().Due(s_.gap_part->Launch(job), s_.now.lo)) {
    dates.push_back(due.biz_date);
  }
  s_.gap_part->AskWhenQuiet(
      job, std::move(dates),
      [this, command, then = std::move(then)](JobState* job, const LedgerResult& ledger) {
        if (job == nullptr || !ledger.status.ok()) {
          return AnswerRefused(
              s_, command,
              job == nullptr ? absl::StatusCode::kNotFound : absl::StatusCode::kUnavailable,
              job == nullptr ? "the job was deleted meanwhile" : Message(ledger.status));
        }
        bool any = false;
        for (const LedgerEntry& entry : ledger.entries) {
          if (IsSettled(entry.status, entry.reason) ||
              LiveRunOf(s_, *job, DateKey(job->row.job_id, entry.date)) != nullptr) {
            continue;
          }
          any = true;
          Change(*job, entry, "WAIVED", command.actor, "skipped when the job was resumed", "waive");
        }
        if (any) s_.gap_part->WriteUnderWay(*job);
        then(*job);
      });
}

}  // namespace tidemark
