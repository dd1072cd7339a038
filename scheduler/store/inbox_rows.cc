#include "scheduler/store/inbox_rows.h"

#include <utility>

#include "common/status.h"
#include "scheduler/store/batch.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

// Of a word that no version knows: the handler is not said to have succeeded.
Outcome ParseOutcome(std::string_view word) {
  for (const Outcome outcome :
       {Outcome::kSucceeded, Outcome::kFailedRetryable, Outcome::kFailedPermanent,
        Outcome::kStopped, Outcome::kDrained, Outcome::kRefused, Outcome::kLost}) {
    if (word == Name(outcome)) return outcome;
  }
  return Outcome::kFailedRetryable;
}

InboxItem ReadItem(const SqlRows& rows, int i) {
  InboxItem item;
  item.attempt = {rows.Text(i, 0), static_cast<int>(rows.Int(i, 1))};
  item.registration = rows.Int(i, 3);
  item.refused = rows.Text(i, 4);
  item.result.outcome = ParseOutcome(rows.View(i, 5));
  item.result.message = rows.Text(i, 6);
  item.result.result = rows.Text(i, 7);
  item.result.result_rows = rows.OptInt(i, 8);
  item.result.result_digest = rows.Text(i, 9);
  item.result.checkpoint = rows.Text(i, 10);
  return item;
}

using AttemptKey = std::pair<std::string_view, int>;

absl::Status AddItems(SqlTransaction& transaction, const std::vector<InboxWrite>& list) {
  const auto key = [](const InboxWrite& w) {
    return AttemptKey(w.item.attempt.run_id, w.item.attempt.attempt);
  };
  for (const auto& writes : UniqueBatches(list, key)) {
    Batch batch(12);
    for (const InboxWrite* w : writes) {
      const AttemptResult& result = w->item.result;
      batch.Add(Exact(w->item.attempt.run_id)).Put(w->item.attempt.attempt);
      batch.Put(w->item.registration).Add(Word(w->item.refused));
      batch.Add(std::string(Name(result.outcome))).Add(Message4k(result.message));
      batch.Add(Body(result.result)).Put(result.result_rows);
      batch.Add(CleanText(result.result_digest, kDigestLimit)).Add(Body(result.checkpoint));
      batch.Add(Exact(w->app)).Add(Exact(w->ns));
    }
    TM_RETURN_IF_ERROR(transaction.Run(sql::kAddInbox, std::move(batch).Take()).status());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteInbox(SqlTransaction& transaction, const Flush& flush,
                        const std::set<int64_t>& left_out) {
  if (!flush.inbox.empty()) TM_RETURN_IF_ERROR(AddItems(transaction, flush.inbox));
  if (flush.inbox_taken.empty()) return absl::OkStatus();
  Batch taken(2);
  for (const AttemptRef& attempt : flush.inbox_taken) {
    taken.Add(Exact(attempt.run_id)).Put(attempt.attempt);
  }
  std::vector<SqlParam> params = std::move(taken).Take();
  SqlArray jobs;
  for (const int64_t job_id : left_out) jobs.Add(ToParam(job_id));
  params.emplace_back(std::move(jobs).Take());
  return transaction.Run(sql::kTakeInbox, params).status();
}

absl::StatusOr<std::vector<InboxItem>> InboxReader::Read(SqlTransaction& transaction,
                                                         const std::string& shards) {
  Batch known(3);
  for (const auto& [run_id, attempt, received_at] : known_) {
    known.Add(run_id).Put(attempt).Add(received_at);
  }
  std::vector<SqlParam> params = std::move(known).Take();
  params.emplace(params.begin(), shards);
  params.push_back(ToParam(kMostAtOnce));
  TM_ASSIGN_OR_RETURN(const SqlRows rows, transaction.Run(sql::kOpenInbox, params));
  std::vector<InboxItem> items;
  std::set<Key> still;
  read_.clear();
  for (int i = 0; i < rows.size(); ++i) {
    Key key{rows.Text(i, 0), static_cast<int>(rows.Int(i, 1)), rows.Text(i, 2)};
    if (rows.Bool(i, 11)) {
      still.insert(std::move(key));
      continue;
    }
    items.push_back(ReadItem(rows, i));
    read_.insert(std::move(key));
  }
  known_ = std::move(still);
  return items;
}

void InboxReader::Delivered() { known_.merge(read_); }

}  // namespace tidemark
