// The thread that writes the logs of runs.
#ifndef TIDEMARK_SCHEDULER_STORE_RUN_LOG_WRITER_H_
#define TIDEMARK_SCHEDULER_STORE_RUN_LOG_WRITER_H_

#include <cstdint>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "common/state_log.h"
#include "scheduler/engine/run_log.h"
#include "scheduler/store/backoff.h"
#include "scheduler/store/run_log_backlog.h"
#include "scheduler/store/run_log_rows.h"
#include "scheduler/store/session.h"

namespace tidemark {

struct RunLogWriterOptions {
  size_t backlog_bytes = 32u << 20;                 // waits at most, whatever the database does
  size_t batch_bytes = 1u << 20;                    // a commit, about
  absl::Duration linger = absl::Milliseconds(100);  // from the first byte to its commit
  absl::Duration first_backoff = absl::Milliseconds(100);
  absl::Duration max_backoff = absl::Seconds(5);
  absl::Duration stop_after = absl::Seconds(2);  // how long Stop waits for what is left
};

// Writes in batches, each again until it is committed; only for attempts of the process that sends
// them, as the database knows it. Owns its thread and connection, so that neither the engine nor
// its flushes wait for log bytes. Thread-safe.
class RunLogWriter : public RunLogSink {
 public:
  explicit RunLogWriter(DatabaseOptions database, RunLogWriterOptions options = {});
  ~RunLogWriter() override;  // stops

  void Take(RunLogChunk chunk) override;
  // Writes what is left, for stop_after at most, then ends the thread. Nothing is taken after it.
  void Stop();

 private:
  void Run();
  bool Stopping();
  // Writes the batch until that succeeds or there is no time left.
  void WriteUntilDone(const RunLogBacklog::Batch& batch);
  absl::Status Write(const RunLogBacklog::Batch& batch);
  // Puts what was committed into the cache, and counts what is nobody's.
  void Remember(const RunLogBacklog::Batch& batch, const StoredRunLogs& stored);
  void TellDropped();

  const RunLogWriterOptions options_;
  Session session_;
  // The thread's:
  StateLog log_{"writing logs of runs"};
  Backoff backoff_;
  StoredRunLogs cache_;

  Signal wake_;
  Signal stop_signal_;
  Signal done_;
  Mutex mutex_;
  RunLogBacklog backlog_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: everything else is ready when it starts
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_RUN_LOG_WRITER_H_
