// How this node fares: for health checks, metrics, and grpc.health.v1.
#ifndef TIDEMARK_SCHEDULER_NODE_STATUS_H_
#define TIDEMARK_SCHEDULER_NODE_STATUS_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/clock.h"
#include "scheduler/alerts/turn_thread.h"
#include "scheduler/engine_loop.h"
#include "scheduler/http/http_server.h"
#include "scheduler/metrics/metrics.h"
#include "scheduler/store/scheduler_store.h"
#include "scheduler/store/standing.h"

namespace tidemark {

// Thread-safe after Start. What it is given must outlive it. It asks the database how the whole
// stands only while somebody reads the metrics, from a thread and a connection of its own.
class NodeStatus {
 public:
  NodeStatus(const EngineLoop& loop, DatabaseOptions database, Metrics& metrics, Clock& clock);
  ~NodeStatus();  // stops

  // The store and the HTTP server come and go; null: there is none.
  void SetStore(const SchedulerStore* store) { store_ = store; }
  void SetHttp(const HttpServer* http) { http_ = http; }
  void Start() { reader_thread_.Start(); }
  void Stop();

  // Why the process should be restarted; empty: it is alive. The engine's loop has not turned for
  // kStuck.
  std::vector<std::string> NotAlive() const;
  // Why it does not schedule now; empty: it does.
  std::vector<std::string> NotReady() const;
  // In Prometheus's text format. What the database knows is as of the call before, if that is no
  // older than kStale, and missing otherwise.
  std::string MetricsText();

  static constexpr absl::Duration kStuck = absl::Seconds(15);
  static constexpr absl::Duration kFresh = absl::Seconds(5);  // not asked again so soon
  static constexpr absl::Duration kStale = absl::Minutes(5);

 private:
  absl::Duration ReadStanding();

  const EngineLoop& loop_;
  Metrics& metrics_;
  Clock& clock_;
  std::atomic<const SchedulerStore*> store_ = nullptr;
  std::atomic<const HttpServer*> http_ = nullptr;
  StandingReader reader_;
  std::atomic<bool> wanted_ = false;
  mutable absl::Mutex mutex_;
  std::optional<Standing> standing_ ABSL_GUARDED_BY(mutex_);
  absl::Duration read_at_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
  TurnThread reader_thread_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_NODE_STATUS_H_
