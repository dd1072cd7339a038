// The door that every request passes, whatever brought it: gRPC or HTTP.
#ifndef TIDEMARK_SCHEDULER_ACCESS_ACCESS_GATE_H_
#define TIDEMARK_SCHEDULER_ACCESS_ACCESS_GATE_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "scheduler/access/authenticator.h"
#include "scheduler/access/identity.h"

namespace tidemark {

// A caller that may call one method. Only the gate makes one, and what carries out requests takes
// one: so no handler can be reached past it.
class Admitted {
 public:
  const Identity& identity() const { return identity_; }
  const std::string& peer() const { return peer_; }
  const std::string& method() const { return method_; }

  // Who orders it: the token's name; where nobody is asked, what the message says (`claimed`), as
  // text that is fit to be stored.
  std::string Actor(std::string_view claimed) const;

 private:
  friend class AccessGate;
  Admitted(Identity identity, std::string peer, std::string method)
      : identity_(std::move(identity)), peer_(std::move(peer)), method_(std::move(method)) {}

  Identity identity_;
  std::string peer_;
  std::string method_;
};

// Thread-safe. The authenticator must outlive it.
class AccessGate {
 public:
  explicit AccessGate(const Authenticator& authenticator) : authenticator_(authenticator) {}

  // `method`: "OperatorService/ApplyJobs"; `authorization`: the header of that name, or ""; `peer`:
  // address for the audit. UNAUTHENTICATED, PERMISSION_DENIED, or UNAVAILABLE as Authenticator has
  // it. A refusal is logged.
  absl::StatusOr<Admitted> Admit(std::string_view method, std::string_view authorization,
                                 std::string_view peer) const;
  // The same caller for another method, too: who approves an order must be allowed to give it.
  absl::StatusOr<Admitted> AdmitAlso(const Admitted& caller, std::string_view method) const;

  const Authenticator& authenticator() const { return authenticator_; }

 private:
  const Authenticator& authenticator_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ACCESS_ACCESS_GATE_H_
