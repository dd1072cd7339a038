// A thread that does one thing again and again.
#ifndef TIDEMARK_SCHEDULER_ALERTS_TURN_THREAD_H_
#define TIDEMARK_SCHEDULER_ALERTS_TURN_THREAD_H_

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "common/mutex.h"

namespace tidemark {

// Start and Stop once, from one thread; Poke from any.
class TurnThread {
 public:
  // How long it waits at most without being poked.
  static constexpr absl::Duration kPoll = absl::Seconds(5);

  // `turn` returns how long to wait before the next one; zero: at once.
  explicit TurnThread(std::function<absl::Duration()> turn) : turn_(std::move(turn)) {}
  ~TurnThread() { Stop(); }

  void Start() {
    thread_ = std::thread([this] {
      while (!stopping_) {
        const absl::Duration wait = turn_();
        if (wait > absl::ZeroDuration()) wake_.Wait(std::min(wait, kPoll));
      }
    });
  }
  void Poke() { wake_.Notify(); }
  void Stop() {
    stopping_ = true;
    wake_.Notify();
    if (thread_.joinable()) thread_.join();
  }

 private:
  const std::function<absl::Duration()> turn_;
  Signal wake_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_TURN_THREAD_H_
