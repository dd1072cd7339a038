#include "executor/src/reports.h"

#include <algorithm>
#include <utility>

#include "common/text.h"

namespace tidemark::exec {
namespace {

v1::RunReport Base(const AttemptKey& key, int64_t registration) {
  v1::RunReport report;
  SetRef(key, report.mutable_attempt());
  report.set_registration(registration);
  return report;
}

void SetTime(absl::Time time, google::protobuf::Timestamp* out) {
  const timespec spec = absl::ToTimespec(time);
  out->set_seconds(spec.tv_sec);
  out->set_nanos(static_cast<int32_t>(spec.tv_nsec));
}

}  // namespace

bool CheckpointFits(std::string_view checkpoint) {
  return checkpoint.size() <= kMaxCheckpoint && IsCleanUtf8(checkpoint);
}

v1::RunReport AcceptedReport(const AttemptKey& key, int64_t registration) {
  v1::RunReport report = Base(key, registration);
  report.mutable_accepted();
  return report;
}

v1::RunReport StartedReport(const AttemptKey& key, int64_t registration, absl::Time at) {
  v1::RunReport report = Base(key, registration);
  SetTime(at, report.mutable_started()->mutable_at());
  return report;
}

v1::RunReport RefusedReport(const AttemptKey& key, int64_t registration, v1::Refused::Reason reason,
                            std::string_view message) {
  v1::RunReport report = Base(key, registration);
  report.mutable_refused()->set_reason(reason);
  report.mutable_refused()->set_message(CleanText(message, kMaxRefusal));
  return report;
}

v1::RunReport ProgressReport(const AttemptKey& key, int64_t registration,
                             const ProgressUpdate& progress) {
  v1::RunReport report = Base(key, registration);
  v1::Progress* out = report.mutable_progress();
  // Also catches NaN, which compares false with everything.
  out->set_percent(progress.percent >= 0 ? std::min(progress.percent, 100.0) : -1.0);
  if (CheckpointFits(progress.checkpoint)) out->set_checkpoint(progress.checkpoint);
  out->set_message(CleanText(progress.message, kMaxProgressMessage));
  return report;
}

v1::RunReport LogReport(const AttemptKey& key, int64_t registration, uint64_t offset,
                        std::string data, bool end) {
  v1::RunReport report = Base(key, registration);
  report.mutable_log()->set_offset(offset);
  report.mutable_log()->set_data(std::move(data));
  report.mutable_log()->set_end(end);
  return report;
}

v1::RunReport FinishedReport(const AttemptKey& key, int64_t registration,
                             const FinishedParts& parts) {
  v1::RunReport report = Base(key, registration);
  v1::Finished* out = report.mutable_finished();
  out->set_outcome(parts.outcome);
  out->set_message(CleanText(parts.message, kMaxFinishMessage));
  out->set_result(CleanText(parts.result->result, kMaxResult));
  if (parts.result->rows) out->set_result_rows(*parts.result->rows);
  out->set_result_digest(CleanText(parts.result->digest, kMaxDigest));
  if (CheckpointFits(parts.checkpoint)) out->set_checkpoint(parts.checkpoint);
  SetTime(parts.started_at, out->mutable_started_at());
  SetTime(parts.finished_at, out->mutable_finished_at());
  return report;
}

}  // namespace tidemark::exec
