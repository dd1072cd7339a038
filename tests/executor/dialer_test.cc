// When which address is dialled.
#include "executor/src/dialer.h"

#include <gtest/gtest.h>

namespace tidemark::exec {
namespace {

TEST(DialerTest, BacksOffFromAFifthOfASecondToFiveSeconds) {
  SeededRandom random(1);
  Dialer dialer({"a:1"}, random);
  absl::Duration now = absl::Seconds(100);
  absl::Duration longest;
  for (int i = 0; i < 12; ++i) {
    const auto due = dialer.Due(now);
    ASSERT_EQ(due.size(), 1u);
    EXPECT_TRUE(dialer.Due(now).empty());
    EXPECT_EQ(dialer.OnClosed(due[0].first, "refused", now), i == 0);  // news only once
    const absl::Duration wait = dialer.NextWake() - now;
    if (i == 0) {
      EXPECT_GE(wait, absl::Milliseconds(100));
      EXPECT_LE(wait, absl::Milliseconds(200));
    }
    longest = std::max(longest, wait);
    EXPECT_LE(wait, absl::Seconds(5));
    now = dialer.NextWake();
  }
  EXPECT_GE(longest, absl::Seconds(2.5));
  const auto due = dialer.Due(now);
  dialer.OnWelcomed(due[0].first);
  EXPECT_TRUE(dialer.OnClosed(due[0].first, "refused", now));
  EXPECT_LE(dialer.NextWake() - now, absl::Milliseconds(200));
}

TEST(DialerTest, LearnsAndForgetsNodesButKeepsTheConfigured) {
  SeededRandom random(1);
  Dialer dialer({"a:1"}, random);
  const absl::Duration now = absl::Seconds(100);
  EXPECT_EQ(dialer.Due(now).size(), 1u);
  dialer.SetNodes({"a:1", "b:1"}, now);
  const auto due = dialer.Due(now);
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].second, "b:1");
  dialer.SetNodes({}, now);  // b is open: it stays until it closes
  EXPECT_EQ(dialer.AddressOf(due[0].first), "b:1");
  dialer.OnClosed(due[0].first, "gone", now);
  EXPECT_TRUE(dialer.Due(now + absl::Minutes(1)).empty());
}

TEST(DialerTest, ParkedAddressComesBackWhenTheOtherCloses) {
  SeededRandom random(1);
  Dialer dialer({"a:1", "b:1"}, random);
  const absl::Duration now = absl::Seconds(100);
  const auto due = dialer.Due(now);
  ASSERT_EQ(due.size(), 2u);
  dialer.Park(due[0].first, due[1].first);
  EXPECT_TRUE(dialer.Due(now + absl::Minutes(10)).empty());
  dialer.OnClosed(due[1].first, "gone", now);
  EXPECT_EQ(dialer.Due(now).size(), 1u);
}

}  // namespace
}  // namespace tidemark::exec
