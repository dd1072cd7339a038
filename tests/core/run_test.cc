#include "scheduler/core/run.h"

#include <string>
#include <vector>

#include "common/id.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

// ---------------------------------------------------------------- X2

// The rule said the other way round: who may still be running, or may still start.
bool MayStillRun(const AttemptFacts& facts) {
  if (facts.forced) return false;                    // a person answers for it
  if (!facts.sent) return false;                     // nobody was told to run it
  if (facts.refused) return false;                   // it will not start
  if (facts.ended) return false;                     // it is over
  if (facts.process_gone) return false;              // whoever ran it is dead
  if (facts.on_lost != OnLost::kRetry) return true;  // no promise to stop by itself
  return !facts.lost_after_over;                     // promised to have stopped by then
}

AttemptFacts FactsOf(unsigned bits, OnLost on_lost) {
  AttemptFacts facts;
  facts.sent = (bits & 1) != 0;
  facts.refused = (bits & 2) != 0;
  facts.ended = (bits & 4) != 0;
  facts.process_gone = (bits & 8) != 0;
  facts.lost_after_over = (bits & 16) != 0;
  facts.forced = (bits & 32) != 0;
  facts.on_lost = on_lost;
  return facts;
}

TEST(Released, IsExactlyWhenNothingMayStillRun) {
  int released = 0;
  for (const OnLost on_lost : {OnLost::kByHandler, OnLost::kRetry, OnLost::kWait}) {
    for (unsigned bits = 0; bits < 64; ++bits) {
      const AttemptFacts facts = FactsOf(bits, on_lost);
      ASSERT_EQ(Released(facts), !MayStillRun(facts)) << bits;
      released += Released(facts) ? 1 : 0;
      // Learning more never takes a release back.
      for (unsigned more = 2; more < 64; more *= 2) {
        if (Released(facts)) {
          ASSERT_TRUE(Released(FactsOf(bits | more, on_lost)));
        }
      }
    }
  }
  // Counted by hand: 3 × 64, less what was sent with no word of an end (2 for wait, 2 for an
  // undecided one, 1 for retry).
  EXPECT_EQ(released, 3 * 64 - 5);
}

TEST(Released, ASentRunIsHeldUntilSomethingIsKnown) {
  AttemptFacts facts;
  facts.sent = true;
  EXPECT_FALSE(Released(facts));
  facts.lost_after_over = true;
  EXPECT_FALSE(Released(facts));  // on_lost: wait goes on waiting
  facts.on_lost = OnLost::kRetry;
  EXPECT_TRUE(Released(facts));
}

// ---------------------------------------------------------------- R3

constexpr Outcome kOutcomes[] = {
    Outcome::kSucceeded, Outcome::kFailedRetryable, Outcome::kFailedPermanent,
    Outcome::kStopped,   Outcome::kDrained,         Outcome::kRefused,
    Outcome::kLost};

Verdict JudgeAt(int failed, int lost, Outcome outcome, bool timed_out = false,
                const std::string& cancel_by = "") {
  ActiveRun run;
  run.failed_attempts = failed;
  run.lost_attempts = lost;
  run.cancel_by = cancel_by;
  return Judge(run, outcome, timed_out, RetryRule(), 0.5);
}

std::string Show(const Verdict& verdict) {
  const std::string counts =
      std::to_string(verdict.failed_attempts) + "/" + std::to_string(verdict.lost_attempts);
  switch (verdict.kind) {
    case Verdict::Kind::kRetry:
      return "retry after " + absl::FormatDuration(verdict.delay) + " " + counts;
    case Verdict::Kind::kReassign:
      return "reassign " + counts;
    case Verdict::Kind::kClose:
      return std::string(Name(verdict.status)) + "(" + verdict.reason + ") " + counts;
  }
  return "";
}

struct JudgeCase {
  Outcome outcome;
  int failed;
  int lost;
  bool timed_out;
  const char* want;
};

