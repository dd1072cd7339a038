// `tidemark cron next` and `tidemark cron explain`: need no server.
#ifndef TIDEMARK_SCHEDULER_CLI_CRON_COMMAND_H_
#define TIDEMARK_SCHEDULER_CLI_CRON_COMMAND_H_

#include <iosfwd>
#include <string>

#include "absl/time/time.h"

namespace tidemark {

// The flags as given; both commands take the same.
struct CronOptions {
  std::string expression;
  std::string zone = "UTC";  // --zone
  std::string from;          // --from, RFC 3339; "" is `now`
  int count = 5;             // -n, 1–10000
  std::string dialect;       // --dialect quartz|spring|vixie; "" is by field count
  bool json = false;         // -o json
  absl::Time now;            // what an empty `from` means
};

// Prints the next fires. Table: one RFC 3339 time a line with the zone's offset and its weekday,
// "never" where the chain ends; the dialect first, warnings last. JSON: {"fires": […], "never":
// true when the chain ends before `count` fires, "dialect": …, "warnings": […]}.
// Returns the exit code: 0, or 2 with the reason on `err` for a refused expression, zone or flag.
int RunCronNext(const CronOptions& options, std::ostream& out, std::ostream& err);

// The same, with the expression in words ("words" in JSON) before the fires.
int RunCronExplain(const CronOptions& options, std::ostream& out, std::ostream& err);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CLI_CRON_COMMAND_H_
