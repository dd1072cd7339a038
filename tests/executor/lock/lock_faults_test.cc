// Three holders, one Redis, a bad network, in virtual time and with seeds: whoever holds by his own
// reckoning holds in Redis too, nobody touches another's key, and in the end nothing is left.
#include <gtest/gtest.h>

#include <deque>
#include <optional>

#include "common/id.h"
#include "tests/executor/lock/core_bench.h"

namespace tidemark::lock {
namespace {

constexpr char kKey[] = "job:recon:2026-11-28";
constexpr absl::Duration kTtl = absl::Seconds(3);
constexpr absl::Duration kStep = absl::Milliseconds(20);

// A holder whose commands may be lost, late or unanswered.
class Client {
 public:
  Client(int number, VirtualRedis* redis, SeededRandom* random)
      : core_([number, n = 0]() mutable { return Token(number, ++n); }, absl::Seconds(2)),
        number_(number),
        redis_(redis),
        random_(random) {}

  void Step(absl::Duration now, bool faults) {
    if (now < paused_until_) return;
    if (faults && Chance(0.002)) {
      paused_until_ = now + absl::Seconds(random_->Uniform() * 6);
      return;
    }
    Act(now, faults);
    core_.Tick(now);
    Answer(now, faults);
    Late(now);
    for (const LockNotice& notice : core_.TakeNotices()) Take(notice);
    if (held_) {
      ++held_steps;
      ASSERT_EQ(redis_->TokenAt(kKey, now), core_.TokenOf(*held_)) << "holder " << number_;
    }
  }
  bool Idle() const { return core_.Idle() && late_.empty(); }
  bool Owns(const std::string& token) const {
    return token.starts_with(std::to_string(number_) + "/");
  }

  int held_steps = 0;
  int losses = 0;

 private:
  struct LateCommand {
    LockCommand command;
    absl::Duration at;
  };

  static std::string Token(int number, int n) {
    return std::to_string(number) + "/" + std::to_string(n);
  }
  bool Chance(double p) { return random_->Uniform() < p; }

  void Act(absl::Duration now, bool faults) {
    if (!id_) {
      if (faults && Chance(0.05)) id_ = core_.Acquire(now, kKey, kTtl);
    } else if (settled_) {
      if (!faults || Chance(0.005)) {
        core_.Release(now, *id_);
        held_.reset();
        settled_ = false;
      }
    } else if (Chance(0.01) && !released_) {
      core_.Abandon(now, *id_);
      Reset();
    }
  }

  void Take(const LockNotice& notice) {
    if (!id_ || notice.lock != *id_) return;
    switch (notice.kind) {
      case LockNotice::Kind::kHeld:
        held_ = id_;
        settled_ = true;
        released_ = true;
        break;
      case LockNotice::Kind::kLost:
        ++losses;
        held_.reset();
        break;
      case LockNotice::Kind::kRenewalsFail:
      case LockNotice::Kind::kRenewalsResume:
        break;
      default:
        Reset();
    }
  }
  void Reset() {
    id_.reset();
    held_.reset();
    settled_ = released_ = false;
  }

  // Answers the oldest command, or not yet.
  void Answer(absl::Duration now, bool faults) {
    for (LockCommand& command : core_.TakeCommands()) queue_.push_back({std::move(command), now});
    while (!queue_.empty() && !(faults && Chance(0.3))) {
      const auto [command, sent] = queue_.front();
      queue_.pop_front();
      core_.OnReply(now, command, Carry(command, sent, now, faults));
    }
  }

  LockReply Carry(const LockCommand& command, absl::Duration sent, absl::Duration now,
                  bool faults) {
    if (faults && (now < outage_until_ || Chance(0.002))) {
      if (now >= outage_until_) outage_until_ = now + absl::Seconds(random_->Uniform() * 3);
      return {LockReply::Kind::kNotSent, sent, "down"};
    }
    if (faults && Chance(0.03)) {  // carried out after it was given up
      late_.push_back({command, now + absl::Milliseconds(random_->Uniform() * 900)});
      return {LockReply::Kind::kInDoubt, sent, "no answer"};
    }
    const bool done = Run(command, now);
    if (faults && Chance(0.03)) return {LockReply::Kind::kInDoubt, sent, "no answer"};
    return {done ? LockReply::Kind::kDone : LockReply::Kind::kNot, sent, ""};
  }
  // Redis's clock may run up to a tenth faster.
  bool Run(const LockCommand& command, absl::Duration now) {
    const std::string before = redis_->TokenAt(kKey, now);
    const bool done = redis_->Run(command, now, kTtl * (0.9 + 0.1 * random_->Uniform()));
    if (!before.empty() && !Owns(before)) {
      EXPECT_EQ(redis_->TokenAt(kKey, now), before);
    }
    return done;
  }
  void Late(absl::Duration now) {
    std::erase_if(late_, [&](const LateCommand& late) {
      if (late.at > now) return false;
      Run(late.command, now);
      return true;
    });
  }

  LockCore core_;
  const int number_;
  VirtualRedis* const redis_;
  SeededRandom* const random_;
  std::deque<std::pair<LockCommand, absl::Duration>> queue_;
  std::vector<LateCommand> late_;
  absl::Duration paused_until_;
  absl::Duration outage_until_;
  std::optional<LockId> id_;
  std::optional<LockId> held_;  // told as held, not as lost
  bool settled_ = false;        // may be released
  bool released_ = false;       // is or was held: cannot be abandoned any more
};

class LockFaultsTest : public testing::TestWithParam<uint64_t> {};

TEST_P(LockFaultsTest, WhoHoldsHoldsInRedisAndNothingIsLeft) {
  SeededRandom random(GetParam());
  VirtualRedis redis;
  std::deque<Client> clients;
  for (int i = 0; i < 3; ++i) clients.emplace_back(i, &redis, &random);
  absl::Duration now = absl::Seconds(1000);
  const absl::Duration storm_ends = now + absl::Minutes(5);
  const absl::Duration end = storm_ends + absl::Minutes(1);
  for (; now < end; now += kStep) {
    for (Client& client : clients) {
      client.Step(now, now < storm_ends);
      ASSERT_FALSE(HasFatalFailure()) << "seed " << GetParam();
    }
  }
  int held = 0;
  int losses = 0;
  for (Client& client : clients) {
    EXPECT_TRUE(client.Idle());
    held += client.held_steps;
    losses += client.losses;
  }
  EXPECT_TRUE(redis.keys.empty()) << redis.keys.begin()->second.token;
  EXPECT_GT(held, 1000) << "the storm leaves something to test";
  EXPECT_GT(losses, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LockFaultsTest, testing::Range<uint64_t>(1, 41));

}  // namespace
}  // namespace tidemark::lock
