// The budget of catch-up: what is due now is never late because of it (C7).
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "common/time_text.h"
#include "tests/engine/harness.h"

namespace tidemark {
namespace {

using Executor = EngineHarness::Executor;

// Executors that take `run_time` over each trigger.
struct Busy : public EngineHarness {
  explicit Busy(std::string_view now) : EngineHarness(now) {
    on_trigger = [this](Executor& e, const TriggerOrder& t) {
      Begin(e, t);
      running.push_back({e.id, t, this->now().mono + run_time});
      order.push_back(t.job + " " + t.biz_date);
      if (t.trigger == TriggerType::kCatchUp) {
        most_catch_ups = std::max(most_catch_ups, CatchUps());
        const auto of_job = std::count_if(running.begin(), running.end(), [&](const Running& r) {
          return r.trigger.job == t.job && r.trigger.trigger == TriggerType::kCatchUp;
        });
        most_of_a_job = std::max(most_of_a_job, static_cast<int>(of_job));
      } else {
        late = std::max(late, this->now().lo - t.fire_time);
        ++on_time;
      }
    };
  }
  int CatchUps() const {
    return static_cast<int>(std::count_if(running.begin(), running.end(), [](const Running& r) {
      return r.trigger.trigger == TriggerType::kCatchUp;
    }));
  }
  void Work(absl::Duration d) {
    for (const absl::Duration end = now().mono + d; now().mono < end;) {
      Advance(absl::Seconds(1));
      std::vector<Running> ended;
      std::erase_if(running, [&](const Running& r) {
        if (r.until > now().mono) return false;
        ended.push_back(r);
        return true;
      });
      for (const Running& r : ended) {
        Finish(executors.at(r.executor), r.trigger, Outcome::kSucceeded);
      }
    }
  }

