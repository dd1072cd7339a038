#include "scheduler/store/run_log_rows.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "common/status.h"
#include "common/text.h"
#include "scheduler/store/array.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

// One array a column.
class RowArrays {
 public:
  void Add(const RunLogKey& key, uint64_t start, std::string_view data, bool ended) {
    times_.Add(ToParam(RunLogTime(key.attempt.run_id)));
    run_ids_.Add(key.attempt.run_id);
    attempts_.Add(ToParam(key.attempt.attempt));
    starts_.Add(ToParam(static_cast<int64_t>(start)));
    data_.Add("\\x" + ToStd(absl::BytesToHexString(ToAbsl(data))));
    ended_.Add(ToParam(ended));
    empty_ = false;
  }
  bool empty() const { return empty_; }
  std::vector<SqlParam> Take() && {
    return {std::move(times_).Take(),  std::move(run_ids_).Take(), std::move(attempts_).Take(),
            std::move(starts_).Take(), std::move(data_).Take(),    std::move(ended_).Take()};
  }

 private:
  SqlArray times_, run_ids_, attempts_, starts_, data_, ended_;
  bool empty_ = true;
};

// The attempts of `keys` as three arrays: run ids, numbers, times.
std::vector<SqlParam> KeyArrays(const std::vector<RunLogKey>& keys) {
  SqlArray run_ids, attempts, times;
  for (const RunLogKey& key : keys) {
    run_ids.Add(key.attempt.run_id);
    attempts.Add(ToParam(key.attempt.attempt));
    times.Add(ToParam(RunLogTime(key.attempt.run_id)));
  }
  return {std::move(run_ids).Take(), std::move(attempts).Take(), std::move(times).Take()};
}

// Adds the rows of what is new in `pending`; `stored` is then what the table has.
void AddRows(const RunLogKey& key, const PendingRunLog& pending, StoredRunLog* stored,
             RowArrays* rows) {
  if (stored->ended) return;
  uint64_t kept = 0;
  for (const RunLogPiece& piece : pending.pieces) {
    kept = piece.end();
    if (kept <= stored->reached) continue;
    const uint64_t skipped = std::max(piece.start, stored->reached) - piece.start;
    rows->Add(key, piece.start + skipped, std::string_view(piece.data).substr(skipped), false);
  }
  const uint64_t reached = std::max(stored->reached, pending.reached);
  const bool was_marked = stored->marked && reached == stored->reached;
  stored->marked = was_marked || reached > std::max(stored->reached, kept);
  stored->reached = reached;
  stored->ended = pending.ended;
  if (stored->marked || stored->ended) rows->Add(key, reached, "", stored->ended);
}

}  // namespace

absl::Time RunLogTime(std::string_view run_id) {
  int64_t millis = 0;
  for (const char c : run_id.substr(0, 13)) {  // 12 digits of the time and a dash
    if (c == '-') continue;
    millis = millis * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return absl::FromUnixMillis(millis);
}

absl::Status LoadRunLogs(SqlTransaction& transaction, const std::set<RunLogKey>& keys,
                         StoredRunLogs* known) {
  if (keys.empty()) return absl::OkStatus();
  const std::vector<RunLogKey> asked(keys.begin(), keys.end());
  TM_ASSIGN_OR_RETURN(const SqlRows rows, transaction.Run(sql::kFindRunLogs, KeyArrays(asked)));
  for (int i = 0; i < rows.size(); ++i) {
    const RunLogKey& key = asked[static_cast<size_t>(rows.Int(i, 0)) - 1];
    if (rows.Text(i, 1) != key.executor_id || rows.Int(i, 2) != key.registration) continue;
    (*known)[key] = {static_cast<uint64_t>(rows.Int(i, 3)), rows.Bool(i, 4), rows.Bool(i, 5)};
  }
  return absl::OkStatus();
}

absl::Status WriteRunLogs(SqlTransaction& transaction, const RunLogBacklog::Batch& batch,
                          StoredRunLogs* known) {
  RowArrays rows;
  std::vector<RunLogKey> unmark;
  for (const auto& [key, pending] : batch) {
    const auto found = known->find(key);
    if (found == known->end()) continue;
    // Bytes may now come where the mark is, or the mark moves on.
    if (found->second.marked && !found->second.ended) unmark.push_back(key);
    AddRows(key, pending, &found->second, &rows);
  }
  if (!unmark.empty()) {
    TM_RETURN_IF_ERROR(transaction.Run(sql::kUnmarkRunLogs, KeyArrays(unmark)).status());
  }
  if (rows.empty()) return absl::OkStatus();
  return transaction.Run(sql::kAddRunLogs, std::move(rows).Take()).status();
}

}  // namespace tidemark
