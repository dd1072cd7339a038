// Dates that wait for another job's (C11), and reruns that go on into what was computed from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Dates = std::vector<std::string>;
using Executor = EngineHarness::Executor;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// recon → settlement → report, daily, with the dates 2026-11-26 to 28 due. `order` lists what was
// entered; what `fails` names does not succeed.
struct Chain : public EngineHarness {
  Chain() : EngineHarness("2026-11-29T03:00:00Z") {
    // Made against the direction of the chain: the order of jobs must not matter.
    report = Apply(After("report", "settlement"));
    settlement = Apply(After("settlement", "recon"));
    recon = Apply(DailyJob("recon", "2026-11-26"));
    on_trigger = [this](Executor& e, const TriggerOrder& t) {
      Begin(e, t);
      order.push_back(t.job + " " + t.biz_date.substr(8));
      if (!finish) return;
      const bool bad = t.job + " " + t.biz_date.substr(8) == fails;
      Finish(e, t, bad ? Outcome::kFailedPermanent : Outcome::kSucceeded);
    };
  }
  static JobSpec After(const std::string& name, const std::string& upstream, int offset = 0) {
    JobSpec spec = DailyJob(name, "2026-11-26");
    spec.after = {{upstream, offset}};
    return spec;
  }
  // Where `what` stands in the order; each is expected once.
  size_t Place(const std::string& what) const {
    const auto it = std::find(order.begin(), order.end(), what);
    EXPECT_NE(it, order.end()) << what;
    EXPECT_EQ(std::count(order.begin(), order.end(), what), 1) << what;
    return static_cast<size_t>(it - order.begin());
  }
  void ExpectChainOf(const std::string& day) {
    EXPECT_LT(Place("recon " + day), Place("settlement " + day));
    EXPECT_LT(Place("settlement " + day), Place("report " + day));
  }
  std::string RunOf(int64_t job, std::string_view date) const {
    return store.watermarks.at({job, *ParseDate(date)}).run_id;
  }

  int64_t recon = 0;
  int64_t settlement = 0;
  int64_t report = 0;
  std::string fails;
  bool finish = true;
  Dates order;
};

TEST(DependencyTest, EachDateFollowsThatOfItsUpstreamThroughTheWholeChain) {
  Chain h;
  h.StartTerm();
  h.Start("e1");
  for (const char* day : {"26", "27", "28"}) h.ExpectChainOf(day);
  EXPECT_EQ(h.StatusOf(h.report, "2026-11-28"), "DONE");
  h.AdvanceTo("2026-11-29T17:00:05Z");  // the next night, all due at the same instant
  h.ExpectChainOf("29");
  EXPECT_EQ(h.StatusOf(h.report, "2026-11-29"), "DONE");
  EXPECT_EQ(h.order.size(), 12U);
}

TEST(DependencyTest, AFailureHoldsBackWhatFollowsAndItsRepairLetsItGo) {
  Chain h;
  h.fails = "recon 27";
  h.StartTerm();
  h.Start("e1");
  h.Advance(absl::Minutes(30));
  EXPECT_EQ(h.StatusOf(h.report, "2026-11-26"), "DONE");
  EXPECT_EQ(h.StatusOf(h.settlement, "2026-11-27"), "");
  EXPECT_EQ(h.StatusOf(h.recon, "2026-11-28"), "");
  h.order.clear();
  h.fails.clear();
  h.Command(h.recon, "trigger", {{"biz_date", "2026-11-27"}});
  for (const char* day : {"27", "28"}) h.ExpectChainOf(day);
  EXPECT_EQ(h.StatusOf(h.report, "2026-11-28"), "DONE");
}

TEST(DependencyTest, WaivedOrForcedUpstreamDatesLetTheirDependentsGo) {
  Chain h;
  h.fails = "recon 27";
  h.StartTerm();
  h.Start("e1");
  h.Command(h.recon, "waive", {{"date", "2026-11-27"}, {"reason", "no bills"}});
  EXPECT_EQ(h.StatusOf(h.report, "2026-11-28"), "DONE");
  h.AdvanceTo("2026-11-29T16:00:00Z");
  h.fails = "recon 29";
  h.AdvanceTo("2026-11-29T17:10:00Z");
  EXPECT_EQ(h.StatusOf(h.settlement, "2026-11-29"), "");
  h.Command(h.recon, "force_done", {{"date", "2026-11-29"}, {"reason", "by hand"}});
  EXPECT_EQ(h.StatusOf(h.report, "2026-11-29"), "DONE");
}

TEST(DependencyTest, ADateTakenBackUpstreamHoldsBackWhatIsNotDoneYet) {
  Chain h;
  h.StartTerm();
  h.Start("e1");
  h.Command(h.recon, "pause", {{"reason", "look"}});
  h.AdvanceTo("2026-11-29T17:10:00Z");
  EXPECT_EQ(h.StatusOf(h.settlement, "2026-11-29"), "") << "a paused upstream holds back";
  h.Command(h.recon, "resume");
  EXPECT_EQ(h.StatusOf(h.report, "2026-11-29"), "DONE");
}

