// Runs the session core over gRPC, threads and the disk.
#ifndef TIDEMARK_EXECUTOR_SRC_DRIVER_H_
#define TIDEMARK_EXECUTOR_SRC_DRIVER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/id.h"
#include "executor/src/dialer.h"
#include "executor/src/event_queue.h"
#include "executor/src/exec_log.h"
#include "executor/src/link.h"
#include "executor/src/run_state.h"
#include "executor/src/session_core.h"
#include "executor/src/spool_writer.h"
#include "executor/src/worker_pool.h"
#include "tidemark/executor.h"

namespace tidemark::exec {

struct HandlerEntry {
  HandlerOptions options;
  HandlerFunction function;
};

struct DriverDeps {
  ClientSecurity security;
  const Clock* clock = nullptr;
  Random* random = nullptr;
  ExecLog log;
  std::function<void(const RunEvent&)> on_run_event;
  // Ends the process without running anything more; does not return in production.
  std::function<void(const std::string& reason)> abort;
};

// One loop thread (the caller of Run) owns the core and everything here; gRPC's, the spool's and
// the handlers' threads hand it events. Run once.
class Driver {
 public:
  Driver(CoreOptions options, const std::vector<std::string>& schedulers,
         std::map<std::string, HandlerEntry> handlers, std::unique_ptr<Spool> spool,
         DriverDeps deps);
  ~Driver();

  // Serves until the core leaves; returns its exit code. The spool cannot be read: 2.
  int Run();
  // From any thread; the second call shortens the drain.
  void Stop();

 private:
  using Links = std::map<LinkId, std::shared_ptr<Link>>;

  bool Load();
  void LogFound(const Spool::Loaded& loaded);
  void Turn();
  void Dial(Moment now);
  void Apply(Effect effect);
  void On(SendEffect effect);
  void On(const CloseEffect& effect);
  void On(const NodesEffect& effect);
  void On(const StartEffect& effect);
  void On(CancelEffect effect);
  void On(const AbortEffect& effect);
  void On(SpoolWriteEffect effect);
  void On(const SpoolAckEffect& effect);
  void On(const SpoolDeleteEffect& effect);
  void On(LeaveEffect effect);
  void On(const NoteEffect& note);
  void LogNote(const NoteEffect& note);
  void OnLinkClosed(LinkId id, const std::string& reason);
  void TakeReports(const AttemptKey& key);
  void CloseLinks();
  Moment Now() const { return {deps_.clock->Monotonic(), deps_.clock->WallNow()}; }

  const CoreOptions options_;
  const std::map<std::string, HandlerEntry> handlers_;
  DriverDeps deps_;
  const std::shared_ptr<EventQueue> queue_;
  std::unique_ptr<Spool> spool_;  // until the writer has it
  std::unique_ptr<SessionCore> core_;
  Dialer dialer_;
  std::unique_ptr<SpoolWriter> writer_;
  WorkerPool pool_;
  Links links_;
  std::map<AttemptKey, std::shared_ptr<RunState>> runs_;
  std::optional<int> exit_code_;
};

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_DRIVER_H_
