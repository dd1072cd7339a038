#include "scheduler/access/rate_limiter.h"

#include <string>

#include "common/status.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

int Allowed(RateLimiter& limiter, const std::string& key, int tries) {
  int allowed = 0;
  for (int i = 0; i < tries; ++i) allowed += limiter.Take(key).ok() ? 1 : 0;
  return allowed;
}

TEST(RateLimiterTest, ABurstThenTheRate) {
  ManualClock clock(absl::UnixEpoch());
  RateLimiter limiter(10, clock);
  EXPECT_EQ(Allowed(limiter, "a", 100), 20);
  const absl::Status refused = limiter.Take("a");
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(Message(refused).find("requests-per-second"), std::string::npos);
  clock.Advance(absl::Milliseconds(500));
  EXPECT_EQ(Allowed(limiter, "a", 100), 5);
  clock.Advance(absl::Hours(1));
  EXPECT_EQ(Allowed(limiter, "a", 100), 20) << "no more than a burst is saved up";
}

TEST(RateLimiterTest, OneDoesNotUseUpWhatAnotherHas) {
  ManualClock clock(absl::UnixEpoch());
  RateLimiter limiter(10, clock);
  EXPECT_EQ(Allowed(limiter, "a", 100), 20);
  EXPECT_EQ(Allowed(limiter, "b", 100), 20);
}

TEST(RateLimiterTest, ZeroIsNoLimit) {
  ManualClock clock(absl::UnixEpoch());
  RateLimiter limiter(0, clock);
  EXPECT_EQ(Allowed(limiter, "a", 1000), 1000);
  EXPECT_EQ(limiter.keys(), 0u);
}

TEST(RateLimiterTest, MemoryIsBoundedWhoeverAsks) {
  ManualClock clock(absl::UnixEpoch());
  RateLimiter limiter(10, clock, 100);
  int allowed = 0;
  for (int i = 0; i < 10000; ++i) allowed += Allowed(limiter, std::to_string(i), 1);
  EXPECT_EQ(limiter.keys(), 100u);
  EXPECT_EQ(allowed, 100 + 20) << "those beyond share one bucket";
  EXPECT_EQ(Allowed(limiter, "7", 100), 19) << "who was known before is not touched";
  // Those that asked long ago make room.
  clock.Advance(absl::Minutes(1));
  EXPECT_EQ(Allowed(limiter, "new", 100), 20);
  EXPECT_LE(limiter.keys(), 100u);
}

TEST(RateLimiterTest, APortIsNoOther) {
  EXPECT_EQ(AddressOf("ipv4:10.0.0.7:51234"), "ipv4:10.0.0.7");
  EXPECT_EQ(AddressOf("ipv6:%5B::1%5D:51234"), "ipv6:%5B::1%5D");
  EXPECT_EQ(AddressOf("unix:/tmp/a:b"), "unix:/tmp/a:b");
}

}  // namespace
}  // namespace tidemark
