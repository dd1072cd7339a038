// From a credential to an identity, without asking the database.
#ifndef TIDEMARK_SCHEDULER_ACCESS_AUTHENTICATOR_H_
#define TIDEMARK_SCHEDULER_ACCESS_AUTHENTICATOR_H_

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "scheduler/access/identity.h"
#include "scheduler/access/token.h"

namespace tidemark {

// Knows the valid tokens as they were when it was loaded last, and counts on from the database's
// time then: the node's wall clock decides nothing. Thread-safe. The clock must outlive it.
class Authenticator {
 public:
  // `insecure`: everybody is InsecureIdentity(), whatever they send.
  Authenticator(bool insecure, Clock& clock) : insecure_(insecure), clock_(clock) {}

  bool insecure() const { return insecure_; }

  // Replaces what it knows. `now`: of the database, when the tokens were read.
  void Load(std::vector<TokenRecord> tokens, absl::Time now);
  // How many it knows; -1 before the first Load.
  int size() const;

  // `authorization`: value of the header of that name ("Bearer tmk_…"), "" when there was none.
  // UNAUTHENTICATED: missing, malformed, unknown, revoked or expired (which of the last three is
  // not said). UNAVAILABLE: before the first Load.
  absl::StatusOr<Identity> Authenticate(std::string_view authorization) const;
  // Whether an identity that it gave out still stands; for what stays open. UNAUTHENTICATED.
  absl::Status Check(const Identity& identity) const;

 private:
  struct Book {
    std::unordered_map<std::string, TokenRecord> by_hash;
    std::unordered_map<std::string, absl::Time> expiry;  // by token_id
    absl::Time now;
    absl::Duration loaded;  // monotonic
  };
  absl::Time Now(const Book& book) const;

  const bool insecure_;
  Clock& clock_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<const Book> book_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ACCESS_AUTHENTICATOR_H_
