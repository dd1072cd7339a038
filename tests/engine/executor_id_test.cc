// Several processes under one executor id: one acts at a time, and no run is freed by mistake.
#include <gtest/gtest.h>

#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

// e1 runs the one date there is; "second" is another process with its id.
struct Shared : public EngineHarness {
  Shared() : EngineHarness("2026-11-29T03:00:00Z"), job(Apply(DailyJob("recon", "2026-11-28"))) {
    StartTerm();
    executors["e1"].interruptible = false;
    Start("e1");
    Begin(first(), first().triggers[0]);
  }
  Executor& first() { return executors.at("e1"); }
  Executor& StartSecond() {
    Executor& second = executors["second"];
    second.id = "e1";
    second.incarnation = "00000000-0000-7000-8000-00000000beef";
    second.stream = 0;
    Connect(second);
    return second;
  }
  int64_t job;
};

TEST(ExecutorIdTest, OneWaitsBothAreToldAndAnAlertIsOpenMeanwhile) {
  Shared h;
  Executor& second = h.StartSecond();
  EXPECT_TRUE(second.waiting);
  ASSERT_EQ(h.first().notices.size(), 1U);
  EXPECT_NE(h.first().notices[0].find("e1"), std::string::npos);
  EXPECT_TRUE(h.HasAlert("executor_id_shared"));
  h.Advance(absl::Hours(1));
  EXPECT_TRUE(second.waiting);
  EXPECT_EQ(h.first().triggers.size(), 1U);
  h.Disconnect(second);
  EXPECT_FALSE(h.HasAlert("executor_id_shared")) << "the one that waited has gone";
}

TEST(ExecutorIdTest, TheSecondActsAtOnceWhenTheFirstSaysGoodbye) {
  Shared h;
  Executor& second = h.StartSecond();
  h.Finish(h.first(), h.first().triggers[0], Outcome::kSucceeded);
  h.Leave(h.first());
  EXPECT_FALSE(second.waiting);
  EXPECT_EQ(second.registration, 2);
  EXPECT_FALSE(h.HasAlert("executor_id_shared"));
}

TEST(ExecutorIdTest, ACutLinkOfTheFirstFreesNothing) {
  Shared h;
  Executor& second = h.StartSecond();
  h.Disconnect(h.first());
  h.Advance(absl::Seconds(5));
  EXPECT_TRUE(second.waiting);
  h.Connect(h.first());  // it was alive all the time
  EXPECT_EQ(h.first().registration, 1);
  h.Finish(h.first(), h.first().triggers[0], Outcome::kSucceeded);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_TRUE(second.triggers.empty());
}

TEST(ExecutorIdTest, TheSecondActsWhenTheFirstHasBeenSilentForALease) {
  Shared h;
  Executor& second = h.StartSecond();
  h.Disconnect(h.first());
  h.Advance(absl::Seconds(11));
  EXPECT_TRUE(second.waiting);
  h.Advance(absl::Seconds(7));
  EXPECT_FALSE(second.waiting);
  EXPECT_EQ(second.registration, 2);
  EXPECT_FALSE(h.HasAlert("executor_id_shared"));
}

TEST(ExecutorIdTest, WhenBothLinksAreCutTheSecondDoesNotOvertakeTheFirst) {
  Shared h;
  Executor& second = h.StartSecond();
  h.Disconnect(h.first());
  h.Disconnect(second);
  h.Connect(second);
  EXPECT_TRUE(second.waiting);
  h.Connect(h.first());
  h.Finish(h.first(), h.first().triggers[0], Outcome::kSucceeded);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_TRUE(second.triggers.empty());
}

TEST(ExecutorIdTest, AfterARestartOfTheSchedulerTheSecondDoesNotOvertakeTheFirst) {
  Shared h;
  h.StartSecond();
  h.KillScheduler();
  h.StartTerm();
  Executor& second = h.StartSecond();
  EXPECT_TRUE(second.waiting) << "the run may be going on in the first, which dials still";
  h.Advance(absl::Seconds(3));
  h.Connect(h.first());
  EXPECT_FALSE(h.first().rejected.has_value());
  h.Finish(h.first(), h.first().triggers[0], Outcome::kSucceeded);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  EXPECT_TRUE(second.triggers.empty());
}

TEST(ExecutorIdTest, AfterARestartOfTheSchedulerTheFirstMayHaveGoneForGood) {
  Shared h;
  h.KillScheduler();
  h.StartTerm();
  Executor& second = h.StartSecond();
  h.Advance(absl::Seconds(18));
  EXPECT_FALSE(second.waiting);
  ASSERT_EQ(second.triggers.size(), 1U);
  EXPECT_EQ(second.triggers[0].attempt.attempt, 2);
}

TEST(ExecutorIdTest, ASchedulerThatWasSuspendedDoesNotTakeTheFirstForSilent) {
  Shared h;
  Executor& second = h.StartSecond();
  h.Suspend(absl::Seconds(40));
  EXPECT_TRUE(second.waiting);
  h.Advance(absl::Seconds(30));
  EXPECT_TRUE(second.waiting);
}

TEST(ExecutorIdTest, ASupersededProcessIsRefusedForGood) {
  Shared h;
  Executor& e1 = h.first();
  const Executor old = e1;
  h.Disconnect(e1);
  h.Start("e1", 2);
  h.executors["old"] = old;
  h.Connect(h.executors["old"]);
  h.Disconnect(e1);
  h.Connect(h.executors["old"]);
  ASSERT_TRUE(h.executors["old"].rejected.has_value());
  EXPECT_EQ(h.executors["old"].rejected->reason, RejectedMessage::Reason::kSuperseded);
}

}  // namespace
}  // namespace tidemark
