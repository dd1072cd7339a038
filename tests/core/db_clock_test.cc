#include "scheduler/core/db_clock.h"

#include <algorithm>

#include "common/id.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

const absl::Time kBase = absl::FromUnixSeconds(1795885200);

// The answer `db` seconds after kBase, asked at `sent` and arrived at `received`.
ClockSample Sample(double db, double sent, double received) {
  return {kBase + absl::Seconds(db), absl::Seconds(sent), absl::Seconds(received)};
}

TEST(DbClock, KnowsNothingBeforeItAsked) {
  const DbClock clock;
  EXPECT_FALSE(clock.known());
  EXPECT_FALSE(clock.holding());
  EXPECT_EQ(clock.At(absl::Seconds(5)).lo, absl::InfinitePast());
  EXPECT_EQ(clock.At(absl::Seconds(5)).hi, absl::InfiniteFuture());
}

TEST(DbClock, TheTripIsTheDoubt) {
  DbClock clock;
  EXPECT_FALSE(clock.Add(Sample(0, 10, 12)).has_value());
  EXPECT_TRUE(clock.known());
  const TimeInterval now = clock.At(absl::Seconds(12));
  EXPECT_EQ(now.lo, kBase);
  EXPECT_GE(now.hi, kBase + absl::Seconds(2));
  EXPECT_LT(now.hi, kBase + absl::Seconds(2.001));
  // A better sample narrows it, a worse one does not widen it.
  clock.Add(Sample(1.5, 12.9, 13));
  const TimeInterval better = clock.At(absl::Seconds(13));
  EXPECT_LT(better.hi - better.lo, absl::Milliseconds(102));
  clock.Add(Sample(0.5, 10, 14));
  const TimeInterval same = clock.At(absl::Seconds(14));
  EXPECT_LT(same.hi - same.lo, absl::Milliseconds(103));
}

TEST(DbClock, DoubtGrowsWithTheDriftOnBothSides) {
  DbClock clock;
  clock.Add(Sample(0, 10, 10));
  const TimeInterval later = clock.At(absl::Seconds(10010));
  EXPECT_EQ(later.lo, kBase + absl::Seconds(9998));
  EXPECT_EQ(later.hi, kBase + absl::Seconds(10002));
  const TimeInterval earlier = clock.At(absl::Seconds(5));
  EXPECT_LT(earlier.lo, kBase - absl::Seconds(5));
  EXPECT_GT(earlier.hi, kBase - absl::Seconds(5));
}

TEST(DbClock, StepsBeyondFiveSecondsAreHeldSmallerOnesTaken) {
  for (const double step : {6.0, -6.0, 3600.0, -3600.0}) {
    DbClock clock;
    clock.Add(Sample(0, 10, 10));
    const auto refused = clock.Add(Sample(1 + step, 11, 11));
    ASSERT_TRUE(refused.has_value()) << step;
    EXPECT_LT(absl::AbsDuration(*refused - absl::Seconds(step)), absl::Milliseconds(1));
    EXPECT_TRUE(clock.holding());
    // What was known stays until somebody decides.
    EXPECT_LT(absl::AbsDuration(clock.At(absl::Seconds(11)).lo - kBase - absl::Seconds(1)),
              absl::Milliseconds(1));
    clock.Accept();
    EXPECT_FALSE(clock.holding());
    EXPECT_EQ(clock.At(absl::Seconds(11)).lo, kBase + absl::Seconds(1 + step));
  }
  for (const double step : {4.0, -4.0, 0.01, -0.01}) {
    DbClock clock;
    clock.Add(Sample(0, 10, 10));
    EXPECT_FALSE(clock.Add(Sample(1 + step, 11, 11)).has_value()) << step;
    EXPECT_FALSE(clock.holding());
    EXPECT_EQ(clock.At(absl::Seconds(11)).lo, kBase + absl::Seconds(1 + step));
    EXPECT_EQ(clock.At(absl::Seconds(11)).hi, kBase + absl::Seconds(1 + step));
  }
}

TEST(DbClock, AStepIsOverWhenTheNextSampleAgreesWithWhatWasKnown) {
  DbClock clock;
  clock.Add(Sample(0, 10, 10));
  EXPECT_TRUE(clock.Add(Sample(100, 11, 11)).has_value());
  EXPECT_FALSE(clock.Add(Sample(2, 12, 12)).has_value());
  EXPECT_FALSE(clock.holding());
  clock.Accept();  // nothing waits any more
  EXPECT_LT(clock.At(absl::Seconds(12)).lo, kBase + absl::Seconds(3));
}

TEST(DbClock, AStepOneMoreTimeIsStillHeld) {
  DbClock clock;
  clock.Add(Sample(0, 10, 10));
  EXPECT_TRUE(clock.Add(Sample(101, 11, 11)).has_value());
  EXPECT_TRUE(clock.Add(Sample(102, 12, 12)).has_value());
  EXPECT_TRUE(clock.holding());
  clock.Accept();  // the later of them
  EXPECT_EQ(clock.At(absl::Seconds(12)).lo, kBase + absl::Seconds(102));
}

// A step is measured against the nearest bound: a long trip is doubt, not a step.
TEST(DbClock, ASlowAnswerIsNoStep) {
  DbClock clock;
  clock.Add(Sample(0, 10, 10));
  EXPECT_FALSE(clock.Add(Sample(1, 11, 41)).has_value());
  EXPECT_FALSE(clock.Add(Sample(50, 60, 60)).has_value());
}

// Against a database clock that drifts as far as allowed, over trips of any length whose answers
// overtake each other: the truth is always inside, and no answer moves the lower bound back.
TEST(DbClock, PropertyTheTruthIsAlwaysInside) {
  SeededRandom random(31);
  for (int round = 0; round < 300; ++round) {
    DbClock clock;
    const double skew = (2 * random.Uniform() - 1) * DbClock::kDrift * 0.99;
    const auto truth = [&](absl::Duration mono) { return kBase + mono + mono * skew; };
    absl::Duration mono = absl::Seconds(1000);
    for (int step = 0; step < 200; ++step) {
      mono += absl::Seconds(random.Uniform() * (step % 50 == 0 ? 5000 : 5));
      const absl::Duration trip =
          absl::Milliseconds(random.Uniform() * (random.Next() % 10 == 0 ? 4000 : 20));
      // Now and then one that arrived earlier is handed in later.
      const absl::Duration received =
          mono - absl::Milliseconds(random.Next() % 4 == 0 ? random.Uniform() * 900 : 0);
      const absl::Duration read = received - trip * random.Uniform();
      const absl::Time before = clock.At(mono).lo;
      ASSERT_FALSE(clock.Add({truth(read), received - trip, received}).has_value());
      const TimeInterval now = clock.At(mono);
      ASSERT_LE(now.lo, truth(mono));
      ASSERT_GE(now.hi, truth(mono));
      // To a drift over what lies between: the answer that came late is older than the state.
      ASSERT_GE(now.lo, before - absl::Seconds(1) * 2 * DbClock::kDrift);
      const absl::Duration ahead = mono + absl::Seconds(random.Uniform() * 1000);
      ASSERT_LE(clock.At(ahead).lo, truth(ahead));
      ASSERT_GE(clock.At(ahead).hi, truth(ahead));
      ASSERT_GE(clock.At(ahead).lo, now.lo);
    }
  }
}

}  // namespace
}  // namespace tidemark
