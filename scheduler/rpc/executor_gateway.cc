#include "scheduler/rpc/executor_gateway.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/log.h"
#include "common/status.h"
#include "common/text.h"
#include "scheduler/access/authorizer.h"
#include "scheduler/access/rate_limiter.h"
#include "scheduler/rpc/executor_codec.h"
#include "scheduler/rpc/inbox.h"
#include "scheduler/rpc/request_funnel.h"
#include "scheduler/rpc/rpc_status.h"
#include "tidemark/v1/executor.grpc.pb.h"

namespace tidemark {
namespace {

// What waits for a write to end is sent as one, in messages of about this size: far below what
// executors take, and soon enough for the first ones.
constexpr size_t kMessageBytes = size_t{256} * 1024;
// Triggers, cancels and acknowledgements that wait for one executor to read what came before. One
// that reads has a few thousand at most.
constexpr int kMostOrders = 65536;

const grpc::Status& NotServing() {
  static const grpc::Status status(grpc::StatusCode::UNAVAILABLE,
                                   "this node does not serve this stream now");
  return status;
}

// One executor's stream. Deletes itself in OnDone; the gateway keeps it in its table until then.
class Stream : public grpc::ServerBidiReactor<v1::ExecutorMessage, v1::SchedulerMessage> {
 public:
  Stream(StreamId id, grpc::CallbackServerContext& context, Admitted admitted,
         GatewayListener* listener, RunLogSink* logs, Clock& clock, Inbox inbox,
         std::function<void(StreamId)> gone)
      : id_(id),
        context_(context),
        admitted_(std::move(admitted)),
        listener_(listener),
        logs_(logs),
        clock_(clock),
        gone_(std::move(gone)),
        inbox_(inbox) {}

  const Identity& identity() const { return admitted_.identity(); }

  void Begin() { StartRead(&incoming_); }

  void Queue(const Outbound& message, const std::string& node_id,
             const std::vector<std::string>& nodes) {
    absl::MutexLock lock(&mutex_);
    if (finishing_ || cut_) return;
    if (const auto* welcome = std::get_if<WelcomeMessage>(&message.body)) {
      registration_ = welcome->registration;
    }
    v1::SchedulerMessage& waiting = Waiting();
    const int orders = waiting.orders_size();
    AddTo(message, waiting);
    if (waiting.has_welcome()) {
      waiting.mutable_welcome()->set_node_id(node_id);
      waiting.mutable_welcome()->mutable_nodes()->Assign(nodes.begin(), nodes.end());
    }
    if (waiting.orders_size() > orders) {
      waiting_bytes_ += waiting.orders(orders).ByteSizeLong();
      ++waiting_orders_;
    }
    WriteNext();
    CutIfUnread();
  }

  void TellNodes(const std::vector<std::string>& nodes) {
    absl::MutexLock lock(&mutex_);
    if (registration_ == 0 || finishing_ || cut_) return;
    Waiting().mutable_nodes()->mutable_addresses()->Assign(nodes.begin(), nodes.end());
    WriteNext();
  }

  void Handled(size_t bytes) {
    absl::MutexLock lock(&mutex_);
    const Inbox::Verdict verdict = inbox_.Handled(bytes);
    Tell(verdict.hold);
    if (verdict.read && !finishing_) StartRead(&incoming_);
  }

  void End(const grpc::Status& status = NotServing()) {
    absl::MutexLock lock(&mutex_);
    if (finishing_ || ending_) return;
    ending_ = true;
    status_ = status;
    FinishIfWritten();
  }

  // Nothing that it says counts any more.
  void Refuse(const absl::Status& why) {
    if (refused_.exchange(true)) return;
    LogWarn("executor's stream refused",
            {{"peer", admitted_.peer()}, {"token", identity().token_id}, {"why", Message(why)}});
    End(ToGrpc(why));
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) {
      End();
      return;
    }
    const absl::Duration received = clock_.Monotonic();
    if (!Permitted()) {
      incoming_.Clear();
      StartRead(&incoming_);
      return;
    }
    if (incoming_.has_hello()) TakeName(incoming_.hello().executor_id());
    TakeLogChunks();
    ExecutorMessage message = FromProto(incoming_);
    message.bytes = incoming_.ByteSizeLong();
    incoming_.Clear();
    // Counted before it is handed over: it may be handled at once.
    bool read = false;
    {
      absl::MutexLock lock(&mutex_);
      const Inbox::Verdict verdict = inbox_.Took(message.bytes);
      Tell(verdict.hold);
      read = verdict.read;
    }
    listener_->OnMessage(id_, std::move(message), received);
    if (read) StartRead(&incoming_);
  }

