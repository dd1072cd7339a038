#include "scheduler/cli/run_rate.h"

#include "gtest/gtest.h"
#include "scheduler/cli/run_watch.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

std::vector<ProgressSample> Samples(const std::vector<double>& percents, uint32_t attempt = 1,
                                    double every_seconds = 1, double from = 0) {
  std::vector<ProgressSample> samples;
  for (size_t i = 0; i < percents.size(); ++i) {
    samples.push_back(
        {absl::Seconds(from + every_seconds * static_cast<double>(i)), attempt, percents[i]});
  }
  return samples;
}

TEST(RunRate, SteadyProgressGivesRateAndEta) {
  const auto rate = RateOf(Samples({10, 11, 12, 13, 14, 15}));
  ASSERT_TRUE(rate.has_value());
  EXPECT_DOUBLE_EQ(rate->percent_per_minute, 60);
  EXPECT_EQ(rate->eta, absl::Seconds(85));
}

TEST(RunRate, TooLittleIsNoRate) {
  EXPECT_FALSE(RateOf({}).has_value());
  EXPECT_FALSE(RateOf(Samples({10})).has_value());
  EXPECT_FALSE(RateOf(Samples({10, 20}, 1, 0.3)).has_value()) << "less than a second";
  EXPECT_FALSE(RateOf(Samples({-1, -1, -1})).has_value()) << "no percentage";
  EXPECT_FALSE(RateOf(Samples({10, 20, -1})).has_value());
}

TEST(RunRate, StalledHasNoEta) {
  EXPECT_FALSE(RateOf(Samples({40, 40, 40, 40})).has_value()) << "it may report rarely";
  const auto rate = RateOf(Samples(std::vector<double>(31, 40.0)));
  ASSERT_TRUE(rate.has_value());
  EXPECT_EQ(rate->percent_per_minute, 0);
  EXPECT_FALSE(rate->eta.has_value());
}

TEST(RunRate, AStallLongerThanTheWindowForgetsWhatWasBefore) {
  std::vector<ProgressSample> samples = Samples({10, 20, 30});
  for (int i = 0; i < 61; ++i) samples.push_back({absl::Seconds(3 + i), 1, 30});
  EXPECT_EQ(RateOf(samples)->percent_per_minute, 0);
}

TEST(RunRate, GoingBackwardsBeginsAfresh) {
  EXPECT_FALSE(RateOf(Samples({50, 60, 20})).has_value());
  const auto rate = RateOf(Samples({50, 60, 20, 21, 22}));
  ASSERT_TRUE(rate.has_value());
  EXPECT_DOUBLE_EQ(rate->percent_per_minute, 60);
}

TEST(RunRate, ARetryBeginsAfreshAlsoWhenItResumesAhead) {
  std::vector<ProgressSample> samples = Samples({10, 11, 12});
  for (const ProgressSample& s : Samples({50, 51, 52}, 2, 1, 3)) samples.push_back(s);
  const auto rate = RateOf(samples);
  ASSERT_TRUE(rate.has_value());
  EXPECT_DOUBLE_EQ(rate->percent_per_minute, 60) << "the leap to 50 is no work";
  EXPECT_EQ(rate->eta, absl::Seconds(48));
}

TEST(RunRate, TheEndHasNothingLeft) {
  EXPECT_EQ(RateOf(Samples({98, 99, 100}))->eta, absl::ZeroDuration());
  const auto rate = RateOf(Samples({0, 1e-12}));
  ASSERT_TRUE(rate.has_value());
  EXPECT_LE(rate->eta, absl::Hours(2400)) << "never an absurd number";
}

TEST(RunRate, OldSamplesMayBeForgotten) {
  std::vector<ProgressSample> samples;
  for (int i = 0; i < 10000; ++i) {
    samples.push_back({absl::Milliseconds(300 * i), 1, i / 100.0});
    const auto all = RateOf(samples);
    ForgetOldSamples(&samples);
    ASSERT_EQ(RateOf(samples).has_value(), all.has_value());
    ASSERT_LE(samples.size(), 202u);
  }
  EXPECT_NEAR(RateOf(samples)->percent_per_minute, 2, 0.01);
}

v1::Run Running() {
  v1::Run run;
  run.set_status(v1::RUNNING);
  run.set_attempt(2);
  run.set_executor_id("e1");
  run.set_progress_percent(50);
  run.set_message("row 5\x1b[2J");
  return run;
}

TEST(RunWatch, ALineSaysAll) {
  const ProgressRate rate{12, absl::Milliseconds(250100)};
  EXPECT_EQ(WatchLine(Running(), rate),
            "RUNNING, attempt 2 on e1, 50.0 %, 12.0 %/min, ETA 4m11s: row 5\\x1b[2J");
  EXPECT_EQ(WatchLine(Running(), ProgressRate{}),
            "RUNNING, attempt 2 on e1, 50.0 %, stalled: row 5\\x1b[2J");
}

TEST(RunWatch, TheBarFitsItsWidth) {
  const ProgressRate rate{12, absl::Seconds(250)};
  EXPECT_EQ(WatchBar(Running(), rate, 200),
            "RUNNING [############............] 50.0 %, 12.0 %/min, ETA 4m10s, attempt 2 on e1: "
            "row 5\\x1b[2J");
  EXPECT_LE(DisplayWidth(WatchBar(Running(), rate, 40)), 40u);
  v1::Run pending;
  pending.set_status(v1::PENDING);
  pending.set_reason("back-off");
  pending.set_progress_percent(-1);
  EXPECT_EQ(WatchBar(pending, std::nullopt, 80), "PENDING (back-off)");
}

}  // namespace
}  // namespace tidemark
