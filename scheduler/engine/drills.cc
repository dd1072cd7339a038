#include "scheduler/engine/drills.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/engine/command_answers.h"
#include "scheduler/engine/gaps.h"

namespace tidemark {

void Drills::Carry(const Command& command, JobState& job) {
  if (!job.dated() || !job.opens()) {
    const std::string why =
        !job.error().empty() ? "is in error: " + job.error()
        : !job.dated()       ? "is an interval job: it has no dates"
        : job.row.paused
            ? "is paused, nothing would fill the dates: tidemark job resume " + job.name()
            : "is disabled, nothing would fill the dates";
    return AnswerRefused(s_, command, absl::StatusCode::kFailedPrecondition,
                         "job " + job.name() + " " + why);
  }
  const std::string text = Arg(command, "days");
  size_t days = 0;
  std::from_chars(text.data(), text.data() + text.size(), days);
  std::vector<absl::CivilDay> dates;
  for (const Occurrence& due : job.timeline().Due(s_.gap_part->Launch(job), s_.now.lo)) {
    dates.push_back(due.biz_date);
  }
  s_.gap_part->AskWhenQuiet(job, std::move(dates),
                            [this, command, days](JobState* job, const LedgerResult& ledger) {
                              Decide(command, days, job, ledger);
                            });
}

std::string Drills::WhyNot(const JobState& job, const std::vector<const LedgerEntry*>& dates,
                           bool allow_no_fingerprint) const {
  const absl::CivilDay today = absl::ToCivilDay(s_.now.lo, job.timeline().current().zone());
  int days = s_.gap_part->LongestGap(job);
  if (job.spec().catch_up.source_retention_days > 0) {
    days = std::min(days, job.spec().catch_up.source_retention_days);
  }
  for (const LedgerEntry* entry : dates) {
    const std::string date = FormatDate(entry->date);
    if (const LiveRun* live = LiveRunOf(s_, job, DateKey(job.row.job_id, entry->date))) {
      return date + " is live (run " + live->row.run_id + "): wait for its end";
    }
    if (entry->date < today - days) {
      return date + " is older than what catch-up fills by itself (" + std::to_string(days) +
             " days: catch_up.max_backfill_days, source_retention_days): drill fewer days";
    }
    if (!entry->fingerprint && !allow_no_fingerprint) {
      return "the run of " + date + " reported neither rows nor a digest, so nothing could be " +
             "compared. Have the handler report one, or accept it: --allow-no-fingerprint";
    }
  }
  return "";
}

void Drills::Decide(const Command& command, size_t days, JobState* job,
                    const LedgerResult& ledger) {
  if (job == nullptr || !ledger.status.ok()) {
    return AnswerRefused(
        s_, command, job == nullptr ? absl::StatusCode::kNotFound : absl::StatusCode::kUnavailable,
        job == nullptr ? "the job was deleted meanwhile" : Message(ledger.status));
  }
  std::vector<const LedgerEntry*> last;  // newest first
  for (auto it = ledger.entries.rbegin(); it != ledger.entries.rend() && last.size() < days; ++it) {
    if (it->status == "DONE") last.push_back(&*it);
  }
  if (last.size() < days || !job->opens()) {
    return AnswerRefused(s_, command, absl::StatusCode::kFailedPrecondition,
                         "job " + job->name() + " has " + std::to_string(last.size()) +
                             " DONE dates, not " + std::to_string(days) +
                             ": see tidemark watermark list " + job->name());
  }
  const std::string why = WhyNot(*job, last, Arg(command, "allow_no_fingerprint") == "true");
  if (!why.empty()) {
    return AnswerRefused(s_, command, absl::StatusCode::kFailedPrecondition, why);
  }
  DrillWrite drill{Arg(command, "drill_id"), job->row.job_id, command.actor, {}, s_.now.lo};
  std::vector<std::string> texts;
  for (auto it = last.rbegin(); it != last.rend(); ++it) {
    drill.dates.push_back((*it)->date);
    texts.push_back(FormatDate((*it)->date));
  }
  s_.flush.drills.push_back(std::move(drill));
  s_.flush.audits.push_back({command.actor, "drill_started", job->name(), Arg(command, "drill_id"),
                             "DONE → MISSING: " + Join(texts, ", ") +
                                 (Arg(command, "reason").empty() ? "" : ": ") +
                                 Arg(command, "reason")});
  s_.gap_part->WriteUnderWay(*job);
  job->late = true;  // the scan is a trigger point, too
  AnswerDone(s_, command, {{"drill_id", Arg(command, "drill_id")}, {"dates", Join(texts, ",")}});
  if (Arg(command, "now") == "true") s_.gap_part->Evaluate(*job, TriggerPoint::kOperator);
}

}  // namespace tidemark
