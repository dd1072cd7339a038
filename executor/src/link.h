// One gRPC stream to one scheduler node.
#ifndef TIDEMARK_EXECUTOR_SRC_LINK_H_
#define TIDEMARK_EXECUTOR_SRC_LINK_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "channel/secure_channel.h"
#include "executor/src/core_types.h"

namespace tidemark::exec {

// A stream from dial to end: messages out in order, messages in by callback. Shared by its user and
// by gRPC's threads, which keep it alive until the stream is over. Thread-safe. The last reference
// must not be dropped in one of gRPC's threads: gRPC 1.51 ends those threads with the last channel,
// and a thread that joins itself corrupts the process.
class Link {
 public:
  // Called from gRPC's threads; on_closed is the last call and comes exactly once.
  struct Callbacks {
    std::function<void(v1::SchedulerMessage)> on_message;
    std::function<void(size_t bytes)> on_written;
    // `self` is to be dropped in another thread.
    std::function<void(const std::string& reason, std::shared_ptr<Link> self)> on_closed;
  };

  // Dials `address` ("host:port") with a channel of its own and opens the stream. Messages may be
  // sent at once. INVALID_ARGUMENT: it may not be dialled as it is secured; no callback is called.
  static absl::StatusOr<std::shared_ptr<Link>> Open(const std::string& address,
                                                    const ClientSecurity& security,
                                                    Callbacks callbacks);

  virtual ~Link() = default;
  // `bytes` come back in on_written once the transport has taken the message.
  virtual void Send(v1::ExecutorMessage message, size_t bytes) = 0;
  // Ends the stream after what was sent.
  virtual void Finish() = 0;
  // Ends it at once.
  virtual void Cancel() = 0;
};

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_LINK_H_
