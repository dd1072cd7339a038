// What the watch of the daily check asks of the database: a port that the store implements.
#ifndef TIDEMARK_SCHEDULER_ENGINE_WATCH_PORT_H_
#define TIDEMARK_SCHEDULER_ENGINE_WATCH_PORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/engine/ports.h"

namespace tidemark {

// A job as its rows have it.
struct WatchJob {
  JobRow row;
  absl::Time check_from;  // what was expected by then gets no verdict
  // Dates about which the watch has told and nothing has ended it.
  std::vector<absl::CivilDay> open_missing;
  std::vector<absl::CivilDay> open_disagrees;
};
struct WatchPage {
  absl::Time now;              // of the database
  std::vector<WatchJob> jobs;  // by job_id
  bool more = false;
};

// What is kept of a due date.
struct WatchDate {
  int64_t job_id = 0;
  absl::CivilDay date;
  std::string status;   // of the watermark; "": no row
  std::string verdict;  // of the check; "": none
  std::string state;    // the ledger's word when it was given
  absl::Time checked_at;
  std::optional<absl::Time> undone_at;  // when a settled watermark of it was last taken away
  bool told = false;                    // there is an alert that says that it was missed
};

// What a part of a look came to.
struct WatchFindings {
  std::vector<AlertRaise> raise;
  std::vector<std::string> resolve;  // dedup_keys
};

// How a look ended.
struct WatchLook {
  int64_t jobs = 0;
  int64_t dates = 0;
  std::string error;  // "": it came to its end
};

// What the ping depends on.
struct WatchHealth {
  absl::Time now;
  int unowned_shards = 0;  // without a live owner
  // Alerts that no channel took for longer than asked, though one should have; and the oldest.
  int undelivered = 0;
  std::optional<absl::Time> undelivered_since;
  int missing = 0;      // dates without a verdict, as the watch has told
  int disagreeing = 0;  // … with one that cannot be right
  // Nodes that are up, for as long as asked, and have not looked since: with their last look.
  std::vector<std::pair<std::string, std::optional<absl::Time>>> blind;
};

// How the ping fares. Times are the database's.
struct PingState {
  bool pings = false;
  bool pinged = false;               // just now
  std::string error;                 // it was sent and not taken
  std::vector<std::string> reasons;  // not empty: withheld
};

// Used by one thread, but for Close. Errors as those of the store; times are the database's.
class WatchPort {
 public:
  virtual ~WatchPort() = default;

  // Jobs with a greater id than `after`, at most `limit`, of the shards that this node does not
  // own; of all when no other node is up.
  virtual absl::StatusOr<WatchPage> Jobs(const std::string& node, int64_t after, int limit) = 0;
  // Those dates, in the order of the question.
  virtual absl::StatusOr<std::vector<WatchDate>> Dates(
      const std::vector<std::pair<int64_t, absl::CivilDay>>& dates) = 0;
  virtual absl::Status Tell(const WatchFindings& findings) = 0;
  // Ends also what was told of jobs that are no more.
  virtual absl::Status Looked(const std::string& node, const WatchLook& look) = 0;

  // `late`: for so long an alert may wait. `blind_after`: so long a node may go without a look.
  virtual absl::StatusOr<WatchHealth> Health(absl::Duration late, absl::Duration blind_after) = 0;
  virtual absl::Status Pinged(const std::string& node, const PingState& state) = 0;

  // Ends what is in progress, and all later calls, with UNAVAILABLE.
  virtual void Close() = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_WATCH_PORT_H_
