// What the engine wants done, as data. Carried out by the loop in the order of the fields.
#ifndef TIDEMARK_SCHEDULER_ENGINE_EFFECTS_H_
#define TIDEMARK_SCHEDULER_ENGINE_EFFECTS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/engine/messages.h"
#include "scheduler/engine/ports.h"

namespace tidemark {

struct LogLine {
  enum class Level { kInfo, kWarn, kError } level = Level::kInfo;
  std::string event;
  std::vector<std::pair<std::string, std::string>> fields;
};

struct Effects {
  std::vector<Outbound> messages;
  std::vector<StreamId> close;  // after the messages
  // Streams that said what they have no right to, with the reason; they end.
  std::vector<std::pair<StreamId, std::string>> deny;
  std::optional<Flush> flush;  // at most one is in flight
  std::vector<LedgerQuery> queries;
  std::vector<std::string> commands_done;  // ids whose outcome is committed: wake who waits
  std::vector<LogLine> logs;               // last: nobody waits for them

  bool empty() const {
    return logs.empty() && messages.empty() && close.empty() && deny.empty() &&
           !flush.has_value() && queries.empty() && commands_done.empty();
  }
};

// The moment of an event. `lo` and `hi` bound the database's time.
struct Moment {
  absl::Duration mono;
  absl::Time lo;
  absl::Time hi;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_EFFECTS_H_
