// What a node counts and measures, as Prometheus reads it.
#ifndef TIDEMARK_SCHEDULER_METRICS_METRICS_H_
#define TIDEMARK_SCHEDULER_METRICS_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "scheduler/engine/tally.h"

namespace tidemark {

// The values of a moment. What is unset is not shown.
struct NodeGauges {
  EngineGauges engine;
  std::optional<absl::Duration> loop_idle;  // since the loop's last turn
  std::optional<absl::Duration> lease_left;
  std::optional<absl::Duration> lease_age;          // of the term
  std::optional<absl::Duration> clock_offset;       // database − this machine's wall clock
  std::optional<absl::Duration> clock_uncertainty;  // width of the interval that holds it
  // From the database, for the whole cluster:
  std::optional<int64_t> unsettled_dates;
  std::optional<absl::Duration> oldest_unsettled_age;  // since the fire time; zero: none
  std::optional<int64_t> open_alerts;
  std::optional<int64_t> pending_alerts;  // messages that no channel took yet
  std::optional<absl::Duration> oldest_pending_alert_age;
  // HTTP:
  uint64_t http_connections = 0;
  uint64_t http_accepted = 0;
  uint64_t http_displaced = 0;
  uint64_t http_timed_out = 0;
  uint64_t http_bad = 0;
  int64_t log_lines_suppressed = 0;
};

// Thread-safe; adding is cheap. Labels are bounded: `app` by kMostApps, others by what the code
// names; never a run, and never a job.
class Metrics {
 public:
  static constexpr size_t kMostApps = 100;

  // `version`, `node`: shown by tidemark_build_info.
  Metrics(const std::string& version, const std::string& node);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void Add(const Tally& tally);
  void ObserveFlush(size_t rows, absl::Duration took);
  // `lag`: how long the oldest event of the turn had waited.
  void ObserveTurn(absl::Duration lag, absl::Duration took);
  // A request or stream that a limit refused; `limit` is its configuration key.
  void CountRefusal(const std::string& limit);

  // Prometheus's text format.
  std::string Text(const NodeGauges& gauges);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_METRICS_METRICS_H_
