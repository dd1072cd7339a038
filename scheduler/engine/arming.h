// Arm ahead: fires of the next second are recorded, with their executors, before they are due, so
// that at the instant nothing is left to do but to send.
#ifndef TIDEMARK_SCHEDULER_ENGINE_ARMING_H_
#define TIDEMARK_SCHEDULER_ENGINE_ARMING_H_

#include "scheduler/engine/state.h"

namespace tidemark {

// How long before its fire time an occurrence is armed.
inline constexpr absl::Duration kArmAhead = absl::Seconds(1);

// Part of the engine; works on State and nothing else. Not thread-safe.
//
// An armed run is a row in active_run and a JobState::armed. It holds its occurrence and nothing
// else: no slot of its executor, no turn among the runs of its job, no cursor, no watermark. Those
// are taken at the instant, when it becomes a live run like any other. Until then its trigger has
// surely not left, so whatever changes the job's plans deletes the row, and the fire goes the
// common way: it is opened when it is due. A successor finds the row, and adopts it like any other
// run of which it does not know whether its trigger left.
class Arming {
 public:
  explicit Arming(State& state) : s_(state) {}

  // Arms what comes due within kArmAhead, and sees to it that FireDue hears of it in time.
  void ArmDue();
  // Arms the job's next fire if it is near, and if nothing but time stands between it and its
  // start.
  void Consider(JobState& job);
  // The job's plans have changed: what is armed is not to be launched.
  void Disarm(JobState& job);
  void DisarmAll();
  // The occurrence is due now: makes what is armed for it a live run. False: nothing is armed for
  // it, or other runs of the job are to decide what becomes of it.
  bool Launch(JobState& job, const Occurrence& due);

 private:
  void ConsiderFire(JobState& job);
  void ConsiderDate(JobState& job);
  void Arm(JobState& job, const Occurrence& due);
  void OnRecorded(int64_t job_id, const std::string& run_id, const FlushResult& result);
  std::unique_ptr<ArmedRun> Take(JobState& job);

  State& s_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_ARMING_H_