  void Tell(std::optional<bool> hold) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!hold.has_value() || finishing_ || cut_) return;
    Waiting().set_hold(*hold);
    WriteNext();
    listener_->OnCongested(id_, *hold);
  }

  // Whom a Hello may introduce, the credential says. What was refused is read on and thrown away
  // until the stream has ended.
  bool Permitted() {
    if (refused_) return false;
    if (!incoming_.has_hello()) return true;
    const v1::Hello& hello = incoming_.hello();
    const absl::Status status = AuthorizeExecutor(
        identity(), hello.app(), hello.namespace_().empty() ? "default" : hello.namespace_());
    if (!status.ok()) Refuse(status);
    return status.ok();
  }

  // A stream that changes its name is not welcomed under the new one yet.
  void TakeName(const std::string& executor_id) {
    if (executor_id == executor_id_) return;
    executor_id_ = executor_id;
    absl::MutexLock lock(&mutex_);
    registration_ = 0;
  }

  // A process writes in its own name: as what it was welcomed. Whether the attempt is its own only
  // the database knows.
  void TakeLogChunks() {
    std::vector<RunLogChunk> chunks = TakeLogs(incoming_);
    if (chunks.empty()) return;
    int64_t registration = 0;
    {
      absl::MutexLock lock(&mutex_);
      registration = registration_;
    }
    for (RunLogChunk& chunk : chunks) {
      if (registration == 0 || chunk.key.registration != registration) continue;
      chunk.key.executor_id = executor_id_;
      logs_->Take(std::move(chunk));
    }
  }

  void OnWriteDone(bool ok) override {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    if (!ok) {
      waiting_.clear();
      waiting_orders_ = 0;
      ending_ = true;
    }
    WriteNext();
    FinishIfWritten();
  }

  void OnCancel() override { End(); }

  void OnDone() override {
    listener_->OnStreamClosed(id_);
    gone_(id_);
    delete this;
  }

  // The message that takes what is said next.
  v1::SchedulerMessage& Waiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (waiting_.empty() || waiting_bytes_ >= kMessageBytes) {
      waiting_.emplace_back();
      waiting_bytes_ = 0;
    }
    return waiting_.back();
  }

  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || waiting_.empty() || finishing_) return;
    outgoing_ = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_orders_ -= outgoing_.orders_size();
    writing_ = true;
    StartWrite(&outgoing_);
  }

  // Who sends and never reads makes us keep the answers. The write under way would not end, so the
  // stream is cut.
  void CutIfUnread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (waiting_orders_ <= kMostOrders) return;
    LogWarn("executor does not read what it is sent; its stream is cut",
            {{"peer", admitted_.peer()}, {"token", identity().token_id}});
    cut_ = true;
    ending_ = true;
    waiting_.clear();
    waiting_orders_ = 0;
    context_.TryCancel();
  }

  void FinishIfWritten() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!ending_ || finishing_ || writing_) return;
    finishing_ = true;
    Finish(status_);
  }

  const StreamId id_;
  grpc::CallbackServerContext& context_;  // gRPC's, until OnDone
  const Admitted admitted_;
  GatewayListener* const listener_;
  RunLogSink* const logs_;
  Clock& clock_;
  const std::function<void(StreamId)> gone_;
  std::atomic<bool> refused_ = false;
  // Of the one read under way:
  v1::ExecutorMessage incoming_;
  std::string executor_id_;  // as it says in its Hello

  absl::Mutex mutex_;
  Inbox inbox_ ABSL_GUARDED_BY(mutex_);
  grpc::Status status_ ABSL_GUARDED_BY(mutex_);            // with which it ends
  int64_t registration_ ABSL_GUARDED_BY(mutex_) = 0;       // 0: not welcomed
  v1::SchedulerMessage outgoing_ ABSL_GUARDED_BY(mutex_);  // being written
  std::deque<v1::SchedulerMessage> waiting_ ABSL_GUARDED_BY(mutex_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of the orders in the last of them
  int waiting_orders_ ABSL_GUARDED_BY(mutex_) = 0;    // in all of them
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool cut_ ABSL_GUARDED_BY(mutex_) = false;  // it did not read
  bool finishing_ ABSL_GUARDED_BY(mutex_) = false;
};

// Refuses a stream at once.
class ClosedStream : public grpc::ServerBidiReactor<v1::ExecutorMessage, v1::SchedulerMessage> {
 public:
  explicit ClosedStream(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

}  // namespace

class ExecutorGateway::Impl : public v1::ExecutorService::CallbackService {
 public:
  Impl(const AccessGate& gate, GatewayListener* listener, RunLogSink* logs, Clock& clock,
       RpcLimits limits)
      : gate_(gate), listener_(listener), logs_(logs), clock_(clock), limits_(limits) {}

  grpc::ServerBidiReactor<v1::ExecutorMessage, v1::SchedulerMessage>* Connect(
      grpc::CallbackServerContext* context) override {
    absl::StatusOr<Admitted> admitted = AdmitCall(gate_, *context, "ExecutorService/Connect");
    if (!admitted.ok()) return new ClosedStream(ToGrpc(admitted.status()));
    // Processes behind one address may be many; those of one credential are one tenant.
    const std::string& token = admitted->identity().token_id;
    const std::string caller = token.empty() ? AddressOf(context->peer()) : token;
    absl::MutexLock lock(&mutex_);
    if (closed_) {
      return new ClosedStream({grpc::StatusCode::UNAVAILABLE, "the scheduler stops"});
    }
    if (const std::string full = WhyFull(caller); !full.empty()) {
      return new ClosedStream({grpc::StatusCode::RESOURCE_EXHAUSTED, full});
    }
    // A token that was revoked since: the next Recheck finds the stream in the table.
    const StreamId id = ++last_id_;
    ++streams_of_[caller];
    auto* stream = new Stream(id, *context, *std::move(admitted), listener_, logs_, clock_,
                              Inbox(limits_, inboxes_), [this, caller](StreamId gone) {
                                absl::MutexLock lock(&mutex_);
                                streams_.erase(gone);
                                if (--streams_of_[caller] == 0) streams_of_.erase(caller);
                              });
    streams_[id] = stream;
    stream->Begin();
    return stream;
  }

