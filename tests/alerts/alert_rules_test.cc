#include "scheduler/alerts/alert_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/time_text.h"
#include "scheduler/alerts/delivery_policy.h"
#include "scheduler/core/time/zone.h"
#include "tests/alerts/facts.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

absl::Time T(const std::string& text) { return *ParseInstant(text); }

AlertsConfig TwoChannels() {
  AlertsConfig config;
  config.channels.resize(2);
  config.channels[0].name = "ops";
  config.channels[1].name = "mail";
  return config;
}

const absl::Time kNow = T("2026-11-28T01:00:10Z");

TEST(AlertRulesTest, WithoutRoutesAllChannelsAreTold) {
  const AlertRoute route = JudgeAlert(TwoChannels(), FailedRecon(), {}, kNow);
  EXPECT_THAT(route.channels, ElementsAre("ops", "mail"));
  EXPECT_EQ(route.remind_after, absl::Hours(24));
  EXPECT_FALSE(route.silenced_until.has_value());
}

TEST(AlertRulesTest, TheFirstRouteThatMatchesDecides) {
  AlertsConfig config = TwoChannels();
  config.routes.push_back({{{"re*"}, {}, {}, {"warning"}}, {"mail"}});
  config.routes.push_back({{{"re*n"}, {"default"}, {"run_*"}, {}}, {"ops"}});
  config.routes.push_back({{}, {"mail"}});
  EXPECT_THAT(JudgeAlert(config, FailedRecon(), {}, kNow).channels, ElementsAre("ops"));
  AlertFact other = FailedRecon();
  other.job = "ledger";
  EXPECT_THAT(JudgeAlert(config, other, {}, kNow).channels, ElementsAre("mail"));
}

TEST(AlertRulesTest, AFailingChannelIsNotToldAboutItself) {
  AlertFact fact = FailedRecon();
  fact.kind = "channel_failing";
  fact.dedup_key = FailingKey("ops");
  EXPECT_THAT(JudgeAlert(TwoChannels(), fact, {}, kNow).channels, ElementsAre("mail"));
}

TEST(AlertRulesTest, CriticalOnesAreToldAgainAndPausedJobsOnceAWeek) {
  AlertFact fact = FailedRecon();
  fact.severity = "warning";
  EXPECT_FALSE(JudgeAlert(TwoChannels(), fact, {}, kNow).remind_after.has_value());
  fact.kind = "job_paused";
  EXPECT_EQ(JudgeAlert(TwoChannels(), fact, {}, kNow).remind_after, absl::Hours(7 * 24));
  AlertsConfig never = TwoChannels();
  never.remind_every = absl::ZeroDuration();
  EXPECT_FALSE(JudgeAlert(never, FailedRecon(), {}, kNow).remind_after.has_value());
  EXPECT_FALSE(JudgeAlert(never, fact, {}, kNow).remind_after.has_value());
}

TEST(AlertRulesTest, ASilenceKeepsBackWhatItMatches) {
  AlertSilence silence;
  silence.silence_id = "s1";
  silence.job = "recon";
  silence.until = kNow + absl::Hours(2);
  AlertRoute route = JudgeAlert(TwoChannels(), FailedRecon(), {silence}, kNow);
  EXPECT_EQ(route.silenced_until, silence.until);
  EXPECT_EQ(route.silence_id, "s1");
  EXPECT_THAT(route.channels, IsEmpty());
  silence.kind = "run_long";
  EXPECT_FALSE(JudgeAlert(TwoChannels(), FailedRecon(), {silence}, kNow).silenced_until);
}

TEST(AlertRulesTest, WhatEndedInASilenceOrLongAgoIsToldToNobody) {
  AlertSilence silence;
  silence.job = "recon";
  silence.until = kNow + absl::Hours(2);
  AlertFact fact = FailedRecon();
  fact.resolved_at = kNow;
  EXPECT_THAT(JudgeAlert(TwoChannels(), fact, {silence}, kNow).channels, IsEmpty());
  EXPECT_FALSE(JudgeAlert(TwoChannels(), fact, {silence}, kNow).silenced_until);
  EXPECT_THAT(JudgeAlert(TwoChannels(), fact, {}, kNow).channels, ElementsAre("ops", "mail"));
  EXPECT_THAT(JudgeAlert(TwoChannels(), fact, {}, kNow + absl::Hours(25)).channels, IsEmpty());
  // What still is so is told however late.
  fact.resolved_at.reset();
  EXPECT_THAT(JudgeAlert(TwoChannels(), fact, {}, kNow + absl::Hours(25)).channels,
              ElementsAre("ops", "mail"));
}

TEST(AlertRulesTest, AnEventInASilenceIsToldAtItsEnd) {
  AlertSilence silence;
  silence.job = "recon";
  silence.until = kNow + absl::Hours(2);
  AlertFact fact = FailedRecon();
  fact.event = true;
  EXPECT_EQ(JudgeAlert(TwoChannels(), fact, {silence}, kNow).silenced_until, silence.until);
  EXPECT_THAT(JudgeAlert(TwoChannels(), fact, {}, silence.until).channels,
              ElementsAre("ops", "mail"));
  EXPECT_THAT(JudgeAlert(TwoChannels(), fact, {}, kNow + absl::Hours(25)).channels, IsEmpty())
      << "old news";
}

TEST(AlertRulesTest, AWindowOverMidnightEndsInTheMorningOfItsZone) {
  SilenceWindow window;
  window.from = 22 * 60;
  window.to = 6 * 60;
  window.zone = *LoadZone("Asia/Shanghai");
  EXPECT_EQ(EndOfWindow(window, T("2026-11-28T22:00:00+08:00")), T("2026-11-29T06:00:00+08:00"));
  EXPECT_EQ(EndOfWindow(window, T("2026-11-28T05:59:59+08:00")), T("2026-11-28T06:00:00+08:00"));
  EXPECT_EQ(EndOfWindow(window, T("2026-11-28T06:00:00+08:00")), std::nullopt);
  EXPECT_EQ(EndOfWindow(window, T("2026-11-28T21:59:59+08:00")), std::nullopt);
  AlertsConfig config = TwoChannels();
  config.silences.push_back(window);
  EXPECT_EQ(JudgeAlert(config, FailedRecon(), {}, T("2026-11-28T23:00:00+08:00")).silenced_until,
            T("2026-11-29T06:00:00+08:00"));
}

TEST(DeliveryPolicyTest, DelaysGrowToALimitAndVaryALittle) {
  EXPECT_EQ(RetryDelay(1, 0.5), absl::Seconds(5));
  EXPECT_EQ(RetryDelay(2, 0.5), absl::Seconds(10));
  EXPECT_EQ(RetryDelay(1000, 0.5), absl::Minutes(5));
  EXPECT_EQ(RetryDelay(1, 0.0), absl::Seconds(4));
  EXPECT_LT(RetryDelay(1, 0.999), absl::Seconds(6));
}

TEST(DeliveryPolicyTest, AChannelFailsAfterFiveMinutesAndThreeTries) {
  EXPECT_FALSE(IsFailing({0, std::nullopt}, kNow));
  EXPECT_FALSE(IsFailing({5, kNow - absl::Minutes(4)}, kNow));
  EXPECT_FALSE(IsFailing({1, kNow - absl::Minutes(50)}, kNow));
  EXPECT_TRUE(IsFailing({2, kNow - absl::Minutes(5)}, kNow));
}

}  // namespace
}  // namespace tidemark
