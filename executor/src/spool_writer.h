// A thread that keeps the spool folder as the core wants it.
#ifndef TIDEMARK_EXECUTOR_SRC_SPOOL_WRITER_H_
#define TIDEMARK_EXECUTOR_SRC_SPOOL_WRITER_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "executor/src/spool.h"

namespace tidemark::exec {

// Takes writes, acknowledgements and deletions, and carries them out in batches, so that the
// loop never waits for the disk: what comes while one is synced is the next. What is acknowledged
// before it was written is not written. A write that fails (full disk) is tried again for as long
// as its result is not acknowledged; the result is in memory meanwhile. Owns the spool and a
// thread. Thread-safe.
class SpoolWriter {
 public:
  // Called from the writer's thread when writing begins to fail (with the problem) or works again.
  using OnHealth = std::function<void(bool writable, const std::string& problem)>;

  SpoolWriter(std::unique_ptr<Spool> spool, OnHealth on_health,
              std::chrono::milliseconds retry_every = std::chrono::seconds(5));
  // Tries what is pending once more, then ends the thread.
  ~SpoolWriter();
  SpoolWriter(const SpoolWriter&) = delete;
  SpoolWriter& operator=(const SpoolWriter&) = delete;

  void Write(const AttemptKey& key, v1::RunReport report);
  void Acknowledge(const AttemptKey& key);
  void Delete(const AttemptKey& key);

 private:
  enum class Kind { kWrite, kAcknowledge, kDelete };
  struct Job {
    Kind kind = Kind::kWrite;
    v1::RunReport report;
  };
  using Batch = std::map<AttemptKey, Job>;

  void Loop();
  // Waits until there is something to carry out.
  void Await(std::unique_lock<std::mutex>* lock, bool healthy);
  // Carries `batch` out and leaves in it what is to be tried again.
  absl::Status CarryOut(Batch* batch);
  void Put(const AttemptKey& key, Job job);

  const std::unique_ptr<Spool> spool_;  // the thread's
  const OnHealth on_health_;
  const std::chrono::milliseconds retry_every_;

  std::mutex mutex_;
  std::condition_variable changed_;
  Batch pending_;          // guarded by mutex_; one job a key: the last word
  size_t writes_ = 0;      // guarded by mutex_; how many of them are kWrite
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_SPOOL_WRITER_H_
