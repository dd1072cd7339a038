// Many acquisitions and releases at once, with cancels at random: no key of another is deleted, no
// two hold at once, and no key is left.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "common/id.h"
#include "tests/executor/lock/redis_server.h"
#include "tidemark/redis_lock.h"

namespace tidemark::lock {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 1250;  // 10,000 in all
constexpr int kKeys = 3;

struct Storm {
  std::array<std::atomic<int>, kKeys> inside{};
  std::atomic<int> held{0};
  std::atomic<int> taken{0};
  std::atomic<int> stopped{0};
  std::atomic<int> wrong{0};
};

void Work(RedisLock lock, uint64_t seed, Storm* storm) {
  SeededRandom random(seed);
  for (int round = 0; round < kRounds; ++round) {
    const int key = static_cast<int>(random.Next() % kKeys);
    std::stop_source stop;
    std::jthread canceller;
    const uint64_t die = random.Next() % 10;
    if (die == 0) stop.request_stop();
    if (die == 1) canceller = std::jthread([&] { stop.request_stop(); });
    auto attempt = lock.Acquire("job:storm:" + std::to_string(key), std::chrono::seconds(30), {},
                                stop.get_token());
    switch (attempt.verdict) {
      case RedisLock::Verdict::kHeld:
        ++storm->held;
        if (storm->inside[key].fetch_add(1) != 0) ++storm->wrong;
        --storm->inside[key];
        // A foreign delete would show here: the key is gone or another's.
        if (attempt.held->Release() != RedisLock::Released::kReleased) ++storm->wrong;
        break;
      case RedisLock::Verdict::kTaken:
        ++storm->taken;
        break;
      case RedisLock::Verdict::kStopped:
        ++storm->stopped;
        break;
      case RedisLock::Verdict::kUnavailable:
        ADD_FAILURE() << attempt.message;
        return;
    }
  }
}

TEST(RedisStormTest, L02TenThousandWithRandomCancelsDeleteNothingForeignAndLeaveNothing) {
  RedisServer server;
  Storm storm;
  {
    // Two holders, as two processes would be, each with four threads.
    const std::string address = server.patient_address();
    std::vector<RedisLock> locks;
    for (const char* holder : {"a", "b"}) locks.emplace_back(RedisLockOptions{address, holder, {}});
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back(Work, locks[i % 2], static_cast<uint64_t>(i + 1), &storm);
    }
    threads.clear();
    ASSERT_TRUE(WaitFor([&] { return server.Ask({"DBSIZE"}) == "0"; }));
  }
  EXPECT_EQ(storm.wrong, 0);
  EXPECT_EQ(storm.held + storm.taken + storm.stopped, kThreads * kRounds);
  EXPECT_GT(storm.held, 500);
  EXPECT_GT(storm.taken, 0);
  EXPECT_GT(storm.stopped, 500);
  EXPECT_EQ(server.Ask({"DBSIZE"}), "0");
}

}  // namespace
}  // namespace tidemark::lock
