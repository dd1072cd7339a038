#include "scheduler/rpc/operator_logs.h"

#include <algorithm>
#include <limits>
#include <string>

#include "common/id.h"
#include "common/status.h"
#include "common/text.h"
#include "scheduler/engine/run_log.h"

namespace tidemark {
namespace {

constexpr uint32_t kDefaultLimit = 256 * 1024;
constexpr uint32_t kMaxLimit = 1024 * 1024;

absl::Status Problem(const v1::ReadRunLogRequest& request) {
  if (!IsUuid(request.run_id())) {
    return absl::InvalidArgumentError(
        ToAbsl("run_id '" + CleanText(request.run_id(), 64) + "' is not a run's id"));
  }
  if (request.attempt() > static_cast<uint32_t>(std::numeric_limits<int>::max())) {
    return absl::InvalidArgumentError("attempt is not a number of an attempt");
  }
  if (request.offset() > uint64_t{1} << 62) {
    return absl::InvalidArgumentError("offset is beyond the end of any log");
  }
  return absl::OkStatus();
}

// Bytes without a gap from `offset` on, but for one before the first. Returns where they begin.
uint64_t Collect(const OperatorRunLog& log, uint64_t offset, size_t limit, std::string* data) {
  uint64_t begin = offset;
  for (const OperatorRunLog::Piece& piece : log.pieces) {
    const uint64_t at = begin + data->size();
    if (data->size() >= limit) break;
    if (piece.start > at) {
      if (!data->empty()) break;
      begin = piece.start;
    }
    const uint64_t skipped = begin + data->size() - piece.start;
    if (skipped >= piece.data.size()) continue;
    data->append(piece.data, skipped, limit - data->size());
  }
  return begin;
}

void Fill(const OperatorRunLog& log, uint64_t offset, size_t limit,
          v1::ReadRunLogResponse* response) {
  uint64_t begin = Collect(log, offset, limit, response->mutable_data());
  const bool final = log.over && (log.ended || log.settled);
  // Of a log that grows, what is missing at its end may still come.
  if (response->data().empty()) begin = final ? std::max(offset, log.reached) : offset;
  response->set_missing_bytes(begin - offset);
  response->set_cut_bytes(begin - std::min(begin, std::max(offset, kRunLogLimit)));
  response->set_next_offset(begin + response->data().size());
  response->set_complete(final && response->next_offset() >= log.reached);
  response->set_attempt(static_cast<uint32_t>(log.attempt));
  response->set_last_attempt(static_cast<uint32_t>(log.last_attempt));
  response->set_run_ended(log.run_ended);
}

}  // namespace

absl::Status OperatorLogs::Read(const v1::ReadRunLogRequest& request,
                                v1::ReadRunLogResponse* response) {
  TM_RETURN_IF_ERROR(Problem(request));
  const size_t limit = std::min(request.limit() == 0 ? kDefaultLimit : request.limit(), kMaxLimit);
  TM_ASSIGN_OR_RETURN(const std::optional<OperatorRunLog> log,
                      store_.ReadRunLog(request.run_id(), static_cast<int>(request.attempt()),
                                        request.offset(), limit));
  if (!log.has_value()) {
    return absl::NotFoundError(
        ToAbsl("there is no run " + request.run_id() + "; tidemark run list shows what is"));
  }
  // The next attempt may be asked for before it begins.
  const bool may_come = !log->run_ended && log->attempt == log->last_attempt + 1;
  if (may_come || log->last_attempt == 0) {
    response->set_next_offset(request.offset());
    response->set_last_attempt(static_cast<uint32_t>(log->last_attempt));
    response->set_complete(log->run_ended);
    response->set_run_ended(log->run_ended);
    return absl::OkStatus();
  }
  if (log->attempt > log->last_attempt) {
    return absl::NotFoundError(ToAbsl("run " + request.run_id() + " has no attempt " +
                                      std::to_string(log->attempt) + " (yet); tidemark run get " +
                                      request.run_id() + " shows its attempts"));
  }
  Fill(*log, request.offset(), limit, response);
  return absl::OkStatus();
}

}  // namespace tidemark
