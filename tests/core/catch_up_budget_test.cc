#include "scheduler/core/catch_up_budget.h"

#include "gtest/gtest.h"

namespace tidemark {
namespace {

TEST(CatchUpBudgetTest, OnlyWhatIsMadeUpForNeedsASlot) {
  EXPECT_TRUE(NeedsSlot(TriggerType::kCatchUp));
  EXPECT_TRUE(NeedsSlot(TriggerType::kBackfill));
  EXPECT_FALSE(NeedsSlot(TriggerType::kSchedule));
  EXPECT_FALSE(NeedsSlot(TriggerType::kManual));
}

TEST(CatchUpBudgetTest, OneExecutorSlotIsLeftToWhatIsDueNow) {
  const CatchUpBudget budget;
  EXPECT_EQ(SlotsOfApp(budget, 0), 0) << "an app that is down holds none";
  EXPECT_EQ(SlotsOfApp(budget, 1), 1) << "else it could never catch up";
  EXPECT_EQ(SlotsOfApp(budget, 2), 1);
  EXPECT_EQ(SlotsOfApp(budget, 3), 2);
  EXPECT_EQ(SlotsOfApp(budget, 100), 3);
}

// Over all loads: no limit is ever exceeded, and a job that holds nothing is refused only because
// of one.
TEST(CatchUpBudgetTest, PropertyOverAllLoads) {
  const CatchUpBudget budget{3, 5};
  for (int of_app = 0; of_app <= 4; ++of_app) {
    for (int of_node = of_app; of_node <= 6; ++of_node) {
      for (int of_job = 0; of_job <= of_app; ++of_job) {
        for (int capacity = 0; capacity <= 6; ++capacity) {
          for (const bool others : {false, true}) {
            const bool may = MayCatchUp(budget, {of_app, of_node, of_job, capacity, others});
            const bool room =
                of_node < 5 && of_app < 3 && capacity > 0 && (of_app == 0 || of_app < capacity - 1);
            EXPECT_EQ(may, room && !(of_job > 0 && others))
                << of_app << of_node << of_job << capacity << others;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tidemark
