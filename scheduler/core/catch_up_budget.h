// How much of the executors catch-up may use, so that what is due now is never late because of it
// (C7). Pure.
#ifndef TIDEMARK_SCHEDULER_CORE_CATCH_UP_BUDGET_H_
#define TIDEMARK_SCHEDULER_CORE_CATCH_UP_BUDGET_H_

#include "scheduler/core/run.h"

namespace tidemark {

// A slot is held by a catch-up run from the moment its executor is chosen until its attempt is
// released.
struct CatchUpBudget {
  int per_app = 3;
  int per_node = 50;
};

// What is going on when a catch-up run could be given to an executor.
struct CatchUpLoad {
  int of_app = 0;   // slots held by runs of its app
  int of_node = 0;  // by all
  int of_job = 0;   // by its job
  // Runs that the executors of the app that are up take at once, all together.
  int capacity = 0;
  // A catch-up run of another job of the app, which holds no slot, is ready to start.
  bool others_wait = false;
};

// Whether runs of that kind need a slot.
bool NeedsSlot(TriggerType trigger);

// Slots that the app may hold: of several executor slots one is always left to what is due now.
int SlotsOfApp(const CatchUpBudget& budget, int capacity);

// Each job has one slot before any has two.
bool MayCatchUp(const CatchUpBudget& budget, const CatchUpLoad& load);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_CATCH_UP_BUDGET_H_
