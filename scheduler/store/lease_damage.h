// Rows of a lease that somebody changed by hand: found, and told as alerts.
#ifndef TIDEMARK_SCHEDULER_STORE_LEASE_DAMAGE_H_
#define TIDEMARK_SCHEDULER_STORE_LEASE_DAMAGE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/store/database.h"
#include "scheduler/store/flush_writer.h"

namespace tidemark {

// A term that is over as its owner sees it.
struct EndedTerm {
  Owner owner;
  bool renewed_lately = false;  // its lease cannot have run out
  int shards = 0;               // that it had taken
};

// What was done to its rows, in a sentence; nullopt: nothing, it ended as terms do.
absl::StatusOr<std::optional<std::string>> FindLeaseDamage(Connection& connection,
                                                           const EndedTerm& term);

// Raises the alert of what FindLeaseDamage found, once a term. `alert_id`: a new UUID.
absl::Status TellLeaseDamage(Connection& connection, const EndedTerm& term,
                             const std::string& damage, const std::string& alert_id);
// Likewise of shards that named an owner whom no fence knows, once they are fenced.
absl::Status TellUnknownOwner(Connection& connection, const Owner& unknown,
                              const std::string& alert_id);

// Watches for leases that would last for days: a dead node's shards would wait as long. A live
// node's next renewal puts its own right, so that only those that stay are told. Used by one
// thread, for one term.
class EndlessLeases {
 public:
  // `nodes`: that have one now.
  absl::Status Look(Connection& connection, const std::vector<std::string>& nodes,
                    absl::Duration now, const std::string& alert_id);

 private:
  std::vector<std::string> nodes_;  // at the last look
  absl::Duration since_;            // when they were first the same
  std::optional<bool> told_;        // unset: an earlier term may have told
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_LEASE_DAMAGE_H_
