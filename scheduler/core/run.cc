#include "scheduler/core/run.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace tidemark {
namespace {

constexpr std::pair<TriggerType, std::string_view> kTriggerNames[] = {
    {TriggerType::kSchedule, "SCHEDULE"},
    {TriggerType::kCatchUp, "CATCH_UP"},
    {TriggerType::kBackfill, "BACKFILL"},
    {TriggerType::kManual, "MANUAL"}};

constexpr std::pair<RunStatus, std::string_view> kStatusNames[] = {
    {RunStatus::kPending, "PENDING"},     {RunStatus::kRunning, "RUNNING"},
    {RunStatus::kCompleted, "COMPLETED"}, {RunStatus::kFailed, "FAILED"},
    {RunStatus::kCancelled, "CANCELLED"}, {RunStatus::kSkipped, "SKIPPED"}};

constexpr std::pair<Outcome, std::string_view> kOutcomeNames[] = {
    {Outcome::kSucceeded, "SUCCEEDED"},
    {Outcome::kFailedRetryable, "FAILED_RETRYABLE"},
    {Outcome::kFailedPermanent, "FAILED_PERMANENT"},
    {Outcome::kStopped, "STOPPED"},
    {Outcome::kDrained, "DRAINED"},
    {Outcome::kRefused, "REFUSED"},
    {Outcome::kLost, "LOST"}};

template <typename Table, typename Enum>
std::string_view NameIn(const Table& table, Enum value) {
  for (const auto& [entry, name] : table) {
    if (entry == value) return name;
  }
  return "";
}

template <typename Enum, typename Table>
std::optional<Enum> ValueIn(const Table& table, std::string_view name) {
  for (const auto& [entry, entry_name] : table) {
    if (entry_name == name) return entry;
  }
  return std::nullopt;
}

std::string DateText(absl::CivilDay day) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%04d-%02d-%02d", static_cast<int>(day.year()), day.month(),
                day.day());
  return buffer;
}

Verdict Close(Verdict verdict, RunStatus status, std::string reason) {
  verdict.kind = Verdict::Kind::kClose;
  verdict.status = status;
  verdict.reason = std::move(reason);
  return verdict;
}

absl::Duration BackoffAfter(int failed_attempts, const RetryRule& retry, double unit) {
  if (retry.backoff.empty()) return absl::ZeroDuration();
  const size_t index =
      std::min(static_cast<size_t>(std::max(failed_attempts - 1, 0)), retry.backoff.size() - 1);
  return retry.backoff[index] * (1.0 + retry.jitter * (2 * unit - 1));
}

}  // namespace

std::string_view Name(TriggerType type) { return NameIn(kTriggerNames, type); }
std::string_view Name(RunStatus status) { return NameIn(kStatusNames, status); }
std::string_view Name(Outcome outcome) { return NameIn(kOutcomeNames, outcome); }

std::optional<TriggerType> ParseTriggerType(std::string_view name) {
  return ValueIn<TriggerType>(kTriggerNames, name);
}
std::optional<RunStatus> ParseRunStatus(std::string_view name) {
  return ValueIn<RunStatus>(kStatusNames, name);
}

OccurrenceKey DateKey(int64_t job_id, absl::CivilDay biz_date) {
  return {job_id, 'D', DateText(biz_date)};
}

OccurrenceKey FireKey(int64_t job_id, absl::Time fire_time) {
  const absl::CivilSecond utc = absl::ToCivilSecond(fire_time, absl::UTCTimeZone());
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "T%02d:%02d:%02dZ", utc.hour(), utc.minute(), utc.second());
  return {job_id, 'F', DateText(absl::CivilDay(utc)) + buffer};
}

OccurrenceKey ManualKey(int64_t job_id, std::string request_id) {
  return {job_id, 'M', std::move(request_id)};
}

bool Released(const AttemptFacts& facts) {
  return !facts.sent || facts.refused || facts.ended || facts.process_gone || facts.forced ||
         (facts.lost_after_over && facts.on_lost == OnLost::kRetry);
}

Verdict Judge(const ActiveRun& run, Outcome outcome, bool timed_out, const RetryRule& retry,
              double unit) {
  Verdict verdict;
  verdict.failed_attempts = run.failed_attempts;
  verdict.lost_attempts = run.lost_attempts;
  if (outcome == Outcome::kSucceeded) return Close(verdict, RunStatus::kCompleted, "");

  const bool lost = outcome == Outcome::kLost || outcome == Outcome::kDrained ||
                    (outcome == Outcome::kStopped && !timed_out);
  if (lost) ++verdict.lost_attempts;
  if (!lost && outcome != Outcome::kRefused) ++verdict.failed_attempts;

  if (!run.cancel_by.empty()) return Close(verdict, RunStatus::kCancelled, "cancelled");
  if (outcome == Outcome::kFailedPermanent) return Close(verdict, RunStatus::kFailed, "permanent");
  if (outcome == Outcome::kRefused) {
    verdict.kind = Verdict::Kind::kReassign;
    return verdict;
  }
  if (lost) {
    if (verdict.lost_attempts >= retry.max_lost) return Close(verdict, RunStatus::kFailed, "lost");
    verdict.kind = Verdict::Kind::kReassign;
    return verdict;
  }
  if (verdict.failed_attempts >= retry.max_attempts) {
    return Close(verdict, RunStatus::kFailed, timed_out ? "timeout" : "retries");
  }
  verdict.kind = Verdict::Kind::kRetry;
  verdict.delay = BackoffAfter(verdict.failed_attempts, retry, unit);
  return verdict;
}

}  // namespace tidemark
