#include "scheduler/access/access_gate.h"

#include <utility>

#include "common/log.h"
#include "common/status.h"
#include "common/text.h"
#include "scheduler/access/authorizer.h"

namespace tidemark {
namespace {

constexpr size_t kMaxActor = 128;

void LogRefusal(const absl::Status& status, std::string_view method, std::string_view peer) {
  if (absl::IsUnavailable(status)) return;
  LogWarn("access refused",
          {{"method", std::string(method)}, {"peer", std::string(peer)}, {"why", Message(status)}});
}

}  // namespace

std::string Admitted::Actor(std::string_view claimed) const {
  if (identity_.authenticated) return identity_.name;
  return CleanText(claimed.empty() ? "unknown" : claimed, kMaxActor);
}

absl::StatusOr<Identity> AccessGate::Judge(std::string_view method, std::string_view authorization,
                                           std::string_view peer) const {
  absl::StatusOr<Identity> identity = authenticator_.Authenticate(authorization);
  const absl::Status status =
      identity.ok() ? Authorize(*identity, method) : absl::Status(identity.status());
  if (status.ok()) return identity;
  LogRefusal(status, method, peer);
  return status;
}

absl::StatusOr<Admitted> AccessGate::Admit(std::string_view method, std::string_view authorization,
                                           std::string_view peer) const {
  TM_ASSIGN_OR_RETURN(Identity identity, Judge(method, authorization, peer));
  if (limiter_ != nullptr && identity.role != Role::kExecutor) {
    // A token's bucket is its own wherever it is used from.
    const std::string key =
        identity.authenticated ? identity.token_id : AddressOf(std::string(peer));
    if (const absl::Status status = limiter_->Take(key); !status.ok()) {
      LogRefusal(status, method, peer);
      return status;
    }
  }
  return Admitted(std::move(identity), std::string(peer), std::string(method));
}

absl::Status AccessGate::Check(std::string_view method, std::string_view authorization,
                               std::string_view peer) const {
  return Judge(method, authorization, peer).status();
}

absl::StatusOr<Admitted> AccessGate::AdmitAlso(const Admitted& caller,
                                               std::string_view method) const {
  if (const absl::Status status = Authorize(caller.identity(), method); !status.ok()) {
    LogRefusal(status, method, caller.peer());
    return status;
  }
  return Admitted(caller.identity(), caller.peer(), std::string(method));
}

}  // namespace tidemark
