// Scheduler nodes, their database and some executors in virtual time, with faults that a seed
// chooses.
#ifndef TIDEMARK_TESTS_SIM_SIMULATION_H_
#define TIDEMARK_TESTS_SIM_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "scheduler/verify/verify.h"
#include "tests/sim/oracle.h"
#include "tests/sim/sim_database.h"
#include "tests/sim/sim_executor.h"
#include "tests/sim/sim_node.h"

namespace tidemark::sim {

struct SimReport {
  std::vector<std::string> violations;
  std::map<std::string, int> faults;  // kind → how often
  // kind → state of a live run when it struck → how often. With no live run: "idle".
  std::map<std::string, std::map<std::string, int>> matrix;
  size_t events = 0;
  size_t handlers_entered = 0;
  int stale_triggers = 0;  // that reached a process which knew of a later owner
  int superseded = 0;      // handlers that were taken for gone: two processes with one id
  // Seen while an old primary took commits beside the new one: a documented limit.
  std::vector<std::string> overlaps;
  int nodes = 0;
  size_t judged = 0;  // due dates and fires that `verify` looked at
  absl::Duration simulated;
  std::vector<std::string> trace;  // what was done to the world, and when
};

// States of a run in their order.
const std::vector<std::string>& RunStates();

// One world: a strict daily job, an independent one on a calendar, one that waits for both, one
// that gets deleted and made again, one of every quarter of an hour, one to three nodes, three
// executors (one of which cannot be stopped), a day of faults, then calm until everything must be
// settled.
class Simulation {
 public:
  // `nodes`: how many; 0: the seed says.
  explicit Simulation(uint64_t seed, int nodes = 0);
  SimReport Run();

 private:
  // One stream of an executor's process to a node.
  struct Link {
    SimExecutor* executor = nullptr;
    std::string process;
    exec::LinkId id = 0;
    SimNode* node = nullptr;
    bool cut = false;     // nothing gets through any more, and nobody knows yet
    bool closed = false;  // both sides are about to learn of it
    bool welcomed = false;
    absl::Duration last_to_executor;
    absl::Duration last_to_node;
  };

  // What a process was told of owners of shards.
  struct Told {
    uint32_t timeline = 0;
    std::map<uint32_t, std::pair<uint32_t, uint64_t>> epochs;  // by shard
    std::set<std::pair<std::string, uint32_t>> stale;          // attempts that former ones sent
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

  void AddNode(int number);
  std::shared_ptr<SimServer> ServerOf(const std::string& node) const;

  // network.cc
  SimNode& NodeOf(const std::string& name);
  void Dial(SimExecutor& executor, exec::LinkId id, const std::string& name);
  StreamId StreamOf(const SimExecutor& executor, exec::LinkId id) const;
  void ToNode(SimExecutor& executor, exec::LinkId id, const v1::ExecutorMessage& message);
  void ToExecutor(SimNode& node, const Outbound& message);
  void Deliver(StreamId stream, v1::SchedulerMessage wire);
  void NoteEpochs(const std::string& process, const v1::SchedulerMessage& wire);
  void TellNodes(const SimNode& node);
  void Break(StreamId stream);  // both sides learn of it
  void BreakIf(const std::function<bool(const Link&)>& which);

  // faults.cc: when, and executors; node_faults.cc: nodes and the database; people.cc: the rest
  using FaultMethod = void (Simulation::*)();
  void PlanFault();
  void Focus();  // perhaps a fault at this very moment of a run
  void Fault();
  void KillNode();
  void Kill(SimNode& node);
  void KillAllNodes();
  void StopNode();
  void SuspendNode();
  void Suspend(SimNode& node, absl::Duration d);
  void PauseBeforeSending(SimNode& node);  // perhaps
  void CutNodeFromDatabase();
  void DrainNode();
  void CutNodeFromExecutors();
  void SplitNetwork();
  void FailOver();
  void BeginFailOver(bool lossy, absl::Duration lag);
  // Perhaps; how much longer the commit takes.
  absl::Duration DisturbCommit(SimNode& node, const Flush& flush);
  void Promote(ClusterRows standby, bool lossy);
  void LetOldPrimaryLive();
  void StartNode(SimNode& node);
  SimNode& AnyNode();
  void KillExecutor();
  void DrainExecutor();
  void CutLink();
  void CutStreams(const std::vector<StreamId>& streams);
  void StallLinks();
  void FillDisk();
  void StartTwin();
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
  // Orders are rows: one that no node has carried out waits for the next.
  std::string Order(int64_t job_id, const std::string& kind,
                    std::map<std::string, std::string> args);
  // Counts the fault, with the states of the runs that it strikes.
  void Count(const std::string& kind, const std::string& detail = "");
  std::string StateOf(const ActiveRun& run) const;
  SimExecutor& AnyExecutor();
  std::pair<std::string, int64_t> AnyJob();
  void RestartExecutor(SimExecutor& executor, absl::Duration after);

  // checks.cc
  verify::History History(int64_t job_id) const;
  void CheckEpoch(const SimExecutor& executor, const v1::Trigger& trigger);
  void CheckEntering(const v1::Trigger& trigger);
  void CheckStrict(const ActiveRun& run);
  void CheckUpstreams(const ActiveRun& run);
  bool DueAllAlong(int64_t job_id, absl::CivilDay date, absl::Time since) const;
  // What is acknowledged is committed: the executor may forget it.
  void CheckAcknowledged(const std::string& run_id, int attempt);
  // While faults go on: what was sent is in its executor, or soon is.
  void WatchSent();
  bool ShouldReach(const ActiveRun& run, std::string* by) const;
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
  MemoryStore& Store() { return primary_->rows.store; }
  const MemoryStore& Store() const { return primary_->rows.store; }
  absl::Time DbNow() const { return primary_->Now(); }
  void Calm();
  void MendByHand();
  void Trace(const std::string& what);

  const uint64_t seed_;
  SeededRandom random_;
  EventQueue queue_;
  std::shared_ptr<SimServer> primary_;
  std::shared_ptr<SimServer> old_primary_;  // still writable for those that stayed with it
  std::set<std::string> stays_with_old_;
  absl::Duration database_down_until_;
  bool failing_over_ = false;
  absl::Duration commits_lost_until_;  // acknowledgements of them may be on their way so long
  Oracle oracle_;
  std::map<std::string, JobSpec> specs_;
  std::map<std::string, int64_t> job_ids_;
  int64_t last_job_id_ = 0;
  int made_backfills_ = 0;  // and drills
  CalendarSet calendars_;
  int last_edit_ = 0;
  int last_order_ = 0;
  std::vector<std::unique_ptr<SimNode>> nodes_;
  std::vector<std::unique_ptr<SimExecutor>> executors_;
  std::map<StreamId, Link> links_;
  std::map<std::pair<std::string, std::string>, absl::Duration> unreachable_until_;
  StreamId last_stream_ = 0;
  std::map<std::string, Told> told_;  // by process
  // Attempts that are nowhere although nothing hinders their owner: since when, and who that is.
  std::map<AttemptRef, std::pair<absl::Duration, std::string>> nowhere_;
  // The database's time after and before each time that it was set back.
  std::vector<std::pair<absl::Time, absl::Time>> setbacks_;
  bool faults_on_ = true;
  absl::Duration calm_since_;
  SimReport report_;
};

}  // namespace tidemark::sim

#endif  // TIDEMARK_TESTS_SIM_SIMULATION_H_
