#include "executor/src/driver.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/time/time.h"
#include "common/status.h"
#include "executor/src/handler_call.h"

namespace tidemark::exec {
namespace {

// How long closing streams may take after the last message.
constexpr absl::Duration kCloseTimeout = absl::Seconds(2);

}  // namespace

Driver::Driver(CoreOptions options, const std::vector<std::string>& schedulers,
               std::map<std::string, HandlerEntry> handlers, std::unique_ptr<Spool> spool,
               DriverDeps deps)
    : options_(std::move(options)),
      handlers_(std::move(handlers)),
      deps_(std::move(deps)),
      queue_(std::make_shared<EventQueue>()),
      spool_(std::move(spool)),
      dialer_(schedulers, *deps_.random),
      pool_(options_.capacity) {}

Driver::~Driver() = default;

void Driver::Stop() {
  queue_->Post([this] { core_->OnStop(Now()); });
}

bool Driver::Load() {
  absl::StatusOr<Spool::Loaded> loaded = spool_->Load();
  if (!loaded.ok()) {
    deps_.log.Error("spool cannot be read", {{"error", Message(loaded.status())}});
    return false;
  }
  LogFound(*loaded);
  core_ = std::make_unique<SessionCore>(options_, std::move(loaded->results), Now());
  writer_ = std::make_unique<SpoolWriter>(
      std::move(spool_), [this, queue = queue_](bool writable, const std::string& problem) {
        queue->Post([this, writable, problem] {
          core_->OnSpoolHealth(writable, problem);
          if (writable) {
            deps_.log.Info("spool can be written again");
          } else {
            deps_.log.Error(
                "spool cannot be written: no new runs are taken, results stay in "
                "memory",
                {{"error", problem}});
          }
        });
      });
  return true;
}

void Driver::LogFound(const Spool::Loaded& loaded) {
  const auto path = [this](const std::string& name) { return spool_->dir() + "/" + name; };
  for (const std::string& name : loaded.torn) {
    deps_.log.Warn(
        "an unfinished write was found at the end of a spool file and cut off; a run that ended in "
        "that moment is seen as lost by the scheduler",
        {{"file", path(name)}});
  }
  for (const std::string& name : loaded.damaged) {
    deps_.log.Error(
        "a spool file is damaged: all results that can be read were taken over; a run whose result "
        "cannot is seen as lost by the scheduler: look at this executor's runs with `tidemark run "
        "list`, check the disk, and delete the file when it is not needed any longer",
        {{"file", path(name)}});
  }
  if (!loaded.problem.empty()) {
    deps_.log.Error(
        "results of damaged or old spool files could not be written to a new one; they are in "
        "memory, and the files stay for the next start: see that the disk is not full",
        {{"error", loaded.problem}});
  }
  if (loaded.results.empty()) return;
  deps_.log.Info("results of an earlier process found",
                 {{"count", std::to_string(loaded.results.size())}});
}

int Driver::Run() {
  if (!Load()) return 2;
  while (!exit_code_) Turn();
  CloseLinks();
  queue_->Close();
  writer_.reset();
  if (*exit_code_ == kExitHandlersStuck) pool_.Abandon();
  return *exit_code_;
}

void Driver::Turn() {
  Dial(Now());
  for (Effect& effect : core_->TakeEffects(Now())) Apply(std::move(effect));
  if (exit_code_) return;
  const absl::Duration wake = std::min(core_->NextWake(), dialer_.NextWake());
  std::optional<std::chrono::nanoseconds> timeout;
  if (wake != absl::InfiniteDuration()) {
    timeout = absl::ToChronoNanoseconds(std::max(wake - Now().mono, absl::ZeroDuration()));
  }
  for (const EventQueue::Event& event : queue_->Wait(timeout)) event();
  core_->OnTick(Now());
}

void Driver::Dial(Moment now) {
  for (const auto& [id, address] : dialer_.Due(now.mono)) {
    Link::Callbacks callbacks;
    const LinkId link = id;
    callbacks.on_message = [this, queue = queue_, link](v1::SchedulerMessage message) {
      queue->Post(
          [this, link, message = std::move(message)] { core_->OnMessage(link, message, Now()); });
    };
    callbacks.on_written = [this, queue = queue_, link](size_t bytes) {
      queue->Post([this, link, bytes] { core_->OnWritten(link, bytes); });
    };
    callbacks.on_closed = [this, queue = queue_, link](const std::string& reason,
                                                       std::shared_ptr<Link> self) {
      queue->Post([this, link, reason, self = std::move(self)] { OnLinkClosed(link, reason); });
    };
    absl::StatusOr<std::shared_ptr<Link>> opened =
        Link::Open(address, deps_.security, std::move(callbacks));
    core_->OnLinkOpened(id, now);
    if (opened.ok()) {
      links_[id] = *std::move(opened);
    } else {  // a file may be in the middle of being replaced: tried again like any other failure
      queue_->Post([this, link, why = Message(opened.status())] { OnLinkClosed(link, why); });
    }
  }
}

void Driver::OnLinkClosed(LinkId id, const std::string& reason) {
  core_->OnLinkClosed(id, Now());
  const std::string address = dialer_.AddressOf(id);
  if (dialer_.OnClosed(id, reason, Now().mono) && !exit_code_) {
    deps_.log.Warn("no connection to scheduler; trying again until it is back",
                   {{"address", address}, {"reason", reason}});
  }
  links_.erase(id);
}

void Driver::Apply(Effect effect) {
  std::visit([this](auto&& value) { On(std::forward<decltype(value)>(value)); }, std::move(effect));
}

void Driver::On(SendEffect effect) {
  const auto it = links_.find(effect.link);
  if (it != links_.end()) it->second->Send(std::move(effect.message), effect.bytes);
}

void Driver::On(const CloseEffect& effect) {
  if (effect.parked_by) dialer_.Park(effect.link, *effect.parked_by);
  const auto it = links_.find(effect.link);
  if (it != links_.end()) it->second->Finish();
}

void Driver::On(const NodesEffect& effect) { dialer_.SetNodes(effect.addresses, Now().mono); }

void Driver::On(const StartEffect& effect) {
  const AttemptKey key = effect.key;
  const auto post = [this, queue = queue_](auto call) {
    queue->Post([this, call = std::move(call)] { call(*this); });
  };
  auto take = [post, key] { post([key](Driver& driver) { driver.TakeReports(key); }); };
  auto state = std::make_shared<RunState>(InfoOf(*effect.trigger), *deps_.clock, take, take);
  runs_[key] = state;
  HandlerCall call;
  call.on_entered = [post, key] {
    post([key](Driver& driver) { driver.core_->OnEntered(key, driver.Now()); });
  };
  call.on_not_entered = [post, key](bool locked_out, std::string message) {
    post([key, locked_out, message = std::move(message)](Driver& driver) {
      driver.runs_.erase(key);
      driver.core_->OnNotEntered(key, locked_out, message, driver.Now());
    });
  };
  call.on_finished = [post, key](HandlerResult result) {
    post([key, result = std::move(result)](Driver& driver) {
      driver.TakeReports(key);
      driver.runs_.erase(key);
      driver.core_->OnFinished(key, result, driver.Now());
    });
  };
  const HandlerEntry& entry = handlers_.at(effect.trigger->handler());
  pool_.Submit([entry, state = std::move(state), call = std::move(call)] {
    CallHandler(entry.options.guard, entry.function, state, call);
  });
}

void Driver::TakeReports(const AttemptKey& key) {
  const auto it = runs_.find(key);
  if (it == runs_.end()) return;
  if (const auto progress = it->second->TakeProgress()) core_->OnProgress(key, *progress, Now());
  const std::string log = it->second->TakeLog();
  if (!log.empty()) core_->OnLog(key, log);
}

void Driver::On(CancelEffect effect) {
  const auto it = runs_.find(effect.key);
  if (it != runs_.end()) it->second->Cancel(std::move(effect.reason), false);
}

void Driver::On(const AbortEffect& effect) {
  deps_.log.Error("aborting this process", {{"reason", effect.reason}});
  deps_.abort(effect.reason);
  exit_code_ = kExitHandlersStuck;  // only where a test's abort returns
}

void Driver::On(SpoolWriteEffect effect) { writer_->Write(effect.key, std::move(effect.report)); }
void Driver::On(const SpoolAckEffect& effect) { writer_->Acknowledge(effect.key); }
void Driver::On(const SpoolDeleteEffect& effect) { writer_->Delete(effect.key); }
void Driver::On(LeaveEffect effect) { exit_code_ = effect.code; }

void Driver::On(const NoteEffect& note) {
  LogNote(note);
  if (note.kind == NoteEffect::Kind::kWelcomed) dialer_.OnWelcomed(note.link);
  if (!deps_.on_run_event) return;
  RunEvent event;
  switch (note.kind) {
    case NoteEffect::Kind::kAccepted:
      event.kind = RunEvent::Kind::kAccepted;
      break;
    case NoteEffect::Kind::kRefused:
      event.kind = RunEvent::Kind::kRefused;
      break;
    case NoteEffect::Kind::kStarted:
      event.kind = RunEvent::Kind::kStarted;
      break;
    case NoteEffect::Kind::kCancelled:
      event.kind = RunEvent::Kind::kCancelled;
      break;
    case NoteEffect::Kind::kFinished:
      event.kind = RunEvent::Kind::kFinished;
      break;
    default:
      return;
  }
  event.handler = note.handler;
  event.run_id = note.key.run_id;
  event.attempt = note.key.attempt;
  event.detail = note.detail;
  deps_.on_run_event(event);
}

void Driver::LogNote(const NoteEffect& note) {
  using Kind = NoteEffect::Kind;
  const std::string attempt = std::to_string(note.key.attempt);
  const std::string address = dialer_.AddressOf(note.link);
  const auto run = [&](LogLevel level, std::string_view event) {
    const std::initializer_list<LogField> fields = {{"run_id", note.key.run_id},
                                                    {"attempt", attempt},
                                                    {"handler", note.handler},
                                                    {"detail", note.detail}};
    if (level == LogLevel::kInfo) deps_.log.Info(event, fields);
    if (level == LogLevel::kWarn) deps_.log.Warn(event, fields);
  };
  switch (note.kind) {
    case Kind::kWelcomed:
      return deps_.log.Info("connected to scheduler",
                            {{"address", address}, {"node", note.detail}});
    case Kind::kWaiting:
      return deps_.log.Warn(
          "waiting: another process with this executor_id still has contact; "
          "give each process an id of its own",
          {{"executor_id", options_.executor_id}, {"address", address}, {"detail", note.detail}});
    case Kind::kNotice:
      return deps_.log.Warn("the scheduler says",
                            {{"executor_id", options_.executor_id}, {"detail", note.detail}});
    case Kind::kRejected:
      return deps_.log.Error("the scheduler rejected this executor for good",
                             {{"executor_id", options_.executor_id},
                              {"app", options_.app},
                              {"address", address},
                              {"reason", note.detail}});
    case Kind::kAccepted:
      return;
    case Kind::kRefused:
      return run(LogLevel::kWarn, "run refused");
    case Kind::kStarted:
      return run(LogLevel::kInfo, "run started");
    case Kind::kCancelled:
      return run(LogLevel::kInfo, "run cancelled");
    case Kind::kFinished:
      return run(LogLevel::kInfo, "run finished");
    case Kind::kOutOfContact:
      return run(LogLevel::kWarn, "run out of contact");
    case Kind::kStaleEpoch:
      return run(LogLevel::kWarn, "order of a former shard owner ignored");
    case Kind::kDraining:
      return deps_.log.Info("draining", {{"detail", note.detail}});
    case Kind::kLeft:
      return deps_.log.Info("leaving", {{"detail", note.detail}});
  }
}

void Driver::CloseLinks() {
  for (auto& [id, link] : links_) link->Finish();
  absl::Duration until = Now().mono + kCloseTimeout;
  bool cancelled = false;
  // gRPC's threads call back into this object until every stream is over.
  while (!links_.empty()) {
    const absl::Duration left = std::max(until - Now().mono, absl::ZeroDuration());
    for (const EventQueue::Event& event : queue_->Wait(absl::ToChronoNanoseconds(left))) event();
    if (cancelled || Now().mono < until) continue;
    for (auto& [id, link] : links_) link->Cancel();
    cancelled = true;
    until = Now().mono + absl::Hours(1);
  }
}

}  // namespace tidemark::exec