TEST(Judge, Table) {
  const JudgeCase kCases[] = {
      {Outcome::kSucceeded, 0, 0, false, "COMPLETED() 0/0"},
      {Outcome::kSucceeded, 3, 9, false, "COMPLETED() 3/9"},
      {Outcome::kSucceeded, 0, 0, true, "COMPLETED() 0/0"},  // just in time
      {Outcome::kFailedRetryable, 0, 0, false, "retry after 0 1/0"},
      {Outcome::kFailedRetryable, 1, 0, false, "retry after 1m 2/0"},
      {Outcome::kFailedRetryable, 2, 0, false, "retry after 5m 3/0"},
      {Outcome::kFailedRetryable, 3, 0, false, "FAILED(retries) 4/0"},
      {Outcome::kFailedRetryable, 0, 9, false, "retry after 0 1/9"},  // two counts, two caps
      {Outcome::kFailedPermanent, 0, 0, false, "FAILED(permanent) 1/0"},
      {Outcome::kStopped, 0, 0, true, "retry after 0 1/0"},
      {Outcome::kStopped, 3, 0, true, "FAILED(timeout) 4/0"},
      {Outcome::kStopped, 3, 0, false, "reassign 3/1"},  // its executor stopped, not the run
      {Outcome::kDrained, 3, 0, false, "reassign 3/1"},
      {Outcome::kLost, 3, 8, false, "reassign 3/9"},
      {Outcome::kLost, 0, 9, false, "FAILED(lost) 0/10"},
      {Outcome::kDrained, 0, 9, false, "FAILED(lost) 0/10"},
      {Outcome::kRefused, 3, 9, false, "reassign 3/9"},  // never entered: consumes nothing
  };
  for (const JudgeCase& c : kCases) {
    EXPECT_EQ(Show(JudgeAt(c.failed, c.lost, c.outcome, c.timed_out)), c.want)
        << Name(c.outcome) << " after " << c.failed << "/" << c.lost;
  }
}

TEST(Judge, ACancelledRunEndsCancelledUnlessItSucceeded) {
  for (const Outcome outcome : kOutcomes) {
    for (const bool timed_out : {false, true}) {
      for (const int failed : {0, 3}) {
        const Verdict verdict = JudgeAt(failed, 9, outcome, timed_out, "ann");
        ASSERT_EQ(verdict.kind, Verdict::Kind::kClose);
        if (outcome == Outcome::kSucceeded) {
          EXPECT_EQ(verdict.status, RunStatus::kCompleted);
        } else {
          EXPECT_EQ(verdict.status, RunStatus::kCancelled);
          EXPECT_EQ(verdict.reason, "cancelled");
        }
      }
    }
  }
}

TEST(Judge, JitterStaysWithinItsShareAndReachesBothSides) {
  RetryRule rule;
  rule.max_attempts = 10;
  rule.backoff = {absl::Seconds(100)};
  for (const double jitter : {0.0, 0.1, 0.5, 1.0}) {
    rule.jitter = jitter;
    ActiveRun run;
    run.failed_attempts = 4;
    for (const double unit : {0.0, 0.25, 0.5, 0.75, 0x1.fffffffffffffp-1}) {
      const absl::Duration delay = Judge(run, Outcome::kFailedRetryable, false, rule, unit).delay;
      EXPECT_GE(delay, absl::Seconds(100) * (1 - jitter));
      EXPECT_LE(delay, absl::Seconds(100) * (1 + jitter));
    }
    EXPECT_EQ(Judge(run, Outcome::kFailedRetryable, false, rule, 0).delay,
              absl::Seconds(100) * (1 - jitter));
    EXPECT_EQ(Judge(run, Outcome::kFailedRetryable, false, rule, 0.5).delay, absl::Seconds(100));
  }
}

TEST(Judge, WithoutBackOffRetriesAtOnceAndTheLastBackOffGoesOn) {
  RetryRule rule;
  rule.max_attempts = 10;
  rule.jitter = 0;
  ActiveRun run;
  run.failed_attempts = 7;
  EXPECT_EQ(Judge(run, Outcome::kFailedRetryable, false, rule, 0).delay, absl::Minutes(5));
  rule.backoff.clear();
  EXPECT_EQ(Judge(run, Outcome::kFailedRetryable, false, rule, 0).delay, absl::ZeroDuration());
}

