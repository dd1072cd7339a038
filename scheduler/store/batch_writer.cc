#include "scheduler/store/batch_writer.h"

#include <map>
#include <utility>

#include "common/log.h"
#include "common/status.h"
#include "scheduler/store/flush_units.h"
#include "scheduler/store/flush_writer.h"
#include "scheduler/store/statements.h"

namespace tidemark {

BatchWriter::BatchWriter(const StoreOptions& options, Term* term, ListenerGate* gate, Clock* clock,
                         Random* random)
    : term_(term),
      gate_(gate),
      clock_(clock),
      random_(random),
      session_(ForFlushes(options.database)),
      backoff_(options.first_backoff / 4, options.max_backoff / 5),
      thread_([this] { Run(); }) {}

BatchWriter::~BatchWriter() { Stop(); }

void BatchWriter::Submit(Flush flush) {
  const MutexLock lock(&mutex_);
  queue_.push_back(std::move(flush));
  wake_.Notify();
}

void BatchWriter::Drain() {
  for (;;) {
    {
      const MutexLock lock(&mutex_);
      if (queue_.empty() && !busy_) return;
    }
    if (term_->Over()) return;
    // Woken by each flush that is done; looks again for the term's deadline.
    idle_signal_.Wait(absl::Milliseconds(100));
  }
}

void BatchWriter::Stop() {
  {
    const MutexLock lock(&mutex_);
    stopped_ = true;
  }
  wake_.Notify();
  session_.Close();
  if (thread_.joinable()) thread_.join();
}

bool BatchWriter::Stopped() {
  {
    const MutexLock lock(&mutex_);
    if (stopped_) return true;
  }
  return term_->Over();
}

bool BatchWriter::Next(Flush* flush) {
  for (;;) {
    {
      const MutexLock lock(&mutex_);
      if (stopped_) return false;
      busy_ = !queue_.empty();
      if (busy_) {
        *flush = std::move(queue_.front());
        queue_.pop_front();
        return true;
      }
    }
    idle_signal_.Notify();
    wake_.Wait(absl::InfiniteDuration());
  }
}

void BatchWriter::Run() {
  Flush flush;
  while (Next(&flush)) {
    std::optional<FlushResult> result = Commit(flush);
    if (!result.has_value()) continue;
    term_->Deliver([&](StoreListener* listener) { listener->OnFlushed(*std::move(result)); });
  }
}

std::optional<FlushResult> BatchWriter::Commit(const Flush& whole) {
  std::optional<Flush> rest;  // what is left of it once something was left out
  std::set<int64_t> left_out;
  FlushResult result;
  backoff_.Reset();
  while (!Stopped()) {
    FlushResult tried;
    tried.seq = whole.seq;
    tried.failed_jobs = result.failed_jobs;
    absl::StatusOr<Connection*> connection = session_.Get();
    absl::Status status = connection.status();
    if (status.ok()) {
      status = Attempt(**connection, rest.has_value() ? *rest : whole, left_out, false, &tried);
    }
    if (IsInDoubt(status)) {
      const Settled settled = Settle(whole.seq);
      if (settled == Settled::kTermOver) return std::nullopt;
      status = settled == Settled::kCommitted ? absl::OkStatus()
                                              : absl::UnavailableError("the commit was lost");
    }
    if (status.ok()) {
      log_.Report(status);
      return tried;
    }
    if (IsDataError(status)) {
      if (!rest.has_value()) rest = whole;
      status = LeaveOut(whole, &*rest, &left_out, &result);
      if (status.ok()) continue;
    }
    if (IsTermOver(status)) {
      term_->End(Message(status));
      return std::nullopt;
    }
    log_.Report(status);
    wake_.Wait(backoff_.Next());
  }
  return std::nullopt;
}

absl::Status BatchWriter::Attempt(Connection& connection, const Flush& flush,
                                  const std::set<int64_t>& left_out, bool probe,
                                  FlushResult* result) {
  // An error of our own making rolls a probe back; no database error is OK.
  const absl::Status rolled_back = absl::OutOfRangeError("probe");
  const Owner owner = term_->owner();
  ClockSample sample;
  const absl::Status status = connection.Transact([&](SqlTransaction& transaction) -> absl::Status {
    sample.sent_mono = clock_->Monotonic();
    TM_RETURN_IF_ERROR(
        WriteFlush(transaction, owner, flush, left_out, *random_, *clock_, result, &sample.db));
    sample.received_mono = clock_->Monotonic();
    return probe ? rolled_back : absl::OkStatus();
  });
  if (sample.received_mono > absl::ZeroDuration()) gate_->ClockSampled(sample);
  return status == rolled_back ? absl::OkStatus() : status;
}

absl::Status BatchWriter::LeaveOut(const Flush& whole, Flush* flush, std::set<int64_t>* left_out,
                                   FlushResult* result) {
  std::map<FlushUnit, absl::Status> culprits;
  const auto probe = [&](const Flush& part) -> absl::Status {
    if (Stopped()) return absl::UnavailableError("the store stops");
    TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
    FlushResult ignored;
    return Attempt(*connection, part, *left_out, true, &ignored);
  };
  TM_RETURN_IF_ERROR(FindCulprits(*flush, probe, &culprits));
  if (culprits.empty()) return absl::InternalError("refused as a whole, but not in any part");
  std::set<FlushUnit> good;
  for (const FlushUnit& unit : UnitsOf(*flush)) {
    if (culprits.count(unit) == 0) good.insert(unit);
  }
  for (const auto& [unit, why] : culprits) {
    LogError("left out of a write: the database refuses its data",
             {{"flush", std::to_string(whole.seq)},
              {"unit", unit.job_id == 0 ? unit.key : "job " + std::to_string(unit.job_id)},
              {"why", Message(why)}});
    if (unit.job_id == 0) continue;
    left_out->insert(unit.job_id);
    result->failed_jobs.emplace_back(unit.job_id, Message(why));
  }
  *flush = Select(*flush, good);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> BatchWriter::ReadSeq() {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  const Owner owner = term_->owner();
  TM_ASSIGN_OR_RETURN(const SqlRows rows,
                      connection->RunOne(sql::kSettleFlush, {owner.node_id, owner.incarnation}));
  if (rows.empty()) return absl::CancelledError("the flush row is gone: commits were lost");
  return static_cast<uint64_t>(rows.Int(0, 0));
}

// The row's lock waits for a backend that still works on the commit in doubt.
BatchWriter::Settled BatchWriter::Settle(uint64_t seq) {
  while (!Stopped()) {
    const absl::StatusOr<uint64_t> found = ReadSeq();
    if (found.ok() && *found == seq) return Settled::kCommitted;
    if (found.ok() && *found + 1 == seq) return Settled::kNotCommitted;
    if (found.ok()) {
      term_->End("the database went back from flush " + std::to_string(seq) + " to " +
                 std::to_string(*found) + ": commits were lost");
      return Settled::kTermOver;
    }
    if (IsTermOver(found.status())) {
      term_->End(Message(found.status()));
      return Settled::kTermOver;
    }
    log_.Report(found.status());
    wake_.Wait(backoff_.Next());
  }
  return Settled::kTermOver;
}

}  // namespace tidemark
