// A scheduler, its store and some executors in virtual time, with faults that a seed chooses.
#ifndef TIDEMARK_TESTS_SIM_SIMULATION_H_
#define TIDEMARK_TESTS_SIM_SIMULATION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/verify/verify.h"
#include "tests/sim/oracle.h"
#include "tests/sim/sim_executor.h"
#include "tests/sim/sim_scheduler.h"

namespace tidemark::sim {

struct SimReport {
  std::vector<std::string> violations;
  std::map<std::string, int> faults;  // kind → how often
  // kind → state of a live run when it struck → how often. With no live run: "idle".
  std::map<std::string, std::map<std::string, int>> matrix;
  size_t events = 0;
  size_t handlers_entered = 0;
  int superseded = 0;  // handlers that were taken for gone: two processes with one id
  size_t judged = 0;   // due dates and fires that `verify` looked at
  absl::Duration simulated;
  std::vector<std::string> trace;  // what was done to the world, and when
};

// States of a run in their order.
const std::vector<std::string>& RunStates();

// One world: a strict daily job, an independent one on a calendar, one that waits for both, one
// that gets deleted and made again, one of every quarter of an hour, three executors (one of which
// cannot be stopped), a day of faults, then calm until everything must be settled.
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

  // world.cc: definitions
  void AddJob(const std::string& name, JobSpec spec);
  void AddDailyJob(const std::string& name, CatchUpOrder order, const std::string& calendar);
  void AddReportJob();  // waits for "strict" and "loose"
  void AddBeatJob();
  void KeepAfter(int64_t job_id, const JobSpec& spec);
  // Stores another version of the job and tells the scheduler.
  void Edit(const std::string& name, const JobSpec& spec);
  absl::Time EditTime(const std::string& name) const;
  void ImportCalendar(const std::vector<absl::CivilDay>& closed, bool retroactive);
  const JobSpec& NewestSpec(const std::string& name) const;
  JobSpec SpecOf(const std::string& text) const { return specs_.at(text); }
  Decoders MakeDecoders();
  void AddExecutor(const std::string& name, const std::string& id, bool interruptible);

  // network.cc
  void Dial(SimExecutor& executor);
  void Break(const std::string& name);  // both sides learn of it
  void ToScheduler(SimExecutor& executor, const v1::ExecutorMessage& message);
  void ToExecutor(const Outbound& message);
  void CloseStream(StreamId stream);

  // faults.cc: machines and processes; people.cc: the rest
  using FaultMethod = void (Simulation::*)();
  void PlanFault();
  void Focus();  // perhaps a fault at this very moment of a run
  void Fault();
  void KillScheduler();
  void KillExecutor();
  void DrainExecutor();
  void CutLink();
  void FillDisk();
  void StartTwin();
  void SuspendScheduler();
  void StepClock();
  void SetClockBack();
  void DeleteWatermark();
  void DeleteRunningWatermark();
  void OrderCancel();
  void OrderRerun();
  void OrderBackfill();
  void MoveBackfill();
  void OrderDrill();
  void PauseJob();
  void EditJob();
  void EditOffset();
  void EditAfter();
  void EditCalendar();
  void DeleteJob();
  void Waive();
  void WaiveLost(const std::string& name, const std::vector<absl::CivilDay>& lost);
  std::string AnyDated();  // of the jobs that stay
  // Counts the fault, with the states of the runs that it strikes.
  void Count(const std::string& kind, const std::string& detail = "");
  std::string StateOf(const ActiveRun& run) const;
  SimExecutor& AnyExecutor();
  std::pair<std::string, int64_t> AnyJob();
  void RestartExecutor(SimExecutor& executor, absl::Duration after);

  // checks.cc
  verify::History History(int64_t job_id) const;
  void CheckEntering(const v1::Trigger& trigger);
  void CheckStrict(const ActiveRun& run);
  void CheckUpstreams(const ActiveRun& run);
  bool DueAllAlong(int64_t job_id, absl::CivilDay date, absl::Time since) const;
  // What is acknowledged is committed: the executor may forget it.
  void CheckAcknowledged(const std::string& run_id, int attempt);
  // What is documented as beyond any scheduler: of two processes with one id, the acting one out of
  // contact, the other one is taken for its successor.
  void ForgetSuperseded();
  std::vector<absl::CivilDay> DueDates(int64_t job_id, absl::Time until) const;
  // Of those the ones that are expected from the job's making on and by `until`.
  std::vector<absl::CivilDay> ExpectedDates(int64_t job_id, absl::Time until) const;
  bool UpstreamIsAhead(int64_t job_id, absl::CivilDay date, absl::Time until) const;
  bool InDoubt(const verify::History& history, const verify::Finding& finding) const;
  void CheckJob(int64_t id, const std::string& name);
  void CheckEnd();

  // simulation.cc: the course
  void Calm();
  void MendByHand();
  void Trace(const std::string& what);

  const uint64_t seed_;
  SeededRandom random_;
  EventQueue queue_;
  MemoryStore store_;
  Oracle oracle_;
  std::map<std::string, JobSpec> specs_;
  std::map<std::string, int64_t> job_ids_;
  int64_t last_job_id_ = 0;
  int made_backfills_ = 0;  // and drills
  CalendarSet calendars_;
  std::unique_ptr<SimScheduler> scheduler_;
  std::vector<std::unique_ptr<SimExecutor>> executors_;
  std::map<std::string, Link> links_;  // by the executor's name
  std::map<std::string, absl::Duration> unreachable_until_;
  StreamId last_stream_ = 0;
  // The database's time after and before each time that it was set back.
  std::vector<std::pair<absl::Time, absl::Time>> setbacks_;
  bool faults_on_ = true;
  absl::Duration calm_since_;
  SimReport report_;
};

}  // namespace tidemark::sim

#endif  // TIDEMARK_TESTS_SIM_SIMULATION_H_
