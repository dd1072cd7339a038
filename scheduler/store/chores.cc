#include "scheduler/store/chores.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/log.h"
#include "common/status.h"
#include "scheduler/store/lease.h"

namespace tidemark {

// History is dropped soon after the start, for nodes that never live as long as the interval; not
// at once, which is for catching up.
Chores::Chores(const StoreOptions& options, absl::Duration now, std::function<bool()> stopping)
    : options_(options),
      stopping_(std::move(stopping)),
      next_check_(now + options.partition_check),
      next_drop_(now + options.retention_check / 12) {}

void Chores::Look(Connection& connection, absl::Duration now) {
  if (now >= next_drop_) {
    DropOldPartitions(connection);
    next_drop_ = now + options_.retention_check;
  }
  if (now >= next_check_ && Housekeeping(connection).ok()) {
    next_check_ = now + options_.partition_check;
  }
}

void Chores::DropOldPartitions(Connection& connection) {
  while (!stopping_()) {
    const absl::StatusOr<std::string> dropped = DropOldPartition(connection, options_.retention);
    if (!dropped.ok()) {
      LogInfo("old history was not dropped: tried again later",
              {{"error", Message(dropped.status())}});
      return;
    }
    if (dropped->empty()) return;
    LogInfo("history older than its retention was dropped", {{"partition", *dropped}});
  }
}

}  // namespace tidemark
