// The lock as a handler's guard.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/clock.h"
#include "executor/src/run_state.h"
#include "tests/executor/lock/redis_server.h"
#include "tidemark/redis_lock.h"

namespace tidemark::lock {
namespace {

using OnUnavailable = RedisLock::GuardOptions::OnUnavailable;
constexpr char kKey[] = "job:recon:2026-11-28";

RunState::Info Recon() {
  RunState::Info info;
  info.job = "recon";
  info.biz_date = "2026-11-28";
  info.run_id = "run-1";
  return info;
}

// One run as the executor would call it.
struct OneRun {
  explicit OneRun(RunState::Info info = Recon())
      : state(std::make_shared<RunState>(std::move(info), SystemClock(), nullptr, nullptr)),
        context(state) {}
  std::shared_ptr<RunState> state;
  Context context;
  std::string refused;
};

class GuardTest : public testing::Test {
 protected:
  RedisLock Make(const std::string& address) {
    return RedisLock({.redis = address,
                      .holder = "recon-1",
                      .log = [this](LogSeverity severity, std::string_view line) {
                        if (severity == LogSeverity::kWarn) warnings_ += std::string(line) + "\n";
                      }});
  }

  std::string warnings_;  // written by the threads that take guards, here one
};

TEST_F(GuardTest, HoldsTheRunsKeyAroundTheHandler) {
  RedisServer server;
  RedisLock lock = Make(server.address());
  const GuardFunction guard = lock.Guard({});
  OneRun run;
  std::unique_ptr<RunGuard> held = guard(run.context, &run.refused);
  ASSERT_NE(held, nullptr) << run.refused;
  EXPECT_TRUE(server.Has(kKey));
  OneRun other;
  EXPECT_EQ(guard(other.context, &other.refused), nullptr);
  EXPECT_NE(other.refused.find(std::string("Redis lock ") + kKey + " is held by recon-1/"),
            std::string::npos)
      << other.refused;
  EXPECT_FALSE(other.context.cancelled());
  held.reset();
  EXPECT_FALSE(server.Has(kKey));
  EXPECT_FALSE(run.context.cancelled());
}

TEST_F(GuardTest, IntervalJobsAreKeyedByFireTime) {
  RunState::Info info = Recon();
  info.biz_date.clear();
  info.fire_time = std::chrono::system_clock::time_point(std::chrono::seconds(1795824000));
  OneRun run(std::move(info));
  EXPECT_EQ(RedisLock::KeyOf(run.context), "job:recon:2026-11-28T00:00:00Z");
}

TEST_F(GuardTest, ALostLockCancelsTheContextAndSaysWhy) {
  RedisServer server;
  RedisLock lock = Make(server.address());
  OneRun run;
  const auto held = lock.Guard({.ttl = std::chrono::milliseconds(1500)})(run.context, &run.refused);
  ASSERT_NE(held, nullptr);
  server.Ask({"DEL", kKey});
  EXPECT_TRUE(run.context.WaitCancelled(std::chrono::seconds(30)));
  EXPECT_NE(run.context.cancel_reason().find("job:recon:2026-11-28 lost: its key is gone"),
            std::string::npos)
      << run.context.cancel_reason();
  EXPECT_NE(run.state->TakeLog().find("lost: its key is gone"), std::string::npos);
  // Ends as failed, to be retried: the cancel came from within.
  EXPECT_TRUE(run.state->Finish(Outcome::Stopped()).cancelled_itself);
}

TEST_F(GuardTest, FailOpenRunsWithoutTheLockAndTellsIt) {
  RedisLock lock = Make("unix:/nonexistent/redis.sock");
  OneRun run;
  EXPECT_NE(lock.Guard({})(run.context, &run.refused), nullptr);
  EXPECT_FALSE(run.context.cancelled());
  EXPECT_NE(warnings_.find("WITHOUT its Redis lock"), std::string::npos);
  EXPECT_NE(run.state->TakeLog().find("WARNING: this run goes on without its Redis lock"),
            std::string::npos);
}

TEST_F(GuardTest, FailClosedSendsTheRunBack) {
  RedisLock lock = Make("unix:/nonexistent/redis.sock");
  OneRun run;
  const auto guard = lock.Guard({.on_unavailable = OnUnavailable::kFailClosed});
  EXPECT_EQ(guard(run.context, &run.refused), nullptr);
  EXPECT_NE(run.refused.find("cannot connect"), std::string::npos) << run.refused;
}

TEST_F(GuardTest, BadOptionsRefuseRatherThanRunUnprotected) {
  RedisServer server;
  RedisLock bad = Make("nonsense:x");
  OneRun run;
  EXPECT_EQ(bad.Guard({})(run.context, &run.refused), nullptr);
  EXPECT_NE(run.refused.find("redis address"), std::string::npos);
  RedisLock good = Make(server.address());
  EXPECT_EQ(good.Guard({.ttl = std::chrono::milliseconds(1)})(run.context, &run.refused), nullptr);
}

TEST_F(GuardTest, ACancelWhileItAsksIsNoRefusal) {
  RedisServer server;
  RedisLock lock = Make(server.address());
  server.Freeze();
  OneRun run;
  run.state->Cancel("by an operator", false);
  EXPECT_NE(lock.Guard({})(run.context, &run.refused), nullptr)
      << "the executor sees the cancelled context and reports that";
  server.Thaw();
  EXPECT_TRUE(WaitFor([&] {
    return lock.Acquire("k", std::chrono::seconds(1)).verdict == RedisLock::Verdict::kHeld;
  }));
  EXPECT_TRUE(WaitFor([&] { return server.Ask({"DBSIZE"}) == "0"; }));
}

TEST_F(GuardTest, OneWatchdogForManyHandlersAndTheGuardOutlivesItsLock) {
  RedisServer server;
  GuardFunction fast, slow;
  {
    RedisLock lock = Make(server.address());
    fast = lock.Guard({.ttl = std::chrono::milliseconds(900)});
    slow = lock.Guard({.ttl = std::chrono::seconds(30)});
  }
  OneRun a;
  RunState::Info info = Recon();
  info.job = "report";
  OneRun b(std::move(info));
  auto held = fast(a.context, &a.refused);
  auto other = slow(b.context, &b.refused);
  ASSERT_TRUE(held != nullptr && other != nullptr);
  EXPECT_FALSE(a.context.WaitCancelled(std::chrono::milliseconds(2000)));
  EXPECT_TRUE(server.Has(kKey));
  EXPECT_TRUE(server.Has("job:report:2026-11-28"));
  held.reset();
  other.reset();
  EXPECT_EQ(server.Ask({"DBSIZE"}), "0");
}

}  // namespace
}  // namespace tidemark::lock
