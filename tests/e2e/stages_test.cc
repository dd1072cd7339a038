// kill -9 and SIGSTOP of executor and scheduler at every stage of a run: one effective run, and the
// right end. The handlers' own journal is the witness.
#include <gtest/gtest.h>

#include "common/clock.h"
#include "tests/e2e/stage.h"

namespace tidemark {
namespace {

// What a stop of this length may do is nothing: leases, lost_after and start timeout are longer.
constexpr absl::Duration kShortStop = absl::Seconds(1);

struct Cell {
  Stage stage;
  const char* victim;  // executor: the one that was chosen
  const char* fault;
  int entered;   // how often the handler is entered in all
  int attempts;  // the one that succeeds
  const char* why;
};

std::string CellName(const testing::TestParamInfo<Cell>& info) {
  return std::string(info.param.fault) + info.param.victim + std::string(Name(info.param.stage));
}

class StagesTest : public testing::TestWithParam<Cell> {};

TEST_P(StagesTest, OneEffectiveRun) {
  const Cell& cell = GetParam();
  SCOPED_TRACE(cell.why);
  StagedRun run(cell.stage);
  const bool scheduler = std::string_view(cell.victim) == "Scheduler";
  const std::string victim = scheduler ? "scheduler" : run.executor();
  if (std::string_view(cell.fault) == "Kill") {
    run.Kill(victim);
    // What the scheduler had sent still arrives after its death; what the executor had, does not.
    if (!scheduler) run.Lose();
    run.Restart(victim);
    run.Release();
  } else {
    run.world().Pause(victim);
    const absl::Duration since = SystemClock().Monotonic();
    run.Release();
    WaitFor([&] { return SystemClock().Monotonic() - since >= kShortStop; });
    run.world().Continue(victim);
  }
  ASSERT_TRUE(run.world().AllDone("job", run.dates()));
  run.Drain();
  EXPECT_EQ(run.Events("enter").size(), cell.entered);
  EXPECT_EQ(run.Events("exit").size(), 1U);
  EXPECT_EQ(run.Overlap(), "");
  EXPECT_EQ(run.world().Sql("SELECT count(*) || ' ' || min(status) || ' ' || max(attempt) FROM "
                            "run_history"),
            "1 COMPLETED " + std::to_string(cell.attempts));
  EXPECT_EQ(run.world().Sql("SELECT count(*) FROM active_run"), "0");
  if (cell.stage == Stage::kHalfWay && cell.entered == 2) {
    EXPECT_NE(run.Events("enter")[1].find(" half"), std::string::npos) << "its checkpoint";
  }
}

constexpr Cell kCells[] = {
    // A new process of the executor registers, and by that its runs are free (X2).
    {Stage::kRecorded, "Executor", "Kill", 1, 2, "attempt 1 never left: free at once"},
    {Stage::kSent, "Executor", "Kill", 1, 2, "attempt 1 died with the process, unopened"},
    {Stage::kAccepted, "Executor", "Kill", 1, 2, "attempt 1 was accepted, but never entered"},
    {Stage::kStarted, "Executor", "Kill", 2, 2, "attempt 1 ended with its process"},
    {Stage::kHalfWay, "Executor", "Kill", 2, 2, "attempt 1 ended with its process"},
    {Stage::kFinished, "Executor", "Kill", 1, 1, "the new process offers the spooled result"},
    {Stage::kReported, "Executor", "Kill", 1, 1, "the end is committed"},
    {Stage::kAcknowledged, "Executor", "Kill", 1, 1, "a result that is offered again is a note"},
    // The next owner finds the run in active_run and asks its executor, which did not notice.
    {Stage::kRecorded, "Scheduler", "Kill", 1, 1, "sent by the next owner, as the same attempt"},
    {Stage::kSent, "Scheduler", "Kill", 1, 1, "the copy of the next owner is the same attempt"},
    {Stage::kAccepted, "Scheduler", "Kill", 1, 1, "the executor has it and goes on"},
    {Stage::kStarted, "Scheduler", "Kill", 1, 1, "the executor has it and goes on"},
    {Stage::kHalfWay, "Scheduler", "Kill", 1, 1, "the executor has it and goes on"},
    {Stage::kFinished, "Scheduler", "Kill", 1, 1, "the result is offered to the next owner"},
    {Stage::kReported, "Scheduler", "Kill", 1, 1, "the end is committed"},
    {Stage::kAcknowledged, "Scheduler", "Kill", 1, 1, "a result that is offered again is a note"},
    // Shorter than every limit: nothing happens, later.
    {Stage::kRecorded, "Executor", "Stop", 1, 1, "the trigger waits in the socket"},
    {Stage::kSent, "Executor", "Stop", 1, 1, "the trigger waits in the socket"},
    {Stage::kAccepted, "Executor", "Stop", 1, 1, "no limit is over"},
    {Stage::kStarted, "Executor", "Stop", 1, 1, "no limit is over"},
    {Stage::kHalfWay, "Executor", "Stop", 1, 1, "no limit is over"},
    {Stage::kFinished, "Executor", "Stop", 1, 1, "the result was on its way"},
    {Stage::kReported, "Executor", "Stop", 1, 1, "the end is committed"},
    {Stage::kAcknowledged, "Executor", "Stop", 1, 1, "the acknowledgement waits in the socket"},
    {Stage::kRecorded, "Scheduler", "Stop", 1, 1, "the commit's answer waits in the socket"},
    {Stage::kSent, "Scheduler", "Stop", 1, 1, "the trigger had left"},
    {Stage::kAccepted, "Scheduler", "Stop", 1, 1, "the run goes on meanwhile"},
    {Stage::kStarted, "Scheduler", "Stop", 1, 1, "the run goes on meanwhile"},
    {Stage::kHalfWay, "Scheduler", "Stop", 1, 1, "the run goes on meanwhile"},
    {Stage::kFinished, "Scheduler", "Stop", 1, 1, "the result waits in the socket"},
    {Stage::kReported, "Scheduler", "Stop", 1, 1, "the commit's answer waits in the socket"},
    {Stage::kAcknowledged, "Scheduler", "Stop", 1, 1, "the acknowledgement had left"},
};

INSTANTIATE_TEST_SUITE_P(All, StagesTest, testing::ValuesIn(kCells), CellName);

}  // namespace
}  // namespace tidemark
