// What an executor says counts for runs of its own app alone.
#include <gtest/gtest.h>

#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

// "ours" has the one run there is; "theirs" is an executor of another app.
struct TwoApps : public EngineHarness {
  TwoApps() : EngineHarness("2026-11-29T03:00:00Z"), job(Apply(DailyJob("recon", "2026-11-28"))) {
    StartTerm();
    executors["theirs"].app = "other";
    Start("ours");
    Start("theirs");
    Begin(ours(), ours().triggers[0]);
  }
  Executor& ours() { return executors.at("ours"); }
  Executor& theirs() { return executors.at("theirs"); }
  AttemptRef run() { return ours().triggers[0].attempt; }
  int64_t job;
};

TEST(ForgedReportTest, S03AnotherAppsCompletionChangesNothingAndEndsItsStream) {
  for (const bool knows_registration : {false, true}) {
    TwoApps h;
    h.theirs().registration = knows_registration ? h.ours().registration : 0;
    AttemptResult done;
    done.outcome = Outcome::kSucceeded;
    h.Report(h.theirs(), h.run(), FinishedReport{done});
    EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "RUNNING");
    ASSERT_EQ(h.denied.size(), 1U);
    EXPECT_NE(h.denied[0].find("another app's"), std::string::npos) << h.denied[0];
    EXPECT_EQ(h.theirs().stream, 0U) << "its stream has ended";
    // Whoever has the run goes on.
    h.Finish(h.ours(), h.ours().triggers[0], Outcome::kSucceeded);
    EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
  }
}

TEST(ForgedReportTest, S03NeitherProgressNorARefusalOfAnotherApp) {
  for (const int kind : {0, 1, 2}) {
    TwoApps h;
    h.theirs().registration = 0;
    decltype(RunReport::event) event = StartedReport{};
    if (kind == 1) event = ProgressReport{100, "forged", "forged"};
    if (kind == 2) event = RefusedReport{"TOMBSTONE", "forged"};
    h.Report(h.theirs(), h.run(), event);
    EXPECT_EQ(h.denied.size(), 1U) << kind;
    EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "RUNNING") << kind;
    for (const auto& [key, row] : h.store.active) EXPECT_NE(row.checkpoint, "forged") << kind;
  }
}

TEST(ForgedReportTest, S03AResultInTheHelloOfAnotherAppIsNoResult) {
  TwoApps h;
  h.Disconnect(h.theirs());
  RunReport forged;
  forged.attempt = h.run();
  AttemptResult done;
  done.outcome = Outcome::kSucceeded;
  forged.event = FinishedReport{done};
  h.theirs().unacknowledged.push_back(forged);
  h.Connect(h.theirs());
  EXPECT_EQ(h.denied.size(), 1U);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "RUNNING");
}

TEST(ForgedReportTest, S03AnotherAppCannotTakeAnExecutorsIdOrItsRuns) {
  TwoApps h;
  Executor& thief = h.executors["thief"];
  thief.id = "ours";
  thief.app = "other";
  thief.incarnation = "00000000-0000-7000-8000-00000000beef";
  h.Connect(thief);
  ASSERT_TRUE(thief.rejected.has_value());
  EXPECT_EQ(thief.rejected->reason, RejectedMessage::Reason::kAppMismatch);
  EXPECT_TRUE(h.ours().notices.empty()) << "nobody is told of a rival that is none";
  EXPECT_FALSE(h.HasAlert("executor_id_shared"));
  h.Finish(h.ours(), h.ours().triggers[0], Outcome::kSucceeded);
  EXPECT_EQ(h.StatusOf(h.job, "2026-11-28"), "DONE");
}

TEST(ForgedReportTest, AJobOfAnotherNamespaceOrdersNoExecutorAbout) {
  EngineHarness h("2026-11-29T03:00:00Z");
  JobSpec foreign = EngineHarness::DailyJob("foreign", "2026-11-28");
  foreign.ns = "elsewhere";
  const int64_t job = h.Apply(foreign);
  h.StartTerm();
  h.Start("e1");
  h.Advance(absl::Minutes(10));
  EXPECT_TRUE(h.executors.at("e1").triggers.empty());
  EXPECT_NE(h.StatusOf(job, "2026-11-28"), "DONE");
}

}  // namespace
}  // namespace tidemark
