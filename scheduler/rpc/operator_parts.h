// What carries out an operator's request: made for one admitted caller, of the store as he sees it.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_PARTS_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_PARTS_H_

#include <memory>

#include "common/clock.h"
#include "common/id.h"
#include "scheduler/access/access_gate.h"
#include "scheduler/engine/alert_delivery.h"
#include "scheduler/engine/alert_desk.h"
#include "scheduler/engine/operator_port.h"
#include "scheduler/rpc/operator_backfills.h"
#include "scheduler/rpc/operator_calendars.h"
#include "scheduler/rpc/operator_cluster.h"
#include "scheduler/rpc/operator_dates.h"
#include "scheduler/rpc/operator_jobs.h"
#include "scheduler/rpc/operator_lists.h"
#include "scheduler/rpc/operator_logs.h"
#include "scheduler/rpc/operator_orders.h"
#include "scheduler/rpc/operator_verify.h"
#include "scheduler/rpc/request_funnel.h"

namespace tidemark {

// Cheap to make. Used by one thread; what it is made of must outlive it.
class OperatorParts {
 private:
  const std::unique_ptr<OperatorPort> store_;

 public:
  OperatorParts(const Admitted& admitted, OperatorPort& all, AlertDesk* desk,
                AlertChannels* channels, Clock& clock, Random& random)
      : store_(all.As(CallerOf(admitted))),
        store(*store_),
        jobs(store, clock, random),
        calendars(store),
        orders(store, clock, random),
        dates(store, clock, random),
        lists(store),
        cluster(store, desk, channels),
        verify(store),
        logs(store),
        backfills(store, clock, random) {}

  OperatorPort& store;
  OperatorJobs jobs;
  OperatorCalendars calendars;
  OperatorOrders orders;
  OperatorDates dates;
  OperatorLists lists;
  OperatorCluster cluster;
  OperatorVerify verify;
  OperatorLogs logs;
  OperatorBackfills backfills;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_PARTS_H_
