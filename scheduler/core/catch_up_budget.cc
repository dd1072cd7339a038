#include "scheduler/core/catch_up_budget.h"

#include <algorithm>

namespace tidemark {

bool NeedsSlot(TriggerType trigger) {
  return trigger == TriggerType::kCatchUp || trigger == TriggerType::kBackfill;
}

int SlotsOfApp(const CatchUpBudget& budget, int capacity) {
  if (capacity <= 0) return 0;
  return std::min(budget.per_app, std::max(1, capacity - 1));
}

bool MayCatchUp(const CatchUpBudget& budget, const CatchUpLoad& load) {
  return load.of_node < budget.per_node && load.of_app < SlotsOfApp(budget, load.capacity) &&
         (load.of_job == 0 || !load.others_wait);
}

}  // namespace tidemark