TEST(DependencyTest, OnlyDatesThatAreDueUpstreamAreWaitedFor) {
  Chain h;
  JobSpec weekly = EngineHarness::DailyJob("weekly", "2026-11-01");
  weekly.schedule.cron = "0 0 1 ? * SUN";  // handles Saturdays
  h.Apply(weekly);
  const int64_t after = h.Apply(Chain::After("after", "weekly"));
  h.StartTerm();
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    if (t.job != "weekly") h.Finish(e, t, Outcome::kSucceeded);
  };
  h.Start("e1");
  EXPECT_EQ(h.DatesRun(after), (Dates{"2026-11-26", "2026-11-27"}))
      << "Thursday and Friday are not due upstream, Saturday is";
}

TEST(DependencyTest, DatesBeforeTheUpstreamBeganAreNotWaitedFor) {
  Chain h;
  h.Apply(EngineHarness::DailyJob("young", "2026-11-28"));
  const int64_t after = h.Apply(Chain::After("after", "young"));
  h.fails = "young 28";
  h.StartTerm();
  h.Start("e1");
  EXPECT_EQ(h.DatesRun(after), (Dates{"2026-11-26", "2026-11-27"}));
}

TEST(DependencyTest, AnUpstreamDateThatComesDueLaterIsWaitedFor) {
  EngineHarness h("2026-11-29T03:00:00Z");
  JobSpec late = EngineHarness::DailyJob("late", "2026-11-29");
  late.schedule.cron = "0 0 5 * * ?";
  h.Apply(late);
  JobSpec spec = EngineHarness::DailyJob("early", "2026-11-29");
  spec.after = {{"late", 0}};
  const int64_t early = h.Apply(spec);
  h.on_trigger = [&](Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kSucceeded);
  };
  h.StartTerm();
  h.Start("e1");
  h.AdvanceTo("2026-11-29T20:59:00Z");  // early was due at 01:00, late is at 05:00
  EXPECT_THAT(h.DatesRun(early), IsEmpty());
  h.AdvanceTo("2026-11-29T21:00:02Z");
  EXPECT_THAT(h.DatesRun(early), ElementsAre("2026-11-29"));
}

TEST(DependencyTest, AnOffsetNamesAnotherDateOfTheUpstream) {
  Chain h;
  const int64_t after = h.Apply(Chain::After("after", "recon", -1));
  h.fails = "recon 27";
  h.StartTerm();
  h.Start("e1");
  EXPECT_EQ(h.DatesRun(after), (Dates{"2026-11-26", "2026-11-27"}))
      << "the 26th waits for the 25th, which recon does not have, the 28th for the 27th";
}

TEST(DependencyTest, AnUpstreamThatIsNotThereOrBrokenHoldsBack) {
  Chain h;
  const int64_t lost = h.Apply(Chain::After("lost", "nobody"));
  h.Corrupt(h.recon);
  h.StartTerm();
  h.Start("e1");
  h.Advance(absl::Minutes(10));
  EXPECT_THAT(h.DatesRun(lost), IsEmpty());
  EXPECT_THAT(h.DatesRun(h.settlement), IsEmpty());
  h.Apply(EngineHarness::DailyJob("recon", "2026-11-26"));
  h.store.jobs[h.recon].versions.erase(h.store.jobs[h.recon].versions.begin());
  h.Advance(absl::Minutes(2));
  EXPECT_EQ(h.StatusOf(h.report, "2026-11-28"), "DONE");
}

TEST(DependencyTest, AManualTriggerAheadOfTheUpstreamIsRefusedAndNamesIt) {
  Chain h;
  h.fails = "recon 26";
  h.StartTerm();
  h.Start("e1");
  const CommandDone& refused =
      h.Answer(h.Command(h.settlement, "trigger", {{"biz_date", "2026-11-26"}}));
  EXPECT_EQ(refused.code, absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message, HasSubstr("waits for recon@2026-11-26"));
}

TEST(DependencyTest, AnUpstreamCannotBeDeletedBeforeItsDependents) {
  Chain h;
  h.StartTerm();
  h.Start("e1");
  const CommandDone& refused = h.Answer(h.Command(h.recon, "delete"));
  EXPECT_EQ(refused.code, absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message, HasSubstr("settlement"));
  JobSpec alone = EngineHarness::DailyJob("settlement", "2026-11-26");
  h.Apply(alone);
  EXPECT_EQ(h.Answer(h.Command(h.recon, "delete")).code, absl::StatusCode::kOk);
}

TEST(DependencyTest, AChainGoesOnAfterARestart) {
  Chain h;
  h.finish = false;
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  ASSERT_THAT(h.order, ElementsAre("recon 26"));
  h.KillScheduler();
  h.finish = true;
  h.Finish(e1, e1.triggers[0], Outcome::kSucceeded);
  h.StartTerm();
  h.Connect(e1);
  for (const char* day : {"26", "27", "28"}) h.ExpectChainOf(day);
}

