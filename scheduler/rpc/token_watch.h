// Keeps what the authenticator knows close to the database.
#ifndef TIDEMARK_SCHEDULER_RPC_TOKEN_WATCH_H_
#define TIDEMARK_SCHEDULER_RPC_TOKEN_WATCH_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/state_log.h"
#include "scheduler/access/access_desk.h"
#include "scheduler/access/authenticator.h"

namespace tidemark {

// Reads the valid tokens every two seconds and whenever it is told to, so that a token that was
// revoked on whatever node is refused within seconds. Without a database the last reading stands;
// expiry goes on. Owns its thread. All must outlive it.
class TokenWatch {
 public:
  static constexpr absl::Duration kPeriod = absl::Seconds(2);

  // `looked`: after each reading, from its thread: what was let in is to be looked at again.
  TokenWatch(AccessDesk& desk, Authenticator& authenticator, std::function<void()> looked);
  ~TokenWatch() { Stop(); }

  void Start();
  // Tokens were changed here.
  void Nudge();
  void Stop();

 private:
  void Loop();
  void Look();

  AccessDesk& desk_;
  Authenticator& authenticator_;
  const std::function<void()> looked_;
  StateLog log_{"reading of tokens"};
  bool warned_ = false;
  absl::Mutex mutex_;
  bool nudged_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_TOKEN_WATCH_H_
