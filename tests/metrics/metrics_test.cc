#include "scheduler/metrics/metrics.h"

#include <string>

#include "gtest/gtest.h"
#include "scheduler/metrics/app_labels.h"

namespace tidemark {
namespace {

bool Has(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(MetricsTest, CountsAddUpByApp) {
  Metrics metrics("1.0", "n1");
  Tally tally;
  AppTally& app = tally.apps["recon"];
  app.due = 2;
  app.fired = 3;
  app.retries = 1;
  app.ended[RunStatus::kCompleted] = 2;
  app.ended[RunStatus::kFailed] = 1;
  app.attempts[Outcome::kLost] = 1;
  tally.lateness.Add(0.004);
  tally.lateness.Add(0.9);
  tally.lateness.Add(100000);
  metrics.Add(tally);
  metrics.Add(tally);
  const std::string text = metrics.Text({});
  EXPECT_TRUE(Has(text, "tidemark_build_info{node=\"n1\",version=\"1.0\"} 1"));
  EXPECT_TRUE(Has(text, "tidemark_due_total{app=\"recon\"} 4"));
  EXPECT_TRUE(Has(text, "tidemark_fired_total{app=\"recon\"} 6"));
  EXPECT_TRUE(Has(text, "tidemark_retries_total{app=\"recon\"} 2"));
  EXPECT_TRUE(Has(text, "tidemark_runs_finished_total{app=\"recon\",status=\"COMPLETED\"} 4"));
  EXPECT_TRUE(Has(text, "tidemark_runs_finished_total{app=\"recon\",status=\"FAILED\"} 2"));
  EXPECT_TRUE(Has(text, "tidemark_attempts_ended_total{app=\"recon\",outcome=\"LOST\"} 2"));
  EXPECT_TRUE(Has(text, "tidemark_lateness_seconds_count 6"));
  EXPECT_TRUE(Has(text, "tidemark_lateness_seconds_bucket{le=\"0.0025\"} 0"));
  EXPECT_TRUE(Has(text, "tidemark_lateness_seconds_bucket{le=\"0.005\"} 2"));
  EXPECT_TRUE(Has(text, "tidemark_lateness_seconds_bucket{le=\"1\"} 4"));
  EXPECT_TRUE(Has(text, "tidemark_lateness_seconds_bucket{le=\"+Inf\"} 6"));
}

TEST(MetricsTest, LabelsAreBounded) {
  Metrics metrics("1.0", "n1");
  for (int i = 0; i < 10000; ++i) {
    Tally tally;
    tally.apps["app-" + std::to_string(i)].due = 1;
    metrics.Add(tally);
  }
  NodeGauges gauges;
  for (int i = 0; i < 10000; ++i) gauges.engine.apps["up-" + std::to_string(i)].executors_up = 1;
  const std::string text = metrics.Text(gauges);
  EXPECT_TRUE(Has(text, "tidemark_due_total{app=\"app-99\"} 1"));
  EXPECT_TRUE(Has(text, "tidemark_due_total{app=\"other\"} 9900"));
  EXPECT_TRUE(Has(text, "tidemark_executors{app=\"other\",state=\"up\"} 10000"));
  EXPECT_LT(text.size(), 64u * 1024);
}

TEST(MetricsTest, ANameCannotForgeALine) {
  Metrics metrics("1.0", "n1");
  Tally tally;
  tally.apps["x\"} 1\ntidemark_jobs 99 #\\"].due = 1;
  metrics.Add(tally);
  const std::string text = metrics.Text({});
  EXPECT_FALSE(Has(text, "tidemark_jobs 99"));
  EXPECT_EQ(text.find("\ntidemark_jobs 99"), std::string::npos);
}

TEST(MetricsTest, GaugesAreOfTheMomentAndWhatIsUnknownIsNotShown) {
  Metrics metrics("1.0", "n1");
  NodeGauges gauges;
  EXPECT_EQ(metrics.Text(gauges).find("tidemark_unsettled_dates"), std::string::npos);
  gauges.engine.active = true;
  gauges.engine.apps["recon"] = {.executors_up = 2,
                                 .slots = 8,
                                 .slots_used = 3,
                                 .waiting = 5,
                                 .catch_up_waiting = 4,
                                 .catch_up_slots_used = 1};
  gauges.lease_left = absl::Milliseconds(7500);
  gauges.clock_offset = absl::Milliseconds(-20);
  gauges.unsettled_dates = 4;
  gauges.oldest_unsettled_age = absl::Hours(1);
  gauges.pending_alerts = 2;
  std::string text = metrics.Text(gauges);
  EXPECT_TRUE(Has(text, "tidemark_active 1"));
  EXPECT_TRUE(Has(text, "tidemark_executors{app=\"recon\",state=\"up\"} 2"));
  EXPECT_TRUE(Has(text, "tidemark_slots{app=\"recon\"} 8"));
  EXPECT_TRUE(Has(text, "tidemark_slots_used{app=\"recon\"} 3"));
  EXPECT_TRUE(Has(text, "tidemark_runs_waiting{app=\"recon\"} 5"));
  EXPECT_TRUE(Has(text, "tidemark_catch_up_waiting{app=\"recon\"} 4"));
  EXPECT_TRUE(Has(text, "tidemark_catch_up_slots_used{app=\"recon\"} 1"));
  EXPECT_TRUE(Has(text, "tidemark_lease_remaining_seconds 7.5"));
  EXPECT_TRUE(Has(text, "tidemark_clock_offset_seconds -0.02"));
  EXPECT_TRUE(Has(text, "tidemark_unsettled_dates 4"));
  EXPECT_TRUE(Has(text, "tidemark_oldest_unsettled_date_age_seconds 3600"));
  EXPECT_TRUE(Has(text, "tidemark_alerts_pending 2"));
  gauges.engine.apps.clear();
  EXPECT_EQ(metrics.Text(gauges).find("tidemark_slots{"), std::string::npos) << "it is gone";
}

TEST(MetricsTest, BatchesTurnsAndRefusals) {
  Metrics metrics("1.0", "n1");
  metrics.ObserveFlush(100, absl::Milliseconds(3));
  metrics.ObserveTurn(absl::Milliseconds(2), absl::Milliseconds(1));
  metrics.CountRefusal("max-requests-per-second");
  const std::string text = metrics.Text({});
  EXPECT_TRUE(Has(text, "tidemark_flush_rows_bucket{le=\"64\"} 0"));
  EXPECT_TRUE(Has(text, "tidemark_flush_rows_bucket{le=\"256\"} 1"));
  EXPECT_TRUE(Has(text, "tidemark_flush_seconds_sum 0.003"));
  EXPECT_TRUE(Has(text, "tidemark_loop_lag_seconds_sum 0.002"));
  EXPECT_TRUE(Has(text, "tidemark_refused_total{limit=\"max-requests-per-second\"} 1"));
}

}  // namespace
}  // namespace tidemark
