#include "scheduler/store/run_log_writer.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "common/id.h"
#include "common/log.h"
#include "common/status.h"

namespace tidemark {
namespace {

// Logs that are remembered; the rest is asked for again when it comes back.
constexpr size_t kCached = 10000;

}  // namespace

RunLogWriter::RunLogWriter(DatabaseOptions database, RunLogWriterOptions options)
    : options_(options),
      session_(std::move(database)),
      backoff_(options.first_backoff, options.max_backoff),
      backlog_(options.backlog_bytes),
      thread_([this] { Run(); }) {}

RunLogWriter::~RunLogWriter() { Stop(); }

void RunLogWriter::Take(RunLogChunk chunk) {
  // Anything else cannot be an attempt of ours, and would not fit the columns.
  if (!IsUuid(chunk.key.attempt.run_id) || chunk.key.attempt.attempt < 1) return;
  const MutexLock lock(&mutex_);
  if (stopping_) return;
  const bool first = backlog_.empty();
  backlog_.Add(chunk);
  if (first) wake_.Notify();
}

void RunLogWriter::Stop() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
  }
  wake_.Notify();
  stop_signal_.Notify();
  done_.Wait(options_.stop_after);
  session_.Close();
  thread_.join();
}

bool RunLogWriter::Stopping() {
  const MutexLock lock(&mutex_);
  return stopping_;
}

void RunLogWriter::Run() {
  for (;;) {
    RunLogBacklog::Batch batch;
    bool more = false;
    bool stopping = false;
    {
      const MutexLock lock(&mutex_);
      batch = backlog_.Take(options_.batch_bytes);
      more = !backlog_.empty();
      stopping = stopping_;
    }
    if (batch.empty()) {
      if (stopping) break;  // nothing is taken any more, so nothing is left
      wake_.Wait(absl::InfiniteDuration());
    } else {
      WriteUntilDone(batch);
      TellDropped();
    }
    // What comes within the pause is one batch.
    if (!more && !Stopping()) stop_signal_.Wait(options_.linger);
  }
  done_.Notify();
}

void RunLogWriter::WriteUntilDone(const RunLogBacklog::Batch& batch) {
  backoff_.Reset();
  for (int failures = 0;;) {
    const absl::Status status = Write(batch);
    log_.Report(status);
    if (status.ok()) return;
    if (IsDataError(status)) return;  // no repetition makes these bytes fit
    // While stopping: once more, since the connection may just have broken, and without a pause.
    if (Stopping() && ++failures == 2) return;
    if (!Stopping()) stop_signal_.Wait(backoff_.Next());
  }
}

absl::Status RunLogWriter::Write(const RunLogBacklog::Batch& batch) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  StoredRunLogs stored;
  std::set<RunLogKey> unknown;
  for (const auto& [key, pending] : batch) {
    const auto found = cache_.find(key);
    if (found != cache_.end()) {
      stored.insert(*found);
    } else {
      unknown.insert(key);
    }
  }
  TM_RETURN_IF_ERROR(connection->Transact([&](SqlTransaction& transaction) -> absl::Status {
    TM_RETURN_IF_ERROR(LoadRunLogs(transaction, unknown, &stored));
    return WriteRunLogs(transaction, batch, &stored);
  }));
  Remember(batch, stored);
  return absl::OkStatus();
}

void RunLogWriter::Remember(const RunLogBacklog::Batch& batch, const StoredRunLogs& stored) {
  if (cache_.size() + stored.size() > kCached) cache_.clear();
  for (const auto& [key, log] : stored) {
    if (log.ended) {
      cache_.erase(key);
    } else {
      cache_[key] = log;
    }
  }
  for (const auto& [key, pending] : batch) {
    if (stored.count(key) > 0) continue;
    LogWarn("log bytes ignored: the attempt is not that executor's",
            {{"run_id", key.attempt.run_id},
             {"attempt", std::to_string(key.attempt.attempt)},
             {"executor", key.executor_id},
             {"registration", std::to_string(key.registration)}});
  }
}

void RunLogWriter::TellDropped() {
  uint64_t dropped = 0;
  {
    const MutexLock lock(&mutex_);
    dropped = backlog_.TakeDropped();
  }
  if (dropped > 0) {
    LogWarn("log bytes of runs dropped: they came faster than the database takes them",
            {{"bytes", std::to_string(dropped)}});
  }
}

}  // namespace tidemark
