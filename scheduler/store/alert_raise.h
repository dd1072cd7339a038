// The parameters of sql::kRaiseAlerts. Only for the store.
#ifndef TIDEMARK_SCHEDULER_STORE_ALERT_RAISE_H_
#define TIDEMARK_SCHEDULER_STORE_ALERT_RAISE_H_

#include "scheduler/engine/ports.h"
#include "scheduler/store/batch.h"

namespace tidemark {

inline constexpr int kAlertRaiseWidth = 11;

inline void AddAlert(Batch& batch, const AlertRaise& a) {
  batch.Add(Exact(a.alert_id)).Add(Exact(a.dedup_key)).Add(Word(a.kind)).Add(Exact(a.severity));
  batch.Add(Exact(a.ns)).Add(Exact(a.job_name)).Put(a.biz_date).Add(NullIfEmpty(a.run_id));
  batch.Add(Message4k(a.summary)).Add(Body(a.detail)).Put(a.event);
}

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_ALERT_RAISE_H_
