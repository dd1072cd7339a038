// The door that every request passes, whatever brought it: gRPC or HTTP.
#ifndef TIDEMARK_SCHEDULER_ACCESS_ACCESS_GATE_H_
#define TIDEMARK_SCHEDULER_ACCESS_ACCESS_GATE_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "scheduler/access/authenticator.h"
#include "scheduler/access/identity.h"
#include "scheduler/access/rate_limiter.h"

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

// Thread-safe. What it is made of must outlive it.
class AccessGate {
 public:
  // `limiter` bounds how often an operator's credential (or, where nobody is asked who he is, an
  // address) may ask; null: nothing does. Executors' streams are bounded by their number instead.
  explicit AccessGate(const Authenticator& authenticator, RateLimiter* limiter = nullptr)
      : authenticator_(authenticator), limiter_(limiter) {}

  // `method`: "OperatorService/ApplyJobs"; `authorization`: the header of that name, or ""; `peer`:
  // address for the audit. UNAUTHENTICATED, PERMISSION_DENIED, RESOURCE_EXHAUSTED, or UNAVAILABLE
  // as Authenticator has it. A refusal is logged.
  absl::StatusOr<Admitted> Admit(std::string_view method, std::string_view authorization,
                                 std::string_view peer) const;
  // Whether Admit would let this caller in, as far as credential and role say: for those who want
  // to know before they take the trouble to read a request. Counts nowhere.
  absl::Status Check(std::string_view method, std::string_view authorization,
                     std::string_view peer) const;
  // The same caller for another method, too: who approves an order must be allowed to give it.
  absl::StatusOr<Admitted> AdmitAlso(const Admitted& caller, std::string_view method) const;

  const Authenticator& authenticator() const { return authenticator_; }

 private:
  absl::StatusOr<Identity> Judge(std::string_view method, std::string_view authorization,
                                 std::string_view peer) const;

  const Authenticator& authenticator_;
  RateLimiter* const limiter_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ACCESS_ACCESS_GATE_H_
