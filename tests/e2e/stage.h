// One run of a dated job, held at a chosen moment of its life between real processes.
#ifndef TIDEMARK_TESTS_E2E_STAGE_H_
#define TIDEMARK_TESTS_E2E_STAGE_H_

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/e2e/world.h"
#include "tests/support/link_proxy.h"
#include "tests/support/socket_proxy.h"

namespace tidemark {

enum class Stage {
  kRecorded,     // committed with its executor; the scheduler does not know that it is
  kSent,         // the trigger is between scheduler and executor
  kAccepted,     // the executor has it and said so; the handler is not entered
  kStarted,      // the handler is entered; that it was is between executor and scheduler
  kHalfWay,      // the handler's checkpoint is in the database
  kFinished,     // the result is in the executor's spool, and between executor and scheduler
  kReported,     // its end is committed; the scheduler does not know that it is
  kAcknowledged  // the acknowledgement is between scheduler and executor
};

std::string_view Name(Stage stage);

// A scheduler with two executors that could both run it; what lies between the processes is in the
// test's hand. The scheduler reaches its database through a proxy, executors the scheduler.
class StagedRun {
 public:
  // Returns once the run is held there. `more`: further lines of the job file.
  explicit StagedRun(Stage stage, const std::string& handler = "work",
                     const std::string& more = "");

  World& world() { return world_; }
  LinkProxy& link() { return *link_; }
  const std::vector<std::string>& dates() const { return dates_; }
  // The executor that was chosen for the first attempt, and the other one.
  const std::string& executor() const { return executor_; }
  std::string other() const { return executor_ == "e1" ? "e2" : "e1"; }

  // What is held goes on.
  void Release();
  // What is held between the processes is lost.
  void Lose() { link_->DropHeld(); }
  // SIGKILL, with a line in the journal.
  void Kill(const std::string& program);
  void Restart(const std::string& program);
  // Executors leave: every result is acknowledged, or this fails.
  void Drain();

  // From the journal.
  std::vector<std::string> Events(std::string_view event) const;
  // What is wrong with the journal: two at once where none was killed; "" if nothing is.
  std::string Overlap() const;

 private:
  void Arm(Stage stage);
  bool Reached(Stage stage);

  World world_;
  SocketProxy database_;
  std::optional<LinkProxy> link_;
  std::vector<std::string> dates_;
  std::string executor_;
  std::atomic<bool> accepted_ = false;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_E2E_STAGE_H_