// ---------------------------------------------------------------- rerun and cascade

TEST(CascadeTest, ARerunOfADoneDateListsWhatWasComputedFromItAndLeavesThat) {
  Chain h;
  h.StartTerm();
  h.Start("e1");
  h.order.clear();
  const CommandDone& done = h.Answer(h.Command(
      h.recon, "rerun", {{"biz_date", "2026-11-26"}, {"run_id", "r"}, {"force", "true"}}));
  ASSERT_EQ(done.code, absl::StatusCode::kOk) << done.message;
  EXPECT_EQ(done.result.at("later"), "2026-11-27,2026-11-28");
  EXPECT_EQ(done.result.at("dependents"), "settlement");
  EXPECT_THAT(h.order, ElementsAre("recon 26"));
}

TEST(CascadeTest, ACascadeRunsLaterDatesThenWhatWaitsForThemAgain) {
  Chain h;
  h.StartTerm();
  h.Start("e1");
  h.order.clear();
  h.Command(h.recon, "rerun",
            {{"biz_date", "2026-11-27"}, {"run_id", "r"}, {"force", "true"}, {"cascade", "true"}});
  EXPECT_THAT(h.order, ElementsAre("recon 27", "recon 28", "settlement 27", "settlement 28",
                                   "report 27", "report 28"));
  for (const auto& [key, mark] : h.store.watermarks) EXPECT_EQ(mark.status, "DONE");
  EXPECT_TRUE(h.store.active.empty());
}

TEST(CascadeTest, AFailureEndsTheCascadeAndEveryDateKeepsItsDone) {
  Chain h;
  h.StartTerm();
  h.Start("e1");
  const std::string before = h.RunOf(h.recon, "2026-11-28");
  h.order.clear();
  h.fails = "recon 27";
  h.Command(h.recon, "rerun",
            {{"biz_date", "2026-11-26"}, {"run_id", "r"}, {"force", "true"}, {"cascade", "true"}});
  // What was run again upstream is followed, what was not is not.
  EXPECT_THAT(h.order, ElementsAre("recon 26", "recon 27", "settlement 26", "settlement 27",
                                   "settlement 28", "report 26", "report 27", "report 28"));
  EXPECT_EQ(h.StatusOf(h.recon, "2026-11-28"), "DONE");
  EXPECT_EQ(h.RunOf(h.recon, "2026-11-28"), before);
  EXPECT_TRUE(h.store.active.empty());
  EXPECT_GT(h.Told("run_failed"), 0);
}

TEST(CascadeTest, ACascadeOutlivesTheScheduler) {
  Chain h;
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  h.order.clear();
  h.finish = false;
  h.Command(h.recon, "rerun",
            {{"biz_date", "2026-11-27"}, {"run_id", "r"}, {"force", "true"}, {"cascade", "true"}});
  ASSERT_THAT(h.order, ElementsAre("recon 27"));
  h.KillScheduler();
  h.finish = true;
  h.Finish(e1, e1.triggers.back(), Outcome::kSucceeded);
  h.StartTerm();
  h.Connect(e1);
  EXPECT_THAT(h.order, ElementsAre("recon 27", "recon 28", "settlement 27", "settlement 28",
                                   "report 27", "report 28"));
}

TEST(CascadeTest, ADateThatRunsMeanwhileIsRunAgainOnceItHasEnded) {
  Chain h;
  h.StartTerm();
  Executor& e1 = h.Start("e1");
  h.order.clear();
  h.finish = false;
  h.Command(h.settlement, "rerun",
            {{"biz_date", "2026-11-28"}, {"run_id", "r"}, {"force", "true"}});
  const TriggerOrder old = e1.triggers.back();  // reads what recon had
  h.finish = true;
  h.Command(h.recon, "rerun",
            {{"biz_date", "2026-11-28"}, {"run_id", "r"}, {"force", "true"}, {"cascade", "true"}});
  EXPECT_THAT(h.order, ElementsAre("settlement 28", "recon 28"));
  h.Finish(e1, old, Outcome::kSucceeded);
  EXPECT_THAT(h.order, ElementsAre("settlement 28", "recon 28", "settlement 28", "report 28"));
}

TEST(CascadeTest, IndependentDatesWereNotComputedFromEachOther) {
  Chain h;
  JobSpec spec = EngineHarness::DailyJob("recon", "2026-11-26");
  spec.catch_up.order = CatchUpOrder::kIndependent;
  h.Apply(spec);
  h.StartTerm();
  h.Start("e1");
  h.order.clear();
  const CommandDone& done = h.Answer(h.Command(
      h.recon, "rerun",
      {{"biz_date", "2026-11-27"}, {"run_id", "r"}, {"force", "true"}, {"cascade", "true"}}));
  EXPECT_EQ(done.result.at("later"), "");
  EXPECT_THAT(h.order,
              ElementsAre("recon 27", "settlement 27", "settlement 28", "report 27", "report 28"));
}

}  // namespace
}  // namespace tidemark