// A run that is carried on by its verdicts whatever happens to it.
TEST(Judge, PropertyEveryRunEndsWithinItsCaps) {
  SeededRandom random(17);
  for (int round = 0; round < 20000; ++round) {
    RetryRule rule;
    rule.max_attempts = 1 + static_cast<int>(random.Next() % 5);
    rule.max_lost = 1 + static_cast<int>(random.Next() % 12);
    ActiveRun run;
    int failures = 0;
    int losses = 0;
    for (int step = 0;; ++step) {
      ASSERT_LT(step, 1000);
      const Outcome outcome = kOutcomes[1 + random.Next() % 6];
      const bool timed_out = random.Next() % 2 == 0;
      const Verdict verdict = Judge(run, outcome, timed_out, rule, random.Uniform());
      if (outcome == Outcome::kFailedRetryable || outcome == Outcome::kFailedPermanent ||
          (outcome == Outcome::kStopped && timed_out)) {
        ++failures;
      } else if (outcome != Outcome::kRefused) {
        ++losses;
      }
      ASSERT_EQ(verdict.failed_attempts, failures);
      ASSERT_EQ(verdict.lost_attempts, losses);
      ASSERT_LE(failures, rule.max_attempts);
      ASSERT_LE(losses, rule.max_lost);
      const bool closes = outcome == Outcome::kFailedPermanent || failures == rule.max_attempts ||
                          losses == rule.max_lost;
      ASSERT_EQ(verdict.kind == Verdict::Kind::kClose, closes) << Show(verdict);
      if (closes) {
        ASSERT_EQ(verdict.status, RunStatus::kFailed);
        break;
      }
      run.failed_attempts = verdict.failed_attempts;
      run.lost_attempts = verdict.lost_attempts;
    }
  }
}

// ---------------------------------------------------------------- names and keys

TEST(Names, ReadBack) {
  for (const TriggerType type : {TriggerType::kSchedule, TriggerType::kCatchUp,
                                 TriggerType::kBackfill, TriggerType::kManual}) {
    EXPECT_EQ(ParseTriggerType(Name(type)), type);
  }
  for (const RunStatus status : {RunStatus::kPending, RunStatus::kRunning, RunStatus::kCompleted,
                                 RunStatus::kFailed, RunStatus::kCancelled, RunStatus::kSkipped}) {
    EXPECT_EQ(ParseRunStatus(Name(status)), status);
  }
  for (const Outcome outcome : kOutcomes) EXPECT_FALSE(Name(outcome).empty());
  EXPECT_EQ(ParseRunStatus("pending"), std::nullopt);
  EXPECT_EQ(ParseTriggerType(""), std::nullopt);
}

TEST(OccurrenceKey, IsTheSameTextOnEveryNode) {
  EXPECT_EQ(DateKey(1, absl::CivilDay(2026, 1, 2)).key, "2026-01-02");
  const absl::Time fire =
      absl::FromCivil(absl::CivilSecond(2026, 1, 2, 3, 4, 5), absl::FixedTimeZone(8 * 3600));
  EXPECT_EQ(FireKey(1, fire).key, "2026-01-01T19:04:05Z");
  EXPECT_EQ(FireKey(1, fire).kind, 'F');
  EXPECT_EQ(ManualKey(1, "click").kind, 'M');
  EXPECT_LT(DateKey(1, absl::CivilDay(2026, 9, 30)), DateKey(1, absl::CivilDay(2026, 10, 1)));
  EXPECT_FALSE(ManualKey(1, "2026-01-02") == DateKey(1, absl::CivilDay(2026, 1, 2)));
}

// N2: a fail-over's timeline counts for more than any number.
TEST(Epoch, OrdersByTimelineFirst) {
  EXPECT_LT((Epoch{1, 900}), (Epoch{2, 1}));
  EXPECT_LT((Epoch{2, 1}), (Epoch{2, 2}));
}

}  // namespace
}  // namespace tidemark
