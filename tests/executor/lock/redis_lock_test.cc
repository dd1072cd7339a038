// RedisLock against a real Redis. Tests named Lnn are the cases of the lock family.
#include "tidemark/redis_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

#include "common/clock.h"
#include "executor/lock/lock_driver.h"
#include "tests/executor/lock/redis_server.h"

namespace tidemark::lock {
namespace {

using std::chrono::milliseconds;
using Verdict = RedisLock::Verdict;
using Released = RedisLock::Released;
constexpr char kKey[] = "job:recon:2026-11-28";

absl::Duration Now() { return SystemClock().Monotonic(); }

// When a lock was lost, and why.
class Loss {
 public:
  std::function<void(const std::string&)> Callback() {
    return [this](const std::string& reason) {
      const std::lock_guard lock(mutex_);
      ++count_;
      reason_ = reason;
      at_ = Now();
    };
  }
  int count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }
  absl::Duration at() const {
    const std::lock_guard lock(mutex_);
    return at_;
  }
  std::string reason() const {
    const std::lock_guard lock(mutex_);
    return reason_;
  }

 private:
  mutable std::mutex mutex_;
  int count_ = 0;
  std::string reason_;
  absl::Duration at_;
};

class RedisLockTest : public testing::Test {
 protected:
  RedisLock Make(const std::string& holder, const std::string& address = "") {
    return RedisLock({.redis = address.empty() ? server_.address() : address,
                      .holder = holder,
                      .log = [this](LogSeverity, std::string_view line) {
                        const std::lock_guard lock(mutex_);
                        log_ += std::string(line) + "\n";
                      }});
  }
  std::string Log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  std::mutex mutex_;
  std::string log_;
  RedisServer server_;
};

TEST_F(RedisLockTest, HoldsExcludesAndReleases) {
  RedisLock a = Make("recon-1");
  RedisLock b = Make("recon-2");
  auto first = a.Acquire(kKey, milliseconds(30000));
  ASSERT_EQ(first.verdict, Verdict::kHeld) << first.message;
  EXPECT_EQ(server_.Ask({"GET", kKey}), first.held->token());
  EXPECT_TRUE(first.held->token().starts_with("recon-1/"));
  EXPECT_GT(server_.TtlMs(kKey), 25000);
  EXPECT_LE(server_.TtlMs(kKey), 30000);
  const auto second = b.Acquire(kKey, milliseconds(30000));
  EXPECT_EQ(second.verdict, Verdict::kTaken);
  EXPECT_NE(second.message.find("is held by recon-1/"), std::string::npos) << second.message;
  EXPECT_EQ(first.held->Release(), Released::kReleased);
  EXPECT_EQ(first.held->Release(), Released::kReleased) << "the same answer again";
  EXPECT_FALSE(server_.Has(kKey));
  EXPECT_EQ(b.Acquire(kKey, milliseconds(30000)).verdict, Verdict::kHeld);
  EXPECT_FALSE(server_.Has(kKey)) << "released when destroyed";
}

TEST_F(RedisLockTest, L01AProcessStoppedForLongerThanTheTtlFindsItsLockLost) {
  ProcessOptions options;
  options.argv = {TIDEMARK_LOCK_HOLDER, server_.address(), kKey, "1500"};
  options.output_file = server_.socket() + ".holder";
  auto holder = Process::Start(options);
  ASSERT_TRUE(holder.ok());
  ASSERT_TRUE(WaitFor([&] { return ReadFile(options.output_file) == "held\n"; }));
  holder->Signal(SIGSTOP);
  ASSERT_TRUE(WaitFor([&] { return !server_.Has(kKey); }));
  RedisLock b = Make("b");
  const auto other = b.Acquire(kKey, milliseconds(30000));
  ASSERT_EQ(other.verdict, Verdict::kHeld);
  holder->Signal(SIGCONT);
  EXPECT_EQ(holder->Wait(absl::Seconds(30)), 0);
  const std::string said = ReadFile(options.output_file);
  EXPECT_NE(said.find("lost: "), std::string::npos) << said;
  EXPECT_NE(said.find("release: not owner"), std::string::npos) << said;
  EXPECT_EQ(server_.Ask({"GET", kKey}), other.held->token());
}

TEST_F(RedisLockTest, L02ReleaseByANonOwnerLeavesTheOthersKey) {
  RedisLock a = Make("a");
  auto mine = a.Acquire(kKey, milliseconds(30000));
  ASSERT_EQ(mine.verdict, Verdict::kHeld);
  server_.Ask({"SET", kKey, "foreign", "PX", "30000"});
  EXPECT_EQ(mine.held->Release(), Released::kNotOwner);
  EXPECT_EQ(server_.Ask({"GET", kKey}), "foreign");
  mine.held.reset();
  EXPECT_EQ(server_.Ask({"GET", kKey}), "foreign");
  EXPECT_GT(server_.TtlMs(kKey), 25000) << "not renewed either";
}

TEST_F(RedisLockTest, L04HeldForFiveTtlsItIsNeverFree) {
  for (const int ttl : {400, 1200}) {
    RedisLock a = Make("a");
    RedisLock b = Make("b");
    Loss loss;
    auto mine = a.Acquire(kKey, milliseconds(ttl), loss.Callback());
    ASSERT_EQ(mine.verdict, Verdict::kHeld);
    const absl::Duration end = Now() + absl::Milliseconds(5 * ttl);
    int looks = 0;
    while (Now() < end) {
      ASSERT_EQ(server_.Ask({"GET", kKey}), mine.held->token());
      ASSERT_EQ(b.Acquire(kKey, milliseconds(ttl)).verdict, Verdict::kTaken);
      ++looks;
    }
    EXPECT_GT(looks, 10);
    EXPECT_EQ(loss.count(), 0);
    EXPECT_EQ(mine.held->Release(), Released::kReleased);
    EXPECT_FALSE(server_.Has(kKey));
  }
}

TEST_F(RedisLockTest, L06AKeyDeletedByHandIsALossAndTakenAnewItIsWatchedAnew) {
  RedisLock a = Make("a");
  Loss loss;
  auto first = a.Acquire(kKey, milliseconds(1200), loss.Callback());
  ASSERT_EQ(first.verdict, Verdict::kHeld);
  server_.Ask({"DEL", kKey});
  ASSERT_TRUE(WaitFor([&] { return loss.count() == 1; }));
  EXPECT_NE(loss.reason().find("gone"), std::string::npos) << loss.reason();
  EXPECT_TRUE(first.held->lost());
  EXPECT_NE(Log().find("a Redis lock is lost"), std::string::npos) << Log();

  Loss none;
  auto again = a.Acquire(kKey, milliseconds(1200), none.Callback());
  ASSERT_EQ(again.verdict, Verdict::kHeld);
  EXPECT_EQ(first.held->Release(), Released::kNotOwner);
  const absl::Duration end = Now() + absl::Milliseconds(3600);
  while (Now() < end) ASSERT_EQ(server_.Ask({"GET", kKey}), again.held->token());
  EXPECT_EQ(none.count(), 0);
}

TEST_F(RedisLockTest, L06AnotherValueUnderTheKeyIsALossToo) {
  RedisLock a = Make("a");
  Loss loss;
  const auto mine = a.Acquire(kKey, milliseconds(1200), loss.Callback());
  server_.Ask({"SET", kKey, "foreign"});
  ASSERT_TRUE(WaitFor([&] { return loss.count() == 1; }));
  EXPECT_EQ(server_.Ask({"GET", kKey}), "foreign");
}

TEST_F(RedisLockTest, L07WhileRedisIsStoppedTheHolderStopsBeforeTheTtlEnds) {
  RedisLock a = Make("a");
  Loss loss;
  auto mine = a.Acquire(kKey, milliseconds(1500), loss.Callback());
  ASSERT_EQ(mine.verdict, Verdict::kHeld);
  server_.Freeze();
  const absl::Duration frozen = Now();
  ASSERT_TRUE(WaitFor([&] { return loss.count() == 1; }));
  // No renewal was carried out after the freeze, so this is before the end of any ttl.
  EXPECT_LT(loss.at() - frozen, absl::Milliseconds(1500));
  EXPECT_NE(Log().find("cannot be renewed"), std::string::npos) << Log();
  server_.Thaw();
  // Renewals that Redis finds in its sockets now change nothing for the holder.
  ASSERT_TRUE(WaitFor([&] { return !server_.Has(kKey); }));
  EXPECT_EQ(loss.count(), 1);
  EXPECT_TRUE(mine.held->lost());
  EXPECT_EQ(mine.held->Release(), Released::kNotOwner);
}

TEST_F(RedisLockTest, L07AShortStopIsSurvived) {
  RedisLock a = Make("a");
  Loss loss;
  auto mine = a.Acquire(kKey, milliseconds(3000), loss.Callback());
  ASSERT_EQ(mine.verdict, Verdict::kHeld);
  server_.Freeze();
  ASSERT_TRUE(WaitFor([&] { return Log().find("cannot be renewed") != std::string::npos; }));
  server_.Thaw();
  ASSERT_TRUE(WaitFor([&] { return Log().find("is renewed again") != std::string::npos; }));
  EXPECT_EQ(loss.count(), 0);
  EXPECT_EQ(mine.held->Release(), Released::kReleased);
}

// A machine whose wall clock is anywhere.
class WildClock : public Clock {
 public:
  absl::Time WallNow() const override { return absl::FromUnixSeconds(++calls_ * 86400); }
  absl::Duration Monotonic() const override { return SystemClock().Monotonic(); }