  struct Running {
    std::string executor;
    TriggerOrder trigger;
    absl::Duration until;
  };
  std::vector<Running> running;
  std::vector<std::string> order;
  absl::Duration run_time = absl::Seconds(20);
  absl::Duration late;
  int on_time = 0;
  int most_catch_ups = 0;
  int most_of_a_job = 0;
};

JobSpec Minutely(const std::string& app) {
  JobSpec spec = EngineHarness::DailyJob("minutely", "");
  spec.app = app;
  spec.schedule.cron = "0 * * * * ?";
  return spec;
}

// M02: a start after a day down must not drown what is due now, nor exceed any limit.
TEST(BudgetTest, M02TwoHundredJobsCatchUpWhileARegularJobStaysOnTime) {
  Busy h("2026-11-29T03:00:30Z");
  h.run_time = absl::Seconds(1);
  h.Apply(Minutely("app"));
  std::vector<int64_t> jobs;
  for (int i = 0; i < 200; ++i) {
    jobs.push_back(h.Apply(EngineHarness::DailyJob("job" + std::to_string(i), "2026-11-05")));
  }
  h.StartTerm();
  h.executors["e1"].capacity = 4;
  h.Start("e1");
  for (int minutes = 0; minutes < 60 && h.store.history.size() < 200 * 24 + 10; ++minutes) {
    h.Work(absl::Minutes(1));
  }
  for (const int64_t job : jobs) {
    const std::vector<std::string> dates = h.DatesRun(job);
    ASSERT_EQ(dates.size(), 24U);
    ASSERT_TRUE(std::is_sorted(dates.begin(), dates.end()));
  }
  EXPECT_GT(h.on_time, 10);
  EXPECT_LE(h.late, absl::Seconds(1));
  EXPECT_EQ(h.most_catch_ups, 3);
  EXPECT_EQ(h.most_of_a_job, 1);
  EXPECT_FALSE(h.HasAlert("no_executor")) << "waiting for a slot is no lack of executors";
}

TEST(BudgetTest, OfWhatWaitsForASlotTheOldestDateComesFirst) {
  Busy h("2026-11-29T03:00:30Z");
  h.Apply(EngineHarness::DailyJob("young", "2026-11-28"));
  h.Apply(EngineHarness::DailyJob("middle", "2026-11-27"));
  h.Apply(EngineHarness::DailyJob("old", "2026-11-26"));
  h.budget.per_app = 1;
  h.KillScheduler();
  h.StartTerm();
  h.Start("e1");
  h.Work(absl::Minutes(3));
  // While a job's next date is being opened, the slot goes to the oldest of those that wait.
  EXPECT_EQ(h.order,
            (std::vector<std::string>{"old 2026-11-26", "middle 2026-11-27", "old 2026-11-27",
                                      "young 2026-11-28", "middle 2026-11-28", "old 2026-11-28"}));
}

TEST(BudgetTest, AnAppThatIsDownStarvesNobody) {
  Busy h("2026-11-29T03:00:30Z");
  h.budget.per_node = 2;
  h.KillScheduler();
  for (int i = 0; i < 20; ++i) {
    JobSpec spec = EngineHarness::DailyJob("down" + std::to_string(i), "2026-11-05");
    spec.app = "down";
    h.Apply(spec);
  }
  const int64_t job = h.Apply(EngineHarness::DailyJob("up", "2026-11-20"));
  h.StartTerm();
  h.Start("e1");
  h.Work(absl::Minutes(5));
  EXPECT_EQ(h.DatesRun(job).size(), 9U);
}

TEST(BudgetTest, TheNodesCeilingHoldsOverAllAppsAndAFreedSlotGoesToAnother) {
  Busy h("2026-11-29T03:00:30Z");
  h.budget = {2, 3};
  h.KillScheduler();
  std::vector<int64_t> jobs;
  for (int i = 0; i < 6; ++i) {
    JobSpec spec = EngineHarness::DailyJob("job" + std::to_string(i), "2026-11-25");
    spec.app = "app" + std::to_string(i % 3);
    jobs.push_back(h.Apply(spec));
  }
  h.StartTerm();
  for (int i = 0; i < 3; ++i) {
    const std::string id = "e" + std::to_string(i);
    h.executors[id].app = "app" + std::to_string(i);
    h.Start(id);
  }
  h.Work(absl::Minutes(6));
  EXPECT_EQ(h.most_catch_ups, 3);
  for (const int64_t id : jobs) EXPECT_EQ(h.DatesRun(id).size(), 4U);
}

TEST(BudgetTest, EachJobHasASlotBeforeAnyHasTwo) {
  Busy h("2026-11-29T03:00:30Z");
  JobSpec wide = EngineHarness::DailyJob("wide", "2026-11-05");
  wide.catch_up.order = CatchUpOrder::kIndependent;
  const int64_t wide_id = h.Apply(wide);
  h.StartTerm();
  h.Start("e1");
  EXPECT_EQ(h.CatchUps(), 3) << "alone it has what the app has";
  const int64_t other = h.Apply(EngineHarness::DailyJob("other", "2026-11-27"));
  h.Work(absl::Seconds(45));
  EXPECT_EQ(h.DatesRun(other).size(), 1U) << "its first slot comes before another's second";
  h.Work(absl::Minutes(10));
  EXPECT_EQ(h.DatesRun(other).size(), 2U);
  EXPECT_EQ(h.DatesRun(wide_id).size(), 24U);
}

TEST(BudgetTest, ASlotIsHeldOverARestartAndFreedWithItsRelease) {
  Busy h("2026-11-29T03:00:30Z");
  h.budget.per_app = 1;
  h.KillScheduler();
  h.run_time = absl::Minutes(2);
  const int64_t first = h.Apply(EngineHarness::DailyJob("first", "2026-11-27"));
  const int64_t second = h.Apply(EngineHarness::DailyJob("second", "2026-11-28"));
  h.StartTerm();
  h.Start("e1");
  h.Work(absl::Seconds(30));
  h.KillScheduler();
  h.StartTerm();
  h.Connect(h.executors.at("e1"));
  h.Work(absl::Seconds(30));
  EXPECT_EQ(h.CatchUps(), 1);
  h.Work(absl::Minutes(10));
  EXPECT_EQ(h.most_catch_ups, 1);
  EXPECT_EQ(h.DatesRun(first).size(), 2U);
  EXPECT_EQ(h.DatesRun(second).size(), 1U);
}

TEST(BudgetTest, OneExecutorSlotIsEnoughToCatchUp) {
  Busy h("2026-11-29T03:00:30Z");
  const int64_t job = h.Apply(EngineHarness::DailyJob("recon", "2026-11-27"));
  h.StartTerm();
  h.executors["e1"].capacity = 1;
  h.Start("e1");
  h.Work(absl::Minutes(2));
  EXPECT_EQ(h.DatesRun(job).size(), 2U);
}

}  // namespace
}  // namespace tidemark
