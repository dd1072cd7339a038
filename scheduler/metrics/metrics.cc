#include "scheduler/metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "common/mutex.h"
#include "scheduler/metrics/app_labels.h"
#include "scheduler/metrics/gauges.h"

namespace tidemark {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Histogram;
using prometheus::Registry;

Family<Counter>& Counters(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

Histogram& OneHistogram(Registry& registry, const char* name, const char* help,
                        const std::vector<double>& bounds) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, bounds);
}

std::vector<double> SecondsBounds() {
  return {SecondsHistogram::kBounds.begin(), SecondsHistogram::kBounds.end()};
}

const std::vector<double>& RowBounds() {
  static const auto* bounds = new std::vector<double>{1, 4, 16, 64, 256, 1024, 4096};
  return *bounds;
}

}  // namespace

class Metrics::Impl {
 public:
  Impl(const std::string& version, const std::string& node) {
    prometheus::BuildGauge()
        .Name("tidemark_build_info")
        .Help("Always 1")
        .Register(registry_)
        .Add({{"version", version}, {"node", node}})
        .Set(1);
  }

  void Add(const Tally& tally) {
    const MutexLock lock(&mutex_);
    for (const auto& [name, app] : tally.apps) AddApp(labels_.Of(name), app);
    const std::vector<double> counts(tally.lateness.counts.begin(), tally.lateness.counts.end());
    lateness_.ObserveMultiple(counts, tally.lateness.sum);
  }

  void ObserveFlush(size_t rows, absl::Duration took) {
    flush_rows_.Observe(static_cast<double>(rows));
    flush_seconds_.Observe(absl::ToDoubleSeconds(took));
  }
  void ObserveTurn(absl::Duration lag, absl::Duration took) {
    loop_lag_.Observe(absl::ToDoubleSeconds(lag));
    loop_turn_.Observe(absl::ToDoubleSeconds(took));
  }
  void CountRefusal(const std::string& limit) { refused_.Add({{"limit", limit}}).Increment(); }

  std::string Text(const NodeGauges& gauges) {
    std::vector<prometheus::MetricFamily> families = registry_.Collect();
    const MutexLock lock(&mutex_);
    for (prometheus::MetricFamily& family : GaugeFamilies(gauges, labels_)) {
      families.push_back(std::move(family));
    }
    return prometheus::TextSerializer().Serialize(families);
  }

 private:
  void AddApp(const std::string& name, const AppTally& app) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const std::map<std::string, std::string> label = {{"app", name}};
    due_.Add(label).Increment(static_cast<double>(app.due));
    fired_.Add(label).Increment(static_cast<double>(app.fired));
    retries_.Add(label).Increment(static_cast<double>(app.retries));
    for (const auto& [status, count] : app.ended) {
      finished_.Add({{"app", name}, {"status", std::string(Name(status))}})
          .Increment(static_cast<double>(count));
    }
    for (const auto& [outcome, count] : app.attempts) {
      attempts_.Add({{"app", name}, {"outcome", std::string(Name(outcome))}})
          .Increment(static_cast<double>(count));
    }
  }

  Registry registry_;
  Family<Counter>& due_ =
      Counters(registry_, "tidemark_due_total", "Occurrences that came due by a schedule");
  Family<Counter>& fired_ = Counters(registry_, "tidemark_fired_total",
                                     "Triggers sent to executors, but those of retries");
  Family<Counter>& retries_ = Counters(registry_, "tidemark_retries_total",
                                       "Triggers sent after an attempt that failed or was lost");
  Family<Counter>& finished_ =
      Counters(registry_, "tidemark_runs_finished_total", "Runs that ended, by status");
  Family<Counter>& attempts_ =
      Counters(registry_, "tidemark_attempts_ended_total", "Attempts that ended, by outcome");
  Family<Counter>& refused_ = Counters(registry_, "tidemark_refused_total",
                                       "What a limit refused, by the limit's configuration key");
  Histogram& lateness_ =
      OneHistogram(registry_, "tidemark_lateness_seconds",
                   "From the fire time of a scheduled run to its trigger", SecondsBounds());
  Histogram& flush_rows_ =
      OneHistogram(registry_, "tidemark_flush_rows", "Rows of a group commit", RowBounds());
  Histogram& flush_seconds_ = OneHistogram(registry_, "tidemark_flush_seconds",
                                           "Duration of a group commit", SecondsBounds());
  Histogram& loop_lag_ = OneHistogram(
      registry_, "tidemark_loop_lag_seconds",
      "How long the oldest event of a turn of the engine's loop had waited", SecondsBounds());
  Histogram& loop_turn_ = OneHistogram(registry_, "tidemark_loop_turn_seconds",
                                       "Duration of a turn of the engine's loop", SecondsBounds());
  Mutex mutex_;
  AppLabels labels_ ABSL_GUARDED_BY(mutex_){kMostApps};
};

Metrics::Metrics(const std::string& version, const std::string& node)
    : impl_(std::make_unique<Impl>(version, node)) {}
Metrics::~Metrics() = default;
void Metrics::Add(const Tally& tally) { impl_->Add(tally); }
void Metrics::ObserveFlush(size_t rows, absl::Duration took) { impl_->ObserveFlush(rows, took); }
void Metrics::ObserveTurn(absl::Duration lag, absl::Duration took) {
  impl_->ObserveTurn(lag, took);
}
void Metrics::CountRefusal(const std::string& limit) { impl_->CountRefusal(limit); }
std::string Metrics::Text(const NodeGauges& gauges) { return impl_->Text(gauges); }

}  // namespace tidemark
