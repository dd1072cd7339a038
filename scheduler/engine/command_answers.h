// What the carriers of orders share: reading arguments, answering, and the questions that most
// orders begin with.
#ifndef TIDEMARK_SCHEDULER_ENGINE_COMMAND_ANSWERS_H_
#define TIDEMARK_SCHEDULER_ENGINE_COMMAND_ANSWERS_H_

#include <map>
#include <string>

#include "scheduler/engine/state.h"

namespace tidemark {

// "" when it is absent.
std::string Arg(const Command& command, const std::string& name);

void AnswerDone(State& state, const Command& command, std::map<std::string, std::string> result);
void AnswerRefused(State& state, const Command& command, absl::StatusCode code,
                   const std::string& message);

// The live run of that occurrence, or null.
const LiveRun* LiveRunOf(const State& state, const JobState& job, const OccurrenceKey& key);

// Why nothing can be ordered for that date, as the end of a sentence about it: "is not a due date
// of the job". "" when it is due. `first`: the job's first date.
std::string WhyNotDue(const State& state, const JobState& job, absl::CivilDay first,
                      absl::CivilDay date);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_COMMAND_ANSWERS_H_