 private:
  mutable std::atomic<int64_t> calls_{0};
};

TEST_F(RedisLockTest, L09TheWallClockDecidesNothingAndALockIsNoRecordOfWhatRan) {
  WildClock clock;
  LockDriver a({.socket = server_.socket()}, "a", exec::ExecLog(), clock, SystemRandom());
  LockDriver b({.socket = server_.socket()}, "b", exec::ExecLog(), SystemClock(), SystemRandom());
  const auto mine = a.Acquire(kKey, absl::Milliseconds(900), nullptr, {});
  ASSERT_EQ(mine.kind, LockNotice::Kind::kHeld);
  const absl::Duration end = Now() + absl::Milliseconds(2700);
  while (Now() < end) {
    const auto other = b.Acquire(kKey, absl::Milliseconds(900), nullptr, {});
    ASSERT_EQ(other.kind, LockNotice::Kind::kTaken);
  }
  EXPECT_EQ(a.Release(mine.lock), LockNotice::Kind::kReleased);
  a.Forget(mine.lock);
  // Finished early: nothing of it stays. That the date is done is the scheduler's rows to say.
  const auto other = b.Acquire(kKey, absl::Milliseconds(900), nullptr, {});
  EXPECT_EQ(other.kind, LockNotice::Kind::kHeld);
  b.Release(other.lock);
  b.Forget(other.lock);
}

TEST_F(RedisLockTest, AConnectionThatRedisClosedMeanwhileIsNoOutage) {
  RedisLock a = Make("a");
  EXPECT_EQ(a.Acquire(kKey, milliseconds(30000)).verdict, Verdict::kHeld);
  server_.Ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  EXPECT_EQ(a.Acquire(kKey, milliseconds(30000)).verdict, Verdict::kHeld);
  server_.Stop();
  server_.Start();
  EXPECT_EQ(a.Acquire(kKey, milliseconds(30000)).verdict, Verdict::kHeld);
}

TEST_F(RedisLockTest, ARedisThatDoesNotAnswerIsUnavailableInTimeAndNothingIsLeft) {
  RedisLock a = Make("a");
  EXPECT_EQ(a.Acquire(kKey, milliseconds(30000)).verdict, Verdict::kHeld);
  server_.Freeze();
  const absl::Duration start = Now();
  const auto attempt = a.Acquire(kKey, milliseconds(30000));
  EXPECT_EQ(attempt.verdict, Verdict::kUnavailable);
  EXPECT_LT(Now() - start, absl::Seconds(10));
  EXPECT_NE(attempt.message.find(server_.address()), std::string::npos) << attempt.message;
  server_.Thaw();
  // Redis carries out what it finds in its sockets; that is undone.
  ASSERT_TRUE(WaitFor([&] {
    const auto again = a.Acquire(kKey, milliseconds(30000));
    return again.verdict == Verdict::kHeld;
  }));
  EXPECT_FALSE(server_.Has(kKey));
}

TEST_F(RedisLockTest, NobodyThereIsUnavailableAtOnce) {
  RedisLock a = Make("a", "unix:" + server_.socket() + ".nobody");
  const auto attempt = a.Acquire(kKey, milliseconds(30000));
  EXPECT_EQ(attempt.verdict, Verdict::kUnavailable);
  EXPECT_NE(attempt.message.find("cannot connect: No such file"), std::string::npos)
      << attempt.message;
}

TEST_F(RedisLockTest, BadOptionsAreSaidAndNeverConnected) {
  EXPECT_NE(RedisLock::Problem(RedisLockOptions{.redis = "nonsense:x"}), "");
  EXPECT_NE(RedisLock::Problem(RedisLock::GuardOptions{.ttl = milliseconds(5)}), "");
  RedisLock a = Make("a", "nonsense:x");
  EXPECT_EQ(a.Acquire(kKey, milliseconds(30000)).verdict, Verdict::kUnavailable);
  RedisLock b = Make("b");
  EXPECT_NE(b.Acquire(kKey, milliseconds(99)).message.find("100ms"), std::string::npos);
}

TEST_F(RedisLockTest, StopBeforeTheAnswerGivesUp) {
  RedisLock a = Make("a");
  server_.Freeze();
  std::stop_source stop;
  std::jthread later([&] { stop.request_stop(); });
  EXPECT_EQ(a.Acquire(kKey, milliseconds(30000), {}, stop.get_token()).verdict, Verdict::kStopped);
  server_.Thaw();
  ASSERT_TRUE(WaitFor([&] { return a.Acquire("k", milliseconds(500)).verdict == Verdict::kHeld; }));
  ASSERT_TRUE(WaitFor([&] { return server_.Ask({"DBSIZE"}) == "0"; }));
}

TEST(RedisLockLoginTest, PasswordUserAndDatabaseAndNoSecretInALog) {
  RedisServer server(
      {"--requirepass", "hunter2", "--user", "ops", "on", ">s3cret", "~job:*", "+@all"});
  std::string log;
  const auto login = [&](const std::string& user) {
    RedisLock lock({.redis = "unix://" + user + server.socket() + "?db=3",
                    .holder = "a",
                    .log = [&](LogSeverity, std::string_view line) { log += line; }});
    const auto attempt = lock.Acquire(kKey, milliseconds(30000));
    log += attempt.message;
    return attempt.verdict;
  };
  EXPECT_EQ(login(":hunter2@"), Verdict::kHeld);
  EXPECT_EQ(login("ops:s3cret@"), Verdict::kHeld);
  EXPECT_EQ(login("ops:wrong@"), Verdict::kUnavailable);
  EXPECT_EQ(login(""), Verdict::kUnavailable);
  EXPECT_NE(log.find("refused user and password"), std::string::npos) << log;
  EXPECT_NE(log.find("NOAUTH"), std::string::npos) << log;
  for (const char* secret : {"hunter2", "s3cret", "wrong"}) {
    EXPECT_EQ(log.find(secret), std::string::npos) << log;
  }
}

}  // namespace
}  // namespace tidemark::lock
