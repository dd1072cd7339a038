// An executor in the simulation: the real session core and dialer, with handlers, a spool and
// streams that the simulation plays.
#ifndef TIDEMARK_TESTS_SIM_SIM_EXECUTOR_H_
#define TIDEMARK_TESTS_SIM_SIM_EXECUTOR_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/id.h"
#include "executor/src/dialer.h"
#include "executor/src/session_core.h"
#include "tests/sim/event_queue.h"
#include "tests/sim/oracle.h"
#include "tests/sim/sim_clock.h"

namespace tidemark::sim {

// How handlers behave, and what may go wrong with them.
struct HandlerOdds {
  double fails = 0;  // for good
  double retries = 0;
  double ignores_cancel = 0;  // whether they promised to be interruptible or not
  absl::Duration mean = absl::Seconds(20);
  double takes_hours = 0;  // eight times as long as it would
};

class SimExecutor {
 public:
  struct Outside {
    // A stream to the node of that name is wanted (again).
    std::function<void(SimExecutor&, exec::LinkId, const std::string& node)> dial;
    std::function<void(SimExecutor&, exec::LinkId, const v1::ExecutorMessage&)> send;
    std::function<void(SimExecutor&, exec::LinkId)> close;
    std::function<void(SimExecutor&)> close_all;  // the process is gone
    // A handler is about to be entered; one was left.
    std::function<void(const SimExecutor&, const v1::Trigger&)> entering;
    std::function<void()> left;
    // The scheduler acknowledged the end of that attempt.
    std::function<void(const std::string& run_id, int attempt)> acknowledged;
  };

  struct Facts {
    std::string name;  // tells processes apart; two of them may have one executor_id
    std::string executor_id;
    bool interruptible = true;
    double rate = 1;                 // of its monotonic clock
    std::vector<std::string> nodes;  // of its configuration
  };
  SimExecutor(Facts facts, EventQueue& queue, Random& random, Oracle& oracle, Outside outside);

  void Start();  // a new process: a new incarnation, the spool as the last one left it
  void Kill();   // what was not on disk yet is gone
  void Stop();   // SIGTERM: drains and leaves
  void FillDisk();
  void FreeDisk();
  bool Inside(const std::string& run_id) const;
  bool Unacknowledged(const std::string& run_id) const;
  bool comes_back = true;  // is started again when it leaves or aborts by itself
  bool alive() const { return core_ != nullptr; }

  // What the network tells.
  void LinkOpened(exec::LinkId link);
  void LinkClosed(exec::LinkId link);
  void Receive(exec::LinkId link, const v1::SchedulerMessage& message);

  const std::string& id() const { return facts_.name; }
  bool interruptible() const { return facts_.interruptible; }
  const std::string& executor_id() const { return facts_.executor_id; }
  const std::string& uuid() const { return uuid_; }  // of this process
  std::string Process() const { return facts_.name + "." + std::to_string(incarnation_); }
  HandlerOdds odds;

 private:
  struct Running {
    std::string occurrence;
    bool cancelled = false;
    int generation = 0;
  };

  exec::Moment Now() const;
  void Pump();
  void Carry(exec::Effect effect);
  void Enter(const exec::StartEffect& start);
  void Finish(const exec::AttemptKey& key, exec::HandlerResult::Kind kind);
  void OnCancel(const exec::AttemptKey& key);
  void PlanTick();
  void WriteSoon(const exec::AttemptKey& key);

  const Facts facts_;
  EventQueue& queue_;
  Random& random_;
  Oracle& oracle_;
  const Outside outside_;
  const SimClock clock_;

  int incarnation_ = 0;
  std::string uuid_;
  std::unique_ptr<exec::SessionCore> core_;
  std::optional<exec::Dialer> dialer_;  // of this process
  std::map<exec::AttemptKey, Running> running_;
  std::map<exec::AttemptKey, exec::SpooledResult> spool_;    // on disk
  std::map<exec::AttemptKey, exec::SpooledResult> unsaved_;  // on its way there
  bool disk_full_ = false;
  absl::Duration tick_at_ = absl::InfiniteDuration();
};

}  // namespace tidemark::sim

#endif  // TIDEMARK_TESTS_SIM_SIM_EXECUTOR_H_
