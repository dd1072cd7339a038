// The watch of the daily check, in the database.
#ifndef TIDEMARK_SCHEDULER_STORE_WATCH_STORE_H_
#define TIDEMARK_SCHEDULER_STORE_WATCH_STORE_H_

#include <string>
#include <utility>
#include <vector>

#include "scheduler/engine/watch_port.h"
#include "scheduler/store/session.h"

namespace tidemark {

// Owns a connection, opened when it is needed and again after it broke. Takes no lock that a flush
// of the engine waits for, but those of the alerts that it writes.
class WatchStore : public WatchPort {
 public:
  explicit WatchStore(DatabaseOptions options) : session_(std::move(options)) {}

  absl::StatusOr<WatchPage> Jobs(const std::string& node, int64_t after, int limit) override;
  absl::StatusOr<std::vector<WatchDate>> Dates(
      const std::vector<std::pair<int64_t, absl::CivilDay>>& dates) override;
  absl::Status Tell(const WatchFindings& findings) override;
  absl::Status Looked(const std::string& node, const WatchLook& look) override;
  absl::StatusOr<WatchHealth> Health(absl::Duration late, absl::Duration blind_after) override;
  absl::Status Pinged(const std::string& node, const PingState& state) override;
  void Close() override { session_.Close(); }

 private:
  Session session_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_WATCH_STORE_H_
