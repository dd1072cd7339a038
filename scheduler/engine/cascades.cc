#include "scheduler/engine/cascades.h"

#include <algorithm>

#include "common/time_text.h"
#include "scheduler/engine/command_answers.h"
#include "scheduler/engine/runs.h"

namespace tidemark {
namespace {

constexpr char kTag[] = "cascade ";
constexpr size_t kTagSize = sizeof kTag - 1;
// Who cancels what a cascade no longer reaches.
constexpr char kCanceller[] = "cascade";

}  // namespace

std::string CascadeTag(absl::CivilDay first) { return kTag + FormatDate(first); }

bool IsCascade(const ActiveRun& run) {
  return run.biz_date.has_value() && run.tag.compare(0, kTagSize, kTag) == 0;
}

absl::CivilDay CascadeFirst(const ActiveRun& run) {
  return ParseDate(run.tag.substr(kTagSize)).value_or(*run.biz_date);
}

std::vector<absl::CivilDay> ComputedFrom(const JobState& job, absl::CivilDay date,
                                         const LedgerResult& ledger) {
  std::vector<absl::CivilDay> later;
  if (job.spec().catch_up.order != CatchUpOrder::kStrict) return later;
  for (const LedgerEntry& entry : ledger.entries) {
    if (entry.date > date && entry.status == "DONE") later.push_back(entry.date);
  }
  return later;
}

std::vector<absl::CivilDay> DoneDates(const JobState& job, absl::CivilDay to,
                                      const LedgerResult& ledger) {
  std::vector<absl::CivilDay> dates;
  for (const LedgerEntry& entry : ledger.entries) {
    if (entry.status == "DONE" && entry.date <= to) dates.push_back(entry.date);
  }
  if (dates.empty()) return dates;
  const std::vector<absl::CivilDay> later = ComputedFrom(job, dates.back(), ledger);
  dates.insert(dates.end(), later.begin(), later.end());
  return dates;
}

void OpenCascade(State& state, JobState& job, const Command& command, const std::string& tag,
                 const std::vector<absl::CivilDay>& dates) {
  for (const absl::CivilDay date : dates) {
    const std::optional<Occurrence> due = job.timeline().OccurrenceOf(date);
    const OccurrenceKey key = DateKey(job.row.job_id, date);
    if (!due.has_value() || LiveRunOf(state, job, key) != nullptr) continue;
    RunRequest request;
    request.occurrence = *due;
    request.key = key;
    request.trigger = TriggerType::kManual;
    request.tag = tag;
    request.requested_by = command.actor;
    request.reason = Arg(command, "reason");
    request.rerun_of = Arg(command, "run_id");
    state.run_part->Open(job, request);
  }
}

void Runs::ContinueCascade(const LiveRun& run, JobState& job, RunStatus status) {
  if (run.row.cancel_by == kCanceller) return;  // beyond the end of its cascade
  const bool succeeded = status == RunStatus::kCompleted;
  std::vector<std::string> rest;
  for (const std::string& run_id : job.runs()) {
    const LiveRun* other = s_.FindRun(run_id);
    if (run_id != run.row.run_id && other != nullptr && other->row.tag == run.row.tag &&
        other->phase != RunPhase::kClosing) {
      rest.push_back(run_id);
    }
  }
  if (succeeded && !rest.empty()) return;
  for (const std::string& run_id : rest) {
    LiveRun* other = s_.FindRun(run_id);
    if (other != nullptr) {
      Cancel(*other, kCanceller, FormatDate(*run.row.biz_date) + " did not succeed", "");
    }
  }
  const absl::CivilDay first = CascadeFirst(run.row);
  const absl::CivilDay last = succeeded ? *run.row.biz_date : *run.row.biz_date - 1;
  if (last < first) return;
  s_.flush.cascades.push_back({job.row.job_id, job.name(), first, last,
                               job.name() + " was run again from " + FormatDate(first),
                               run.row.requested_by});
}

}  // namespace tidemark
