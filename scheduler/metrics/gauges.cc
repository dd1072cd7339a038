#include "scheduler/metrics/gauges.h"

#include <map>
#include <string>
#include <utility>

namespace tidemark {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// Appends families one by one.
class Families {
 public:
  void Gauge(const char* name, const char* help, double value) {
    Family(name, help, MetricType::Gauge).metric.push_back(Value(value));
  }
  void Gauge(const char* name, const char* help, const std::optional<absl::Duration>& value) {
    if (value.has_value()) Gauge(name, help, absl::ToDoubleSeconds(*value));
  }
  void Gauge(const char* name, const char* help, const std::optional<int64_t>& value) {
    if (value.has_value()) Gauge(name, help, static_cast<double>(*value));
  }
  void Counter(const char* name, const char* help, uint64_t value) {
    ClientMetric metric;
    metric.counter.value = static_cast<double>(value);
    Family(name, help, MetricType::Counter).metric.push_back(std::move(metric));
  }
  MetricFamily& Family(const char* name, const char* help, MetricType type) {
    MetricFamily& family = families_.emplace_back();
    family.name = name;
    family.help = help;
    family.type = type;
    return family;
  }
  static ClientMetric Value(double value,
                            std::vector<std::pair<std::string, std::string>> labels = {}) {
    ClientMetric metric;
    metric.gauge.value = value;
    for (auto& [name, text] : labels) metric.label.push_back({name, std::move(text)});
    return metric;
  }
  std::vector<MetricFamily> Take() { return std::move(families_); }

 private:
  std::vector<MetricFamily> families_;
};

void Sum(EngineGauges::App& to, const EngineGauges::App& from) {
  to.executors_up += from.executors_up;
  to.executors_draining += from.executors_draining;
  to.executors_lost += from.executors_lost;
  to.slots += from.slots;
  to.slots_used += from.slots_used;
  to.waiting += from.waiting;
  to.catch_up_waiting += from.catch_up_waiting;
  to.catch_up_slots_used += from.catch_up_slots_used;
}

void AddApps(const EngineGauges& gauges, AppLabels& labels, Families& out) {
  std::map<std::string, EngineGauges::App> apps;
  for (const auto& [name, app] : gauges.apps) Sum(apps[labels.Of(name)], app);
  MetricFamily& executors =
      out.Family("tidemark_executors", "Executors by app and state", MetricType::Gauge);
  for (const auto& [name, app] : apps) {
    executors.metric.push_back(Families::Value(app.executors_up, {{"app", name}, {"state", "up"}}));
    executors.metric.push_back(
        Families::Value(app.executors_draining, {{"app", name}, {"state", "draining"}}));
    executors.metric.push_back(
        Families::Value(app.executors_lost, {{"app", name}, {"state", "lost"}}));
  }
  const auto each = [&](const char* name, const char* help, int EngineGauges::App::* member) {
    MetricFamily& family = out.Family(name, help, MetricType::Gauge);
    for (const auto& [app, values] : apps) {
      family.metric.push_back(Families::Value(values.*member, {{"app", app}}));
    }
  };
  each("tidemark_slots", "Runs that the executors that are up take at once",
       &EngineGauges::App::slots);
  each("tidemark_slots_used", "Runs that executors have", &EngineGauges::App::slots_used);
  each("tidemark_runs_waiting", "Runs that wait for their turn, an executor or a back-off",
       &EngineGauges::App::waiting);
  each("tidemark_catch_up_waiting", "Runs of missed dates that wait for a slot",
       &EngineGauges::App::catch_up_waiting);
  each("tidemark_catch_up_slots_used", "Runs of missed dates that executors have",
       &EngineGauges::App::catch_up_slots_used);
}

void AddNode(const NodeGauges& gauges, Families& out) {
  out.Gauge("tidemark_active", "1 while this node schedules", gauges.engine.active ? 1.0 : 0.0);
  out.Gauge("tidemark_clock_held", "1 while nothing fires because the database's clock stepped",
            gauges.engine.holding ? 1.0 : 0.0);
  out.Gauge("tidemark_shards_owned", "Shards of this node", double(gauges.engine.shards));
  out.Gauge("tidemark_jobs", "Jobs of this node", double(gauges.engine.jobs));
  out.Gauge("tidemark_runs_live", "Live runs of this node", double(gauges.engine.live_runs));
  out.Gauge("tidemark_executor_streams", "Executors' streams", double(gauges.engine.streams));
  out.Gauge("tidemark_loop_idle_seconds", "Since the engine's loop turned last", gauges.loop_idle);
  out.Gauge("tidemark_lease_remaining_seconds", "Until this node stops unless its lease is renewed",
            gauges.lease_left);
  out.Gauge("tidemark_lease_age_seconds", "Since this node took charge", gauges.lease_age);
  out.Gauge("tidemark_clock_offset_seconds", "The database's clock less this machine's",
            gauges.clock_offset);
  out.Gauge("tidemark_clock_uncertainty_seconds", "How exactly the database's clock is known",
            gauges.clock_uncertainty);
}

void AddLedger(const NodeGauges& gauges, Families& out) {
  out.Gauge("tidemark_unsettled_dates", "Due dates of all jobs that are not settled",
            gauges.unsettled_dates);
  out.Gauge("tidemark_oldest_unsettled_date_age_seconds",
            "Since the oldest unsettled date of a job that is not paused was due; 0: there is none",
            gauges.oldest_unsettled_age);
  out.Gauge("tidemark_alerts_open", "Alerts that nothing has resolved", gauges.open_alerts);
  out.Gauge("tidemark_alerts_pending", "Alerts' messages that no channel took yet",
            gauges.pending_alerts);
  out.Gauge("tidemark_oldest_pending_alert_age_seconds", "Of the oldest of these; 0: there is none",
            gauges.oldest_pending_alert_age);
}

}  // namespace

std::vector<MetricFamily> GaugeFamilies(const NodeGauges& gauges, AppLabels& apps) {
  Families out;
  AddNode(gauges, out);
  AddApps(gauges.engine, apps, out);
  AddLedger(gauges, out);
  out.Gauge("tidemark_http_connections", "HTTP connections", double(gauges.http_connections));
  out.Counter("tidemark_http_accepted_total", "HTTP connections accepted", gauges.http_accepted);
  out.Counter("tidemark_http_displaced_total",
              "HTTP connections that gave way to others at http-max-connections",
              gauges.http_displaced);
  out.Counter("tidemark_http_timed_out_total", "HTTP connections that were too slow",
              gauges.http_timed_out);
  out.Counter("tidemark_http_bad_total", "HTTP requests that were none, or over a limit",
              gauges.http_bad);
  out.Counter("tidemark_log_lines_suppressed_total", "Log lines not written because they repeated",
              static_cast<uint64_t>(gauges.log_lines_suppressed));
  return out.Take();
}

}  // namespace tidemark
