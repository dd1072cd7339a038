#include "scheduler/node_status.h"

#include <utility>

#include "common/log_control.h"
#include "common/time_text.h"

namespace tidemark {

NodeStatus::NodeStatus(const EngineLoop& loop, DatabaseOptions database, Metrics& metrics,
                       Clock& clock)
    : loop_(loop),
      metrics_(metrics),
      clock_(clock),
      reader_(std::move(database)),
      reader_thread_([this] { return ReadStanding(); }) {}

NodeStatus::~NodeStatus() { Stop(); }

void NodeStatus::Stop() {
  reader_.Close();
  reader_thread_.Stop();
}

absl::Duration NodeStatus::ReadStanding() {
  if (!wanted_.exchange(false)) return TurnThread::kPoll;
  absl::StatusOr<Standing> standing = reader_.Read();
  absl::MutexLock lock(&mutex_);
  read_at_ = clock_.Monotonic();
  standing_.reset();
  if (standing.ok()) standing_ = *standing;
  return TurnThread::kPoll;
}

std::vector<std::string> NodeStatus::NotAlive() const {
  const std::optional<absl::Duration> idle = loop_.GetStatus().idle;
  if (!idle.has_value() || *idle < kStuck) return {};
  return {"the engine's loop has not turned for " +
          DurationText(absl::Floor(*idle, absl::Seconds(1)))};
}

std::vector<std::string> NodeStatus::NotReady() const {
  std::vector<std::string> problems = NotAlive();
  const SchedulerStore* store = store_;
  if (store == nullptr) {
    problems.emplace_back("the scheduler is starting or stopping");
    return problems;
  }
  const StoreHealth health = store->Health();
  if (!health.problem.empty()) {
    problems.push_back(health.problem);
  } else if (!health.owns) {
    problems.emplace_back("this node has no lease");
  }
  const EngineGauges gauges = loop_.GetStatus().gauges;
  if (gauges.holding) {
    problems.emplace_back("the database's clock stepped: nothing fires until it is trusted again");
  }
  return problems;
}

std::string NodeStatus::MetricsText() {
  NodeGauges gauges;
  EngineLoop::Status loop = loop_.GetStatus();
  gauges.engine = std::move(loop.gauges);
  gauges.loop_idle = loop.idle;
  gauges.clock_offset = loop.clock_offset;
  gauges.clock_uncertainty = loop.clock_uncertainty;
  if (const SchedulerStore* store = store_; store != nullptr) {
    const StoreHealth health = store->Health();
    gauges.lease_left = health.lease_left;
    gauges.lease_age = health.term_age;
  }
  if (const HttpServer* http = http_; http != nullptr) {
    const HttpCounts counts = http->counts();
    gauges.http_connections = counts.open;
    gauges.http_accepted = counts.accepted;
    gauges.http_displaced = counts.displaced;
    gauges.http_timed_out = counts.timed_out;
    gauges.http_bad = counts.bad;
  }
  gauges.log_lines_suppressed = SuppressedLogs();
  {
    absl::MutexLock lock(&mutex_);
    if (standing_.has_value() && clock_.Monotonic() - read_at_ < kStale) {
      gauges.unsettled_dates = standing_->unsettled_dates;
      gauges.oldest_unsettled_age = standing_->oldest_unsettled_age;
      gauges.open_alerts = standing_->open_alerts;
      gauges.pending_alerts = standing_->pending_alerts;
      gauges.oldest_pending_alert_age = standing_->oldest_pending_alert_age;
    }
    if (clock_.Monotonic() - read_at_ >= kFresh && !wanted_.exchange(true)) reader_thread_.Poke();
  }
  return metrics_.Text(gauges);
}

}  // namespace tidemark
