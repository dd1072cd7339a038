// Orders about dates that no run carries out: waive, force-done, taking either back.
#ifndef TIDEMARK_SCHEDULER_RPC_OPERATOR_DATES_H_
#define TIDEMARK_SCHEDULER_RPC_OPERATOR_DATES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/id.h"
#include "scheduler/engine/operator_port.h"
#include "tidemark/v1/operator.pb.h"

namespace tidemark {

// Checks the form of orders and records them; whether the dates allow it is the owner's to judge.
// Blocks for the database. Thread-safe, without state. What it is given must outlive it.
class OperatorDates {
 public:
  OperatorDates(OperatorPort& store, Clock& clock, Random& random)
      : store_(store), clock_(clock), random_(random) {}

  absl::StatusOr<CommandState> Waive(const v1::WaiveDatesRequest& request);
  absl::StatusOr<CommandState> ForceDone(const v1::ForceDoneRequest& request);
  absl::StatusOr<CommandState> Unwaive(const v1::UnwaiveDatesRequest& request);

 private:
  absl::StatusOr<CommandState> Record(const std::string& job, const std::string& kind,
                                      const std::string& actor,
                                      std::map<std::string, std::string> args);

  OperatorPort& store_;
  Clock& clock_;
  Random& random_;
};

// The items of a list in the result of an order ("a,b"); none for "".
std::vector<std::string> SplitList(const std::string& list);

// Writes the answer: what the owner did, or that it has not answered yet (null).
void FillDates(const CommandState* state, const std::string& queued, v1::DatesResponse* response);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_OPERATOR_DATES_H_
