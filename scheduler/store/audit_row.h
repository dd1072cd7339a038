// One row of the audit, as operators' requests write it. Only for the store.
#ifndef TIDEMARK_SCHEDULER_STORE_AUDIT_ROW_H_
#define TIDEMARK_SCHEDULER_STORE_AUDIT_ROW_H_

#include <string>

#include "absl/status/status.h"
#include "scheduler/engine/caller.h"
#include "scheduler/store/database.h"

namespace tidemark {

struct AuditRow {
  std::string actor;
  std::string action;
  std::string job;      // "": none
  std::string ns;       // "": the job's
  std::string subject;  // run, date, executor, token, … that it is about
  std::string before;
  std::string after;
  std::string reason;
  std::string detail;
  std::string command_id;  // "": carried out with this transaction
};

// In the transaction of what it tells: both are there or neither.
absl::Status WriteAudit(SqlTransaction& tx, const Caller& caller, const AuditRow& row);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_AUDIT_ROW_H_