  // Under the lock: a stream in the table is not deleted before it is erased from it.
  void Send(const std::vector<Outbound>& messages) {
    absl::MutexLock lock(&mutex_);
    for (const Outbound& message : messages) {
      const auto it = streams_.find(message.stream);
      if (it != streams_.end()) it->second->Queue(message, node_id_, nodes_);
    }
  }

  void Handled(StreamId stream, size_t bytes) {
    absl::MutexLock lock(&mutex_);
    const auto it = streams_.find(stream);
    if (it != streams_.end()) {
      it->second->Handled(bytes);
    } else {
      Inbox::Forgotten(inboxes_, bytes);
    }
  }

  void SetNode(const std::string& node_id) {
    absl::MutexLock lock(&mutex_);
    node_id_ = node_id;
  }

  void SetNodes(std::vector<std::string> addresses) {
    absl::MutexLock lock(&mutex_);
    if (addresses == nodes_) return;
    nodes_ = std::move(addresses);
    for (auto& [id, stream] : streams_) stream->TellNodes(nodes_);
  }

  void Close(StreamId stream) {
    absl::MutexLock lock(&mutex_);
    const auto it = streams_.find(stream);
    if (it != streams_.end()) it->second->End();
  }

  void Deny(StreamId stream, const std::string& why) {
    absl::MutexLock lock(&mutex_);
    const auto it = streams_.find(stream);
    if (it != streams_.end()) it->second->Refuse(absl::PermissionDeniedError(ToAbsl(why)));
  }

  void Recheck() {
    absl::MutexLock lock(&mutex_);
    for (auto& [id, stream] : streams_) {
      const absl::Status status = gate_.authenticator().Check(stream->identity());
      if (!status.ok()) stream->Refuse(status);
    }
  }

  void CloseAll() {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
    for (auto& [id, stream] : streams_) stream->End();
  }

 private:
  // Why no more streams are taken of `caller`; "": they are.
  std::string WhyFull(const std::string& caller) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (streams_.size() >= static_cast<size_t>(limits_.max_streams)) {
      return "this node has " + std::to_string(limits_.max_streams) +
             " executors' streams, which is its limit (max-streams)";
    }
    const auto it = streams_of_.find(caller);
    if (it != streams_of_.end() && it->second >= limits_.max_streams_per_credential) {
      return "one credential or address has " + std::to_string(it->second) +
             " streams here, which is the limit (max-streams-per-credential)";
    }
    if (inboxes_ > limits_.max_inboxes) {
      return "more than " + std::to_string(limits_.max_inboxes) +
             " bytes of executors' messages wait to be handled (max-inboxes); try again";
    }
    return "";
  }

  const AccessGate& gate_;
  GatewayListener* const listener_;
  RunLogSink* const logs_;
  Clock& clock_;
  const RpcLimits limits_;
  std::atomic<size_t> inboxes_ = 0;  // bytes that wait, of all streams
  absl::Mutex mutex_;
  std::unordered_map<std::string, int> streams_of_ ABSL_GUARDED_BY(mutex_);  // by caller
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::string node_id_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> nodes_ ABSL_GUARDED_BY(mutex_);  // all that live
  StreamId last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unordered_map<StreamId, Stream*> streams_ ABSL_GUARDED_BY(mutex_);
};

ExecutorGateway::ExecutorGateway(const AccessGate& gate, GatewayListener* listener,
                                 RunLogSink* logs, Clock& clock, RpcLimits limits)
    : impl_(std::make_unique<Impl>(gate, listener, logs, clock, limits)) {}
ExecutorGateway::~ExecutorGateway() = default;
grpc::Service* ExecutorGateway::service() { return impl_.get(); }
void ExecutorGateway::SetNode(const std::string& node_id) { impl_->SetNode(node_id); }
void ExecutorGateway::SetNodes(std::vector<std::string> addresses) {
  impl_->SetNodes(std::move(addresses));
}
void ExecutorGateway::Send(const std::vector<Outbound>& messages) { impl_->Send(messages); }
void ExecutorGateway::Handled(StreamId stream, size_t bytes) { impl_->Handled(stream, bytes); }
void ExecutorGateway::Close(StreamId stream) { impl_->Close(stream); }
void ExecutorGateway::Deny(StreamId stream, const std::string& why) { impl_->Deny(stream, why); }
void ExecutorGateway::Recheck() { impl_->Recheck(); }
void ExecutorGateway::CloseAll() { impl_->CloseAll(); }

}  // namespace tidemark
