#include "executor/src/link.h"

#include <grpcpp/grpcpp.h>

#include <deque>
#include <mutex>
#include <utility>

#include "common/status.h"
#include "tidemark/v1/executor.grpc.pb.h"

namespace tidemark::exec {
namespace {

constexpr int kMaxMessageBytes = 16 << 20;

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address,
                                           const ClientSecurity& security,
                                           const ChannelSecurity& channel) {
  grpc::ChannelArguments args;
  // A cut cable is noticed within 15 s; without keepalive it takes minutes.
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10000);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5000);
  args.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // The dialer decides when to try again; a connect that hangs is given up after this time.
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  args.SetMaxReceiveMessageSize(kMaxMessageBytes);
  args.SetMaxSendMessageSize(kMaxMessageBytes);
  ApplyServerName(security, &args);
  return grpc::CreateCustomChannel(address, channel.credentials, args);
}

std::string Reason(const grpc::Status& status) {
  if (status.ok()) return "closed by the scheduler";
  return status.error_message().empty() ? "status " + std::to_string(status.error_code())
                                        : status.error_message();
}

// The reactor. It holds itself alive from Start until OnDone.
class GrpcLink final : public Link,
                       public grpc::ClientBidiReactor<v1::ExecutorMessage, v1::SchedulerMessage> {
 public:
  GrpcLink(const std::string& address, const ClientSecurity& security,
           const ChannelSecurity& channel, Callbacks callbacks)
      : callbacks_(std::move(callbacks)),
        stub_(v1::ExecutorService::NewStub(MakeChannel(address, security, channel))) {
    channel.Authorize(&context_);
  }

  void Start(std::shared_ptr<GrpcLink> self) {
    const std::lock_guard lock(mutex_);
    self_ = std::move(self);
    stub_->async()->Connect(&context_, this);
    // Writes are started from other threads than gRPC's: the hold keeps the stream until they end.
    AddHold();
    StartRead(&incoming_);
    StartCall();
  }

  void Send(v1::ExecutorMessage message, size_t bytes) override {
    const std::lock_guard lock(mutex_);
    if (ended_ || finishing_) return;
    outgoing_.emplace_back(std::move(message), bytes);
    if (outgoing_.size() == 1) StartWrite(&outgoing_.front().first);
  }

  void Finish() override {
    const std::lock_guard lock(mutex_);
    if (ended_ || finishing_) return;
    finishing_ = true;
    if (outgoing_.empty()) StartWritesDone();
  }

  void Cancel() override { context_.TryCancel(); }

  void OnWriteDone(bool ok) override {
    size_t bytes = 0;
    {
      const std::lock_guard lock(mutex_);
      bytes = outgoing_.front().second;
      outgoing_.pop_front();
      if (!ok || ended_) {
        outgoing_.clear();
        return;
      }
      if (!outgoing_.empty()) {
        StartWrite(&outgoing_.front().first);
      } else if (finishing_) {
        StartWritesDone();
      }
    }
    callbacks_.on_written(bytes);
  }

  void OnReadDone(bool ok) override {
    v1::SchedulerMessage message;
    {
      const std::lock_guard lock(mutex_);
      if (ok) {
        message = std::move(incoming_);
        incoming_ = {};
      } else {
        ended_ = true;
      }
    }
    if (!ok) {
      RemoveHold();
      return;
    }
    callbacks_.on_message(std::move(message));
    StartRead(&incoming_);
  }

  void OnDone(const grpc::Status& status) override {
    // This object may be gone before the call returns: nothing of it is used in there.
    auto on_closed = std::move(callbacks_.on_closed);
    std::shared_ptr<GrpcLink> self;
    {
      const std::lock_guard lock(mutex_);
      self = std::move(self_);
    }
    on_closed(Reason(status), std::move(self));
  }

 private:
  Callbacks callbacks_;
  const std::unique_ptr<v1::ExecutorService::Stub> stub_;
  grpc::ClientContext context_;

  std::mutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<GrpcLink> self_;
  v1::SchedulerMessage incoming_;
  std::deque<std::pair<v1::ExecutorMessage, size_t>> outgoing_;  // the first is being written
  bool ended_ = false;                                           // nothing more can be written
  bool finishing_ = false;                                       // nothing more is accepted
};

}  // namespace

absl::StatusOr<std::shared_ptr<Link>> Link::Open(const std::string& address,
                                                 const ClientSecurity& security,
                                                 Callbacks callbacks) {
  TM_ASSIGN_OR_RETURN(const ChannelSecurity channel, SecureFor(address, security));
  auto link = std::make_shared<GrpcLink>(address, security, channel, std::move(callbacks));
  link->Start(link);
  return std::shared_ptr<Link>(std::move(link));
}

}  // namespace tidemark::exec
