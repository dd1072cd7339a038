#include "scheduler/engine/command_answers.h"

#include <optional>
#include <utility>

#include "common/time_text.h"

namespace tidemark {

std::string Arg(const Command& command, const std::string& name) {
  const auto it = command.args.find(name);
  return it == command.args.end() ? "" : it->second;
}

void AnswerDone(State& state, const Command& command, std::map<std::string, std::string> result) {
  CommandDone done;
  done.command_id = command.command_id;
  done.result = std::move(result);
  state.flush.commands.push_back(std::move(done));
}

void AnswerRefused(State& state, const Command& command, absl::StatusCode code,
                   const std::string& message) {
  CommandDone done;
  done.command_id = command.command_id;
  done.code = code;
  done.message = message;
  state.flush.commands.push_back(std::move(done));
}

const LiveRun* LiveRunOf(const State& state, const JobState& job, const OccurrenceKey& key) {
  for (const std::string& run_id : job.runs()) {
    const auto it = state.runs.find(run_id);
    if (it != state.runs.end() && it->second.row.occurrence == key) return &it->second;
  }
  return nullptr;
}

std::string WhyNotDue(const State& state, const JobState& job, absl::CivilDay first,
                      absl::CivilDay date) {
  const std::optional<Occurrence> due = job.timeline().OccurrenceOf(date);
  if (!due.has_value()) return "is not a due date of the job";
  if (date < first) return "lies before the job's first date " + FormatDate(first);
  if (due->fire_time > state.now.lo) {
    return "is not due before " + FormatInstant(due->fire_time, job.timeline().current().zone());
  }
  return "";
}

}  // namespace tidemark
