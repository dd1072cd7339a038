// A scheduler, its store and some executors in virtual time, with faults that a seed chooses.
#ifndef TIDEMARK_TESTS_SIM_SIMULATION_H_
#define TIDEMARK_TESTS_SIM_SIMULATION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/oracle.h"
#include "tests/sim/sim_executor.h"
#include "tests/sim/sim_scheduler.h"

namespace tidemark::sim {

struct SimReport {
  std::vector<std::string> violations;
  std::map<std::string, int> faults;  // kind → how often
  size_t events = 0;
  size_t handlers_entered = 0;
  absl::Duration simulated;
  std::vector<std::string> trace;  // what was done to the world, and when
};

// One world: a strict daily job, an independent daily one, three executors (one of which cannot be
// stopped), 36 hours of faults, then calm until everything must be settled.
class Simulation {
 public:
  explicit Simulation(uint64_t seed);
  SimReport Run();

 private:
  struct Link {
    StreamId stream = 0;  // on the scheduler's side
    bool cut = false;     // nothing gets through any more, and nobody knows yet
    absl::Duration last_to_executor;
    absl::Duration last_to_scheduler;
  };

  int64_t AddJob(const std::string& name, CatchUpOrder order);
  Decoders MakeDecoders();
  void AddExecutor(const std::string& id, bool interruptible);
  void Dial(SimExecutor& executor);
  void Break(const std::string& id);  // both sides learn of it
  void ToScheduler(SimExecutor& executor, const v1::ExecutorMessage& message);
  void ToExecutor(const Outbound& message);
  void CloseStream(StreamId stream);
  void CheckEntering(const v1::Trigger& trigger);

  void PlanFault();
  void Fault();
  void KillScheduler();
  void KillExecutor(SimExecutor& executor);
  void CutLink(SimExecutor& executor);
  void DeleteWatermarks();
  void OrderSomething();
  void Calm();
  void MendByHand();
  SimExecutor& AnyExecutor();
  void Trace(const std::string& what);

  const uint64_t seed_;
  SeededRandom random_;
  EventQueue queue_;
  MemoryStore store_;
  Oracle oracle_;
  std::map<std::string, JobSpec> specs_;
  std::map<std::string, int64_t> job_ids_;
  std::unique_ptr<SimScheduler> scheduler_;
  std::vector<std::unique_ptr<SimExecutor>> executors_;
  std::map<std::string, Link> links_;  // by executor id
  std::map<std::string, absl::Duration> unreachable_until_;
  StreamId last_stream_ = 0;
  bool faults_on_ = true;
  SimReport report_;
};

}  // namespace tidemark::sim

#endif  // TIDEMARK_TESTS_SIM_SIMULATION_H_
