// The public class: checks its options, finds its place on disk, and runs a Driver.
#include "tidemark/executor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "common/clock.h"
#include "common/id.h"
#include "common/lifecycle.h"
#include "common/status.h"
#include "common/text.h"
#include "executor/src/driver.h"
#include "executor/src/options_check.h"
#include "executor/src/spool.h"

namespace tidemark {
namespace {

constexpr int kExitUsage = 2;

// Watches the stop signals in a thread of its own while it lives.
class SignalWatcher {
 public:
  SignalWatcher(StopSignals& signals, std::function<void(int)> on_signal)
      : signals_(signals),
        on_signal_(std::move(on_signal)),
        quit_fd_(eventfd(0, EFD_CLOEXEC)),
        thread_([this] { Watch(); }) {}

  ~SignalWatcher() {
    eventfd_write(quit_fd_, 1);
    thread_.join();
    close(quit_fd_);
  }
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

 private:
  void Watch() {
    while (true) {
      pollfd fds[2] = {{signals_.fd(), POLLIN, 0}, {quit_fd_, POLLIN, 0}};
      if (poll(fds, 2, -1) < 0) continue;
      if (fds[1].revents != 0) return;
      const int signal = signals_.Wait(absl::ZeroDuration());
      if (signal != 0) on_signal_(signal);
    }
  }

  StopSignals& signals_;
  const std::function<void(int)> on_signal_;
  const int quit_fd_;
  std::thread thread_;
};

}  // namespace

class Executor::Impl {
 public:
  explicit Impl(ExecutorOptions options) : options_(std::move(options)), log_(options_.log) {
    if (options_.handle_signals) signals_.emplace();
  }

  void Handle(const std::string& name, HandlerOptions options, HandlerFunction function) {
    const std::string problem = NameProblem(name);
    if (!problem.empty()) {
      problems_.push_back("handler name \"" + EscapeControl(name) + "\" " + problem);
    } else if (!function) {
      problems_.push_back("handler " + name + " has no function");
    } else if (!handlers_
                    .try_emplace(name, exec::HandlerEntry{std::move(options), std::move(function)})
                    .second) {
      problems_.push_back("handler " + name + " is registered twice");
    }
  }

  int Run() {
    for (const std::string& problem : exec::OptionProblems(options_)) problems_.push_back(problem);
    if (handlers_.empty()) problems_.push_back("no handler is registered: call Handle()");
    for (const std::string& problem : problems_) {
      log_.Error("executor cannot start", {{"problem", problem}});
    }
    if (!problems_.empty()) return kExitUsage;
    absl::StatusOr<std::unique_ptr<exec::Spool>> spool =
        exec::Spool::Open(exec::SpoolDir(options_));
    if (!spool.ok()) {
      log_.Error("executor cannot start", {{"problem", Message(spool.status())}});
      return kExitUsage;
    }
    absl::StatusOr<exec::CoreOptions> core = CoreOptionsFor((*spool)->dir());
    if (!core.ok()) {
      log_.Error("executor cannot start", {{"problem", Message(core.status())}});
      return kExitUsage;
    }
    return Drive(*std::move(core), *std::move(spool));
  }

  void Stop() {
    const std::lock_guard lock(mutex_);
    stop_asked_ = true;
    if (driver_ != nullptr) driver_->Stop();
  }

 private:
  absl::StatusOr<exec::CoreOptions> CoreOptionsFor(const std::string& spool_dir) {
    TM_ASSIGN_OR_RETURN(exec::CoreOptions core,
                        exec::MakeCoreOptions(options_, spool_dir, SystemClock(), SystemRandom()));
    for (const auto& [name, entry] : handlers_) {
      core.handlers.push_back({name, entry.options.interruptible, entry.options.concurrency});
    }
    return core;
  }

  int Drive(exec::CoreOptions core, std::unique_ptr<exec::Spool> spool) {
    log_.Info("executor starts",
              {{"executor_id", core.executor_id}, {"app", core.app}, {"spool", spool->dir()}});
    exec::DriverDeps deps;
    deps.security = exec::SecurityOf(options_);
    deps.clock = &SystemClock();
    deps.random = &SystemRandom();
    deps.log = log_;
    deps.on_run_event = options_.on_run_event;
    deps.abort = [](const std::string&) { std::abort(); };
    exec::Driver driver(std::move(core), options_.schedulers, handlers_, std::move(spool),
                        std::move(deps));
    SetDriver(&driver);
    std::optional<SignalWatcher> watcher;
    if (signals_) watcher.emplace(*signals_, [this](int signal) { OnSignal(signal); });
    const int code = driver.Run();
    watcher.reset();
    SetDriver(nullptr);
    return code;
  }

  void OnSignal(int signal) {
    if (signal == SIGHUP && options_.on_hangup != nullptr) {
      options_.on_hangup();
    } else {
      Stop();
    }
  }

  void SetDriver(exec::Driver* driver) {
    const std::lock_guard lock(mutex_);
    driver_ = driver;
    if (driver != nullptr && stop_asked_) driver->Stop();
  }

  const ExecutorOptions options_;
  const exec::ExecLog log_;
  std::optional<StopSignals> signals_;
  std::map<std::string, exec::HandlerEntry> handlers_;
  std::vector<std::string> problems_;
  std::mutex mutex_;
  exec::Driver* driver_ = nullptr;  // guarded by mutex_; while Run runs
  bool stop_asked_ = false;         // guarded by mutex_
};

Executor::Executor(ExecutorOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Executor::~Executor() = default;

Executor& Executor::Handle(const std::string& name, HandlerOptions options,
                           HandlerFunction function) {
  impl_->Handle(name, std::move(options), std::move(function));
  return *this;
}

Executor& Executor::Handle(const std::string& name, HandlerFunction function) {
  return Handle(name, {}, std::move(function));
}

int Executor::Run() { return impl_->Run(); }
void Executor::Stop() { impl_->Stop(); }

}  // namespace tidemark
