// The channel that is always there: each alert becomes one line of the scheduler's log.
#ifndef TIDEMARK_SCHEDULER_ALERTS_LOG_CHANNEL_H_
#define TIDEMARK_SCHEDULER_ALERTS_LOG_CHANNEL_H_

#include <functional>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "common/state_log.h"
#include "scheduler/engine/alert_source.h"

namespace tidemark {

// Reads the outbox with a thread and an outbox of its own, so that it never delays scheduling.
// At least once: a crash between the line and its mark logs it again. Thread-safe.
class LogChannel {
 public:
  // How often the outbox is looked at without being told.
  static constexpr absl::Duration kPoll = absl::Seconds(5);

  // `write`: where alerts go; the log, but for tests.
  explicit LogChannel(std::unique_ptr<AlertSource> outbox,
                      std::function<void(const OutboxAlert&)> write = WriteLine);
  ~LogChannel();  // stops

  void Start();
  // Alerts were committed: looks at once.
  void Poke() { wake_.Notify(); }
  void Stop();

  static void WriteLine(const OutboxAlert& alert);

 private:
  void Loop();
  // Logs what the outbox has; true when there may be more.
  bool LogSome();
  bool Stopping();

  const std::unique_ptr<AlertSource> outbox_;
  const std::function<void(const OutboxAlert&)> write_;
  StateLog state_log_;  // the thread's
  Signal wake_;
  Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_LOG_CHANNEL_H_
