// A connection that is opened again when it broke, for one of the store's threads.
#ifndef TIDEMARK_SCHEDULER_STORE_SESSION_H_
#define TIDEMARK_SCHEDULER_STORE_SESSION_H_

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "common/status.h"
#include "scheduler/store/database.h"

namespace tidemark {

// Owns the connection. Get is for one thread; Close may come from any.
class Session {
 public:
  explicit Session(DatabaseOptions options) : options_(std::move(options)) {}

  // The connection, opened when there is none or it broke; UNAVAILABLE after Close. Valid until
  // the next Get.
  absl::StatusOr<Connection*> Get() {
    {
      const MutexLock lock(&mutex_);
      if (closed_) return absl::UnavailableError("the session was closed");
      if (connection_ != nullptr && !connection_->broken()) return connection_.get();
      connection_.reset();
    }
    TM_ASSIGN_OR_RETURN(std::unique_ptr<Connection> opened, Connection::Open(options_));
    const MutexLock lock(&mutex_);
    if (closed_) return absl::UnavailableError("the session was closed");
    connection_ = std::move(opened);
    return connection_.get();
  }

  // Breaks what is in progress; nothing can be done with this session any more.
  void Close() {
    const MutexLock lock(&mutex_);
    closed_ = true;
    if (connection_ != nullptr) connection_->Abort();
  }

 private:
  const DatabaseOptions options_;
  Mutex mutex_;
  std::unique_ptr<Connection> connection_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_SESSION_H_
