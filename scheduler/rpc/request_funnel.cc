#include "scheduler/rpc/request_funnel.h"

#include "common/text.h"
#include "scheduler/rpc/json_gateway.h"

namespace tidemark {
namespace {

constexpr char kHeader[] = "authorization";
constexpr size_t kMaxPeer = 128;

}  // namespace

Caller CallerOf(const Admitted& admitted) {
  const Identity& identity = admitted.identity();
  return {identity.ns, identity.token_id, admitted.peer()};
}

absl::StatusOr<Admitted> AdmitCall(const AccessGate& gate,
                                   const grpc::CallbackServerContext& context,
                                   std::string_view method) {
  const auto& metadata = context.client_metadata();
  const auto [first, last] = metadata.equal_range(kHeader);
  // Two of them: which one is meant is not ours to guess.
  if (first != last && std::next(first) != last) {
    return absl::UnauthenticatedError("two tokens were sent; send one");
  }
  std::string_view authorization;
  if (first != last) authorization = {first->second.data(), first->second.size()};
  return gate.Admit(method, authorization, CleanText(PeerOf(context), kMaxPeer));
}

grpc::ServerUnaryReactor* RequestFunnel::Run(grpc::CallbackServerContext* context,
                                             std::string_view method,
                                             std::function<void(const Admitted&, Done)> work) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::StatusOr<Admitted> admitted = AdmitCall(gate_, *context, method);
  if (!admitted.ok()) {
    reactor->Finish(ToGrpc(admitted.status()));
    return reactor;
  }
  const absl::Status taken =
      workers_.Run([context, reactor, admitted = *std::move(admitted), work = std::move(work)] {
        // Whoever asked has gone: spare the database.
        if (context->IsCancelled()) {
          reactor->Finish(grpc::Status::CANCELLED);
          return;
        }
        work(admitted, [reactor](const absl::Status& status) { reactor->Finish(ToGrpc(status)); });
      });
  if (!taken.ok()) reactor->Finish(ToGrpc(taken));
  return reactor;
}

}  // namespace tidemark
