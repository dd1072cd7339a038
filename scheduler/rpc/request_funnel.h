// The one way from a request of an operator to work: admitted first, then a worker thread.
#ifndef TIDEMARK_SCHEDULER_RPC_REQUEST_FUNNEL_H_
#define TIDEMARK_SCHEDULER_RPC_REQUEST_FUNNEL_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"
#include "scheduler/access/access_gate.h"
#include "scheduler/engine/caller.h"
#include "scheduler/rpc/operator_workers.h"
#include "scheduler/rpc/rpc_status.h"

namespace tidemark {

// What the stores show to an admitted caller, and what they write to the audit.
Caller CallerOf(const Admitted& admitted);

// Admits the caller of a gRPC method ("OperatorService/ApplyJobs") by its metadata.
absl::StatusOr<Admitted> AdmitCall(const AccessGate& gate,
                                   const grpc::CallbackServerContext& context,
                                   std::string_view method);

// The services' handlers get work through it alone: what they need (the stores as the caller may
// see them) is made of an Admitted, and only the gate makes those. Thread-safe; owns its threads.
// The gate must outlive it.
class RequestFunnel {
 public:
  // To be called once, from any thread.
  using Done = std::function<void(const absl::Status&)>;

  RequestFunnel(const AccessGate& gate, int workers, size_t queue)
      : gate_(gate), workers_(workers, queue) {}

  const AccessGate& gate() const { return gate_; }
  // Finishes what is queued and refuses what comes.
  void Stop() { workers_.Stop(); }

  // Runs `work` on a worker, with the request in the name of who was admitted, and ends the call
  // with what it says. A refusal ends it at once: nothing was done.
  template <typename Request>
  grpc::ServerUnaryReactor* Pass(
      grpc::CallbackServerContext* context, std::string_view method, const Request* request,
      std::type_identity_t<std::function<void(const Admitted&, const Request&, Done)>> work) {
    return Run(context, method,
               [request, work = std::move(work)](const Admitted& admitted, Done done) {
                 if constexpr (requires(Request r) { r.set_actor(std::string()); }) {
                   Request asked = *request;
                   asked.set_actor(admitted.Actor(request->actor()));
                   work(admitted, asked, std::move(done));
                 } else {
                   work(admitted, *request, std::move(done));
                 }
               });
  }

 private:
  grpc::ServerUnaryReactor* Run(grpc::CallbackServerContext* context, std::string_view method,
                                std::function<void(const Admitted&, Done)> work);

  const AccessGate& gate_;
  OperatorWorkers workers_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_REQUEST_FUNNEL_H_
