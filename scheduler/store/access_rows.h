// What the parts of the access service's SQL share. Only for the store.
#ifndef TIDEMARK_SCHEDULER_STORE_ACCESS_ROWS_H_
#define TIDEMARK_SCHEDULER_STORE_ACCESS_ROWS_H_

#include "scheduler/access/access_desk.h"
#include "scheduler/engine/caller.h"

namespace tidemark {

inline Caller CallerOf(const AccessDesk::By& by) { return {by.ns, by.token_id, by.peer}; }

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_ACCESS_ROWS_H_
