// Executors that are out of contact for long, or gone for good, with real processes.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "common/clock.h"
#include "tests/e2e/stage.h"

namespace tidemark {
namespace {

// The shortest lost_after that a beat of 5 s allows.
const char kShortLimits[] =
    "    timeouts: {lost_after: 8s, cancel_grace: 1s, reap_after: 8s}\n"
    "    retry: {backoff: [0s]}\n";

std::string AttemptsOf(World& world) {
  return world.Sql(
      "SELECT string_agg(attempt || ' ' || outcome, ',' ORDER BY attempt) FROM "
      "attempt");
}

std::string StateOf(World& world) {
  return world.Sql("SELECT count(*) || ' ' || min(status) || ' ' || max(attempt) FROM run_history");
}

bool WaitForTime(absl::Duration time) {
  const absl::Duration since = SystemClock().Monotonic();
  return WaitFor([&] { return SystemClock().Monotonic() - since >= time; });
}

// Stopped for longer than lost_after, with a handler that can be stopped: the run goes on
// elsewhere, and the process that wakes up touches it no more.
struct Retried {
  Stage stage;
  size_t entered;
  const char* why;
};

class StoppedForLongTest : public testing::TestWithParam<Retried> {};

TEST_P(StoppedForLongTest, AnotherAttemptOnceTheTimeIsOver) {
  SCOPED_TRACE(GetParam().why);
  StagedRun run(GetParam().stage, "work", kShortLimits);
  run.world().Pause(run.executor());
  ASSERT_TRUE(run.world().AllDone("job", run.dates()));
  EXPECT_EQ(StateOf(run.world()), "1 COMPLETED 2");
  run.link().Release();  // what was on its way arrives now
  run.world().Continue(run.executor());
  // The other one has nothing to tell any more, and this one leaves or has ended itself.
  if (GetParam().stage == Stage::kHalfWay) {
    EXPECT_TRUE(run.world().program(run.executor()).Wait(absl::Seconds(20)).has_value())
        << "it must not go on with a run that another attempt may have";
  } else {
    run.Drain();
  }
  EXPECT_EQ(run.Events("enter").size(), GetParam().entered);
  EXPECT_EQ(StateOf(run.world()), "1 COMPLETED 2");
  EXPECT_EQ(run.world().Sql("SELECT executor_id FROM run_history"), run.other());
  const std::vector<std::string> exits = run.Events("exit");
  const std::string success = "exit " + run.dates()[0] + " 2 " + run.other();
  ASSERT_EQ(exits.size(), 1U);
  EXPECT_EQ(exits[0].substr(0, success.size()), success);
}

constexpr Retried kRetried[] = {
    {Stage::kSent, 1, "the trigger that arrives late is older than the lease: never started"},
    {Stage::kHalfWay, 2, "the process finds that its time is over, and ends itself"},
};

INSTANTIATE_TEST_SUITE_P(Retry, StoppedForLongTest, testing::ValuesIn(kRetried),
                         [](const auto& info) { return std::string(Name(info.param.stage)); });

// The same with a handler that cannot be stopped: nobody else gets the run, however long it takes.
class HeldForLongTest : public testing::TestWithParam<Stage> {};

TEST_P(HeldForLongTest, NothingReopensWhatMayStillBeRunning) {
  StagedRun run(GetParam(), "stubborn", kShortLimits);
  run.world().Pause(run.executor());
  ASSERT_TRUE(WaitFor([&] { return run.world().Sql("SELECT held FROM active_run") == "t"; }));
  EXPECT_EQ(run.world().StatusOf("job", run.dates()[0]), "FAILED");
  EXPECT_EQ(run.world().Sql("SELECT count(*) FROM alert WHERE kind = 'run_reaped'"), "1");
  run.Release();
  run.world().Continue(run.executor());
  ASSERT_TRUE(run.world().AllDone("job", run.dates()));
  run.Drain();
  EXPECT_EQ(run.Events("enter").size(), 1U);
  EXPECT_EQ(run.Events("exit").size(), 1U);
  EXPECT_EQ(StateOf(run.world()), "1 COMPLETED 1");
}

INSTANTIATE_TEST_SUITE_P(Wait, HeldForLongTest, testing::Values(Stage::kSent, Stage::kHalfWay),
                         [](const auto& info) { return std::string(Name(info.param)); });

// As a garbage collection does it: shorter than the lease of 17 s, but two beats are missed.
TEST(LostTest, APauseOfTheExecutorShorterThanTheLeaseDisturbsNothing) {
  StagedRun run(Stage::kHalfWay);
  run.world().Pause(run.executor());
  WaitForTime(absl::Seconds(11));
  run.world().Continue(run.executor());
  EXPECT_EQ(
      run.world().Sql("SELECT state FROM executor WHERE executor_id = '" + run.executor() + "'"),
      "UP");
  run.Release();
  ASSERT_TRUE(run.world().AllDone("job", run.dates()));
  run.Drain();
  EXPECT_EQ(run.Events("enter").size(), 1U);
  EXPECT_EQ(AttemptsOf(run.world()), "1 SUCCEEDED");
  EXPECT_EQ(run.world().Sql("SELECT count(*) FROM alert WHERE kind <> 'catch_up_done'"), "0");
}

TEST(LostTest, E01ACrashInTheMiddleIsLostInTimeAndRetriedElsewhere) {
  StagedRun run(Stage::kHalfWay, "work", kShortLimits);
  const absl::Duration killed = SystemClock().Monotonic();
  run.Kill(run.executor());  // and nothing comes back in its place
  ASSERT_TRUE(run.world().AllDone("job", run.dates()));
  // lost_after from its last sign of life, which is at most a beat before its death, and a sweep.
  EXPECT_LT(SystemClock().Monotonic() - killed, absl::Seconds(12));
  EXPECT_EQ(AttemptsOf(run.world()), "1 LOST,2 SUCCEEDED");
  ASSERT_EQ(run.Events("enter").size(), 2U);
  EXPECT_EQ(run.Events("enter")[1], "enter " + run.dates()[0] + " 2 " + run.other() + " half");
}

TEST(LostTest, E02ARestartAtOnceDoesNotWaitForAnyTimeout) {
  StagedRun run(Stage::kHalfWay);  // lost_after 5 min, as by default
  const absl::Duration killed = SystemClock().Monotonic();
  run.Kill(run.executor());
  run.Restart(run.executor());
  ASSERT_TRUE(run.world().AllDone("job", run.dates()));
  EXPECT_LT(SystemClock().Monotonic() - killed, absl::Seconds(10));
  EXPECT_EQ(AttemptsOf(run.world()), "1 LOST,2 SUCCEEDED");
  EXPECT_EQ(run.Overlap(), "");
}

// Cut off in the middle, the handler ends in time, and its success arrives when attempt 2 has
// begun.
TEST(LostTest, E04ASuccessThatArrivesAfterAttempt2BeganIsANote) {
  StagedRun run(Stage::kFinished, "work", kShortLimits);
  run.world().Touch("hold-work-2");
  run.world().Pause(run.executor());  // with its result in the proxy's hand
  ASSERT_TRUE(WaitFor([&] { return run.Events("enter").size() == 2; }));
  run.Release();
  run.world().Continue(run.executor());
  ASSERT_TRUE(WaitFor([&] {
    return run.world().Sql("SELECT count(*) FROM alert WHERE kind = 'late_success'") == "1";
  }));
  EXPECT_EQ(run.world().Sql("SELECT attempt || ' ' || status FROM active_run"), "2 RUNNING");
  EXPECT_EQ(run.world().StatusOf("job", run.dates()[0]), "RUNNING");
  run.world().Remove("hold-work-2");
  ASSERT_TRUE(run.world().AllDone("job", run.dates()));
  run.Drain();
  EXPECT_EQ(StateOf(run.world()), "1 COMPLETED 2");
  EXPECT_EQ(AttemptsOf(run.world()), "1 LOST,2 SUCCEEDED");
}

// The first answer of every attempt, whatever it says, is lost with its stream, so that the
// scheduler does not know what became of its trigger: it sends the same attempt again, and the
// executor knows it.
TEST(LostTest, E09ALostAnswerIsAskedForAgainAndTheHandlerEnteredOnce) {
  World world;
  LinkProxy link(world.Reserve());
  world.UseLink(link.address());
  world.StartScheduler();
  world.StartProbe("e1");
  ASSERT_TRUE(WaitFor([&] { return world.Cli({"cluster", "status"}).code == 0; }));
  link.CutAt([answered = std::set<std::string>()](const LinkMessage& message) mutable {
    if (message.from_executor == nullptr) return false;
    bool first = false;
    for (const v1::RunReport& report : message.from_executor->reports()) {
      first = answered.insert(report.attempt().run_id()).second || first;
    }
    return first;
  });
  const auto dates = world.ApplyDaily("job", "ops", "work", 10);
  ASSERT_TRUE(world.AllDone("job", dates));
  EXPECT_GE(link.cuts(), 10);
  std::vector<std::string> expected;
  for (const std::string& date : dates) {
    expected.push_back("enter " + date + " 1 e1 -");
    expected.push_back("exit " + date + " 1 e1 -");
  }
  EXPECT_EQ(world.Journal(), expected);
}

}  // namespace
}  // namespace tidemark
