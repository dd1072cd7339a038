// Calendars for operators: import, look.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_CALENDARS_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_CALENDARS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/engine/operator_port.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// Answers requests; blocks for the database. Thread-safe, without state. The store must outlive it.
class OperatorCalendars {
 public:
  explicit OperatorCalendars(OperatorPort& store) : store_(store) {}

  // `changed`: something was written, the engine should look.
  absl::Status Import(const v1::ImportCalendarRequest& request,
                      v1::ImportCalendarResponse* response, bool* changed);
  absl::Status List(const v1::ListCalendarsRequest& request, v1::ListCalendarsResponse* response);
  absl::Status Get(const v1::GetCalendarRequest& request, v1::Calendar* response);

 private:
  // What is stored of a calendar, and the jobs of which any version names it.
  struct Stored {
    CalendarHistory history;  // oldest first; empty: a new one
    std::vector<OperatorJob> jobs;
    absl::Time now;  // not before what was read
  };

  absl::StatusOr<Stored> Read(const std::string& name);
  // One try: ABORTED when others changed the same meanwhile.
  absl::Status ImportOnce(const v1::ImportCalendarRequest& request, Calendar::Spec spec,
                          v1::ImportCalendarResponse* response, bool* changed);

  OperatorPort& store_;
};

// The calendar as the core takes it. kInvalidArgument names the field.
absl::StatusOr<Calendar::Spec> CalendarSpecFromProto(const v1::CalendarSpec& message);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_CALENDARS_H_
