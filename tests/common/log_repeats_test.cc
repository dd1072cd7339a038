#include "common/log_repeats.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace tidemark {
namespace {

using Suppressed = LogRepeats::Suppressed;

int Written(LogRepeats& repeats, const std::string& event, int lines, absl::Duration now,
            std::vector<Suppressed>* told) {
  int written = 0;
  for (int i = 0; i < lines; ++i) written += repeats.Count(event, 10, now, told) ? 1 : 0;
  return written;
}

TEST(LogRepeatsTest, OfAMinuteTheFirstAreWrittenAndTheRestIsTold) {
  LogRepeats repeats;
  std::vector<Suppressed> told;
  EXPECT_EQ(Written(repeats, "a", 100, absl::Seconds(1000), &told), 10);
  EXPECT_EQ(Written(repeats, "b", 5, absl::Seconds(1000), &told), 5) << "another is not touched";
  EXPECT_TRUE(told.empty());
  EXPECT_TRUE(repeats.Over(absl::Seconds(1059)).empty());
  // A line of whatever event tells, and once.
  EXPECT_EQ(Written(repeats, "b", 1, absl::Seconds(1061), &told), 1);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].event, "a");
  EXPECT_EQ(told[0].lines, 90);
  EXPECT_TRUE(repeats.Over(absl::Seconds(1200)).empty());
  EXPECT_EQ(Written(repeats, "a", 100, absl::Seconds(1300), &told), 10) << "a new minute";
  EXPECT_EQ(repeats.total(), 180);
  ASSERT_EQ(repeats.Over(absl::Seconds(1400)).size(), 1u) << "without another line, too";
}

TEST(LogRepeatsTest, MemoryIsBounded) {
  LogRepeats repeats;
  std::vector<Suppressed> told;
  for (int i = 0; i < 5000; ++i) {
    Written(repeats, "event " + std::to_string(i), 1, absl::Seconds(1000), &told);
  }
  // Those beyond share one count.
  EXPECT_EQ(repeats.total(), 5000 - static_cast<int>(LogRepeats::kMostEvents) - 10);
  ASSERT_EQ(repeats.Over(absl::Seconds(1100)).size(), 1u);
}

}  // namespace
}  // namespace tidemark
