// Flushes and reads of a simulated node: as BatchWriter and LedgerReader carry them out. A flush is
// a transaction that begins, gets its COMMIT, and ends, each at a moment of its own; the client may
// be dead, suspended or cut off at any of them.
#include <algorithm>
#include <utility>

#include "tests/sim/sim_node.h"

namespace tidemark::sim {
namespace {

constexpr absl::Duration kIdleInTransaction = absl::Seconds(8);
constexpr absl::Duration kCommit = absl::Milliseconds(40);
constexpr absl::Duration kSlowCommit = absl::Seconds(15);
constexpr absl::Duration kSlowRead = absl::Seconds(30);
constexpr absl::Duration kRetry = absl::Milliseconds(50);

}  // namespace

void SimNode::Submit(Flush flush) {
  const TermPointer t = term_;
  if (t == nullptr || t->info.term != loop_term_) return;  // dropped: the term is over
  t->flushes.push_back(std::move(flush));
  if (t->flushes.size() == 1) Attempt(t);
}

void SimNode::Attempt(const TermPointer& t) {
  if (!Current(t)) return;
  if (t->term->Over()) return Finish(t);
  const ServerPointer server = Connect();
  if (server == nullptr) return Later(kRetry, [this, t] { Attempt(t); });
  auto tx = std::make_shared<Transaction>();
  tx->server = server;
  tx->flush = t->flushes.front();
  tx->connection = connection_;
  tx->process = process_;
  t->open = tx;
  // Bytes that were sent arrive, unless their connection broke.
  queue_.After(Trip(), [this, t, tx] {
    if (!tx->server->up || (tx->connection != connection_ && random_.Uniform() < 0.5)) return;
    // One that a broken connection left open holds the flush row.
    tx->server->AfterTransactions(t->owner(), [this, t, tx] { Begin(t, tx); });
  });
}

void SimNode::Begin(const TermPointer& t, const std::shared_ptr<Transaction>& tx) {
  if (!tx->server->HoldFence(t->owner())) {
    Later(Trip(), [this, t] { EndTerm(t, "fenced: another owner took over"); });
    return;
  }
  queue_.After(Trip(), [this, t, tx] { SendCommit(t, tx); });
}

void SimNode::SendCommit(const TermPointer& t, const std::shared_ptr<Transaction>& tx) {
  const auto roll_back = [this, t, tx](absl::Duration after) {
    queue_.After(after, [t, tx] { tx->server->EndTransaction(t->owner()); });
  };
  if (!alive_ || process_ != tx->process) return roll_back(absl::Seconds(1) * random_.Uniform());
  if (tx->connection != connection_) return roll_back(absl::Seconds(8) * random_.Uniform());
  if (suspended()) {
    if (suspended_until_ - queue_.now() > kIdleInTransaction) {
      roll_back(kIdleInTransaction);
      Later(kRetry, [this, t, tx] { Broken(t, tx); });
    } else {
      queue_.At(suspended_until_, [this, t, tx] { SendCommit(t, tx); });
    }
    return;
  }
  tx->sent = true;
  const absl::Duration takes = random_.Uniform() < slow ? kSlowCommit : kCommit;
  const absl::Duration late = outside_.committing(tx->flush);
  queue_.After(takes * random_.Uniform() + late, [this, t, tx] { Commit(t, tx); });
}

void SimNode::Commit(const TermPointer& t, const std::shared_ptr<Transaction>& tx) {
  if (!tx->server->up) return;
  bool written = false;
  if (!tx->lost) {
    std::vector<std::string> told;
    tx->result = tx->server->rows.Write(t->owner(), tx->flush, tx->server->Now(), &told);
    written = tx->result.has_value();
    if (!told.empty()) outside_.notify(*tx->server, told);
  }
  tx->server->EndTransaction(t->owner());
  if (tx->connection != connection_) return;  // its client hears of that, not of this
  Later(Trip(), [this, t, tx, written] {
    if (!Current(t) || tx->answered || tx->connection != connection_) return;
    tx->answered = true;
    if (!written) return EndTerm(t, "the flush before is not there");
    Committed(t, *tx->result);
  });
}

void SimNode::Committed(const TermPointer& t, const FlushResult& result) {
  t->open.reset();
  t->flushes.pop_front();
  t->term->Deliver([&](StoreListener* to) { to->OnFlushed(result); });
  if (!Current(t)) return;
  if (!t->flushes.empty()) Attempt(t);
  LeaveIfWritten(t);
}

// The connection broke. Before COMMIT was sent the transaction is gone; after, it is in doubt.
void SimNode::Broken(const TermPointer& t, const std::shared_ptr<Transaction>& tx) {
  if (!Current(t) || t->open != tx || tx->answered) return;
  tx->answered = true;
  if (tx->sent) {
    Settle(t, tx);
  } else {
    Attempt(t);
  }
}

void SimNode::Settle(const TermPointer& t, const std::shared_ptr<Transaction>& tx) {
  if (!Current(t)) return;
  if (t->term->Over()) return Finish(t);
  const ServerPointer server = Connect();
  if (server == nullptr) return Later(kRetry, [this, t, tx] { Settle(t, tx); });
  // The row's lock waits for a backend that still works on the commit in doubt.
  server->AfterTransactions(t->owner(), [this, t, tx, server] {
    const auto row = server->rows.flushes.find(KeyOf(t->owner()));
    const uint64_t seq = row == server->rows.flushes.end() ? 0 : row->second;
    Later(Trip(), [this, t, tx, seq] {
      if (!Current(t)) return;
      if (seq == tx->flush.seq && tx->result.has_value()) return Committed(t, *tx->result);
      if (seq + 1 == tx->flush.seq) return Attempt(t);
      EndTerm(t, "commits were lost");
    });
  });
}

// ---------------------------------------------------------------- reads

void SimNode::Query(LedgerQuery query) {
  const TermPointer t = term_;
  if (t == nullptr || t->info.term != loop_term_) return;
  Later(Trip(), [this, t, query = std::move(query)] { Read(t, query); });
}

void SimNode::Read(const TermPointer& t, const LedgerQuery& query) {
  if (!Current(t)) return;
  const ServerPointer server = Connect();
  if (server == nullptr) return Later(kRetry, [this, t, query] { Read(t, query); });
  // Read at this moment; the answer is on its way for a while.
  const absl::Duration way =
      random_.Uniform() < slow_reads ? kSlowRead * random_.Uniform() : Trip();
  Later(way, [this, t, result = server->rows.store.Answer(query)] {
    if (!Current(t)) return;
    t->term->Deliver([&](StoreListener* to) { to->OnLedger(result); });
  });
}

}  // namespace tidemark::sim
