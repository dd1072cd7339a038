#include "tests/engine/harness.h"

#include <gtest/gtest.h>

#include <utility>

#include "common/time_text.h"

namespace tidemark {
namespace {

std::string Uuid(const std::string& id, int number) {
  char text[40];
  std::snprintf(text, sizeof text, "%08x-0000-7000-8000-%012d",
                static_cast<unsigned>(std::hash<std::string>()(id)), number);
  return text;
}

}  // namespace

EngineHarness::EngineHarness(std::string_view now) : random_(7) {
  const absl::StatusOr<absl::Time> time = ParseInstant(now);
  EXPECT_TRUE(time.ok()) << now;
  now_ = {absl::Seconds(10000), *time, *time};
  engine_ = std::make_unique<Engine>(MakeDecoders(), random_, budget);
}

EngineHarness::EngineHarness(const EngineHarness& other)
    : shared(other.shared), random_(8), now_(other.now_) {
  engine_ = std::make_unique<Engine>(MakeDecoders(), random_, budget);
}

Decoders EngineHarness::MakeDecoders() {
  return {[this](const std::string& text) -> absl::StatusOr<JobSpec> {
            const auto it = store.specs.find(text);
            if (it == store.specs.end()) return absl::InvalidArgumentError("not a definition");
            return it->second;
          },
          [](const std::string&) { return std::map<std::string, std::string>{}; }};
}

JobSpec EngineHarness::DailyJob(const std::string& name, const std::string& start_date) {
  JobSpec spec;
  spec.name = name;
  spec.app = "app";
  spec.handler = "work";
  spec.schedule.cron = "0 0 1 * * ?";
  spec.schedule.zone = "Asia/Shanghai";
  spec.retry.jitter = 0;
  if (!start_date.empty()) spec.start_date = *ParseDate(start_date);
  return spec;
}

int64_t EngineHarness::Apply(const JobSpec& spec) {
  int64_t job_id = 0;
  for (const auto& [id, job] : store.jobs) {
    if (job.name == spec.name) job_id = id;
  }
  if (job_id == 0) job_id = static_cast<int64_t>(store.jobs.size()) + 1;
  JobRow& row = store.jobs[job_id];
  if (row.job_id == 0) row.created_at = now_.lo;
  row.job_id = job_id;
  row.name = spec.name;
  row.ns = spec.ns;
  row.app = spec.app;
  ++row.version;
  const std::string text = spec.name + "#" + std::to_string(row.version);
  store.specs[text] = spec;
  row.versions.push_back({row.version, now_.lo, text});
  std::erase_if(store.after, [&](const auto& entry) { return entry.second.first == job_id; });
  for (const Dependency& d : spec.after) {
    store.after.emplace(d.job, std::pair(job_id, d.offset));
  }
  Changed(job_id);
  return job_id;
}

void EngineHarness::Changed(int64_t job_id) {
  if (!engine_->active()) return;
  tidemark::Command command;
  command.command_id = "changed" + std::to_string(++last_command_);
  command.job_id = job_id;
  command.kind = "job_changed";
  command.job = store.jobs[job_id];
  engine_->CommandsArrived(now_, {command});
  Pump();
}

FlushResult EngineHarness::Commit(const Flush& flush) {
  store.now = now_.lo;
  return store.Apply(flush);
}

void EngineHarness::Corrupt(int64_t job_id) { store.jobs[job_id].versions.back().spec = "broken"; }

void EngineHarness::SetOwner(Snapshot& snapshot, const std::set<int>* shards) {
  for (int shard = 0; shard < kShards; ++shard) {
    if (shards == nullptr || shards->contains(shard)) snapshot.shards[shard] = {timeline, epoch_};
  }
  snapshot.timeline = timeline;
  snapshot.failed_over = failed_over;
  if (!failed_over) return;
  for (const auto& [id, executor] : store.executors) {
    snapshot.executors.push_back({id, "app", "default", executor.first});
  }
}

void EngineHarness::StartTerm() {
  const std::set<int>* shards = owned.has_value() ? &*owned : nullptr;
  Snapshot snapshot = store.Load(shards);
  SetOwner(snapshot, shards);
  inbox_seen_.clear();
  engine_->TermStarted(now_, std::move(snapshot));
  Pump();
}

void EngineHarness::Gain(const std::set<int>& shards) {
  ++epoch_;
  Snapshot gained = store.Load(&shards);
  SetOwner(gained, &shards);
  if (owned.has_value()) owned->insert(shards.begin(), shards.end());
  engine_->ShardsGained(now_, std::move(gained));
  Pump();
}

void EngineHarness::DeliverInbox() {
  if (!engine_->active() || inbox_stalled) return;
  std::vector<InboxItem> items;
  for (const auto& [shard, item] : store.inbox) {
    const bool ours = !owned.has_value() || owned->contains(shard);
    if (ours && inbox_seen_.insert(item.attempt).second) items.push_back(item);
  }
  engine_->InboxArrived(now_, items, now_.mono);
}

void EngineHarness::DeliverNews() {
  const std::vector<std::string> news(store.news.begin() + static_cast<ptrdiff_t>(news_heard_),
                                      store.news.end());
  news_heard_ = store.news.size();
  if (!news.empty() && !deaf) engine_->UpstreamsSettled(now_, news);
}

void EngineHarness::HearAgain() {
  deaf = false;
  engine_->UpstreamsSettled(now_, {});
  Pump();
}

void EngineHarness::AnswerOldLook(absl::Duration ago) {
  engine_->InboxArrived(now_, {}, now_.mono - ago);
  Pump();
}

void EngineHarness::EndTerm() {
  engine_->TermEnded(now_, "test");
  stalled_.clear();
  Pump();
}

void EngineHarness::KillScheduler() {
  engine_ = std::make_unique<Engine>(MakeDecoders(), random_, budget);
  stalled_.clear();
  for (auto& [id, executor] : executors) executor.stream = 0;
}

void EngineHarness::Advance(absl::Duration d) {
  const absl::Duration end = now_.mono + d;
  while (now_.mono < end) {
    const absl::Duration step = std::min(absl::Seconds(1), end - now_.mono);
    now_.mono += step;
    now_.lo += step;
    now_.hi += step;
    const bool beat = absl::ToInt64Seconds(now_.mono) % 5 == 0;
    for (auto& [id, executor] : executors) {
      if (beat && executor.beats) Beat(executor);
    }
    DeliverInbox();
    // What is due is dealt with in turns of a bounded length.
    for (bool more = true; more; more = engine_->NextWake(now_) <= now_.mono) {
      engine_->Tick(now_);
      Pump();
    }
  }
}

void EngineHarness::AdvanceTo(std::string_view instant) {
  Advance(*ParseInstant(instant) - now_.lo);
}

void EngineHarness::AnswerLedger() {
  ledger_stalled = false;
  const std::vector<LedgerResult> answers = std::exchange(answers_, {});
  for (const LedgerResult& answer : answers) engine_->Ledger(now_, answer);
}

void EngineHarness::AnswerStalled() {
  store_stalled = false;
  const std::vector<Flush> stalled = std::exchange(stalled_, {});
  for (const Flush& flush : stalled) engine_->Flushed(now_, Commit(flush));
  Pump();
}

void EngineHarness::LeapClock(absl::Duration step) {
  engine_->ClockLeapt(now_, step);
  Pump();
  Advance(absl::Seconds(3));
  now_.lo += step;
  now_.hi += step;
  engine_->ClockTrusted(now_);
  Pump();
}

void EngineHarness::SetClock(std::string_view instant) {
  const absl::Duration step = *ParseInstant(instant) - now_.lo;
  now_.lo += step;
  now_.hi += step;
}

void EngineHarness::Suspend(absl::Duration d) {
  now_.mono += d;
  now_.lo += d;
  now_.hi += d;
  engine_->Tick(now_);
  Pump();
}

void EngineHarness::Pump() {
  for (int turn = 0; turn < 10000; ++turn) {
    DeliverInbox();
    DeliverNews();
    Effects effects = engine_->TakeEffects();
    if (effects.empty() && store.orders.empty()) return;
    if (!store.orders.empty()) engine_->CommandsArrived(now_, std::exchange(store.orders, {}));
    for (const Outbound& message : effects.messages) Deliver(message);
    for (const auto& [stream, why] : effects.deny) {
      denied.push_back(why);
      effects.close.push_back(stream);
    }
    for (const StreamId stream : effects.close) {
      for (auto& [id, executor] : executors) {
        if (executor.stream == stream) Disconnect(executor);
      }
    }
    questions += static_cast<int>(effects.queries.size());
    for (const LedgerQuery& query : effects.queries) answers_.push_back(store.Answer(query));
    if (!ledger_stalled) AnswerLedger();
    if (!effects.flush.has_value()) continue;
    Flushed(*effects.flush);
  }
  ADD_FAILURE() << "the engine does not come to rest";
}

void EngineHarness::Flushed(const Flush& flush) {
  const Fate what = fate ? fate(flush) : Fate::kCommitted;
  if (what == Fate::kStalled) store_stalled = true;
  if (store_stalled) {
    stalled_.push_back(flush);
  } else if (what == Fate::kLost) {
    LoseTerm();
  } else if (what == Fate::kInDoubt) {
    Commit(flush);
    LoseTerm();
  } else {
    engine_->Flushed(now_, Commit(flush));
  }
}

void EngineHarness::LoseTerm() {
  std::vector<std::string> connected;
  for (const auto& [id, executor] : executors) {
    if (executor.stream != 0) connected.push_back(id);
  }
  EndTerm();
  StartTerm();
  for (const std::string& id : connected) Connect(executors.at(id));
}

EngineHarness::Executor& EngineHarness::Start(const std::string& id, int incarnation) {
  Executor& executor = executors[id];
  executor.id = id;
  executor.incarnation = Uuid(id, incarnation);
  executor.registration = 0;
  executor.held.clear();
  executor.rejected.reset();
  executor.waiting = false;
  Connect(executor);
  return executor;
}

void EngineHarness::Connect(Executor& executor) {
  executor.stream = ++last_stream_;
  executor.beat = 0;
  Hello hello;
  hello.executor_id = executor.id;
  hello.app = executor.app;
  hello.ns = "default";
  hello.incarnation = executor.incarnation;
  hello.registration = executor.registration;
  hello.handlers = {{"work", executor.interruptible, 0}};
  hello.capacity = executor.capacity;
  hello.labels = executor.labels;
  hello.host = executor.id + "-host";
  hello.draining = executor.draining;
  for (const auto& [run_id, held] : executor.held) hello.held.push_back(held);
  hello.results = executor.unacknowledged;
  ExecutorMessage message;
  message.hello = std::move(hello);
  engine_->Received(now_, executor.stream, message, now_.mono - unread_for);
  Pump();
}

void EngineHarness::Disconnect(Executor& executor) {
  const StreamId stream = executor.stream;
  executor.stream = 0;
  if (stream != 0) engine_->StreamClosed(now_, stream);
  Pump();
}

void EngineHarness::Beat(Executor& executor) {
  if (executor.stream == 0 || executor.registration == 0) return;
  Heartbeat beat;
  beat.sequence = ++executor.beat;
  beat.draining = executor.draining;
  for (const auto& [run_id, held] : executor.held) beat.held.push_back(held);
  ExecutorMessage message;
  message.heartbeat = std::move(beat);
  engine_->Received(now_, executor.stream, message, now_.mono - unread_for);
  Pump();
}

void EngineHarness::Leave(Executor& executor) {
  ExecutorMessage message;
  message.goodbye = true;
  engine_->Received(now_, executor.stream, message, now_.mono - unread_for);
  Disconnect(executor);
}

void EngineHarness::Report(Executor& executor, const AttemptRef& ref,
                           decltype(RunReport::event) event) {
  RunReport report{ref, executor.registration, std::move(event)};
  if (std::holds_alternative<FinishedReport>(report.event)) {
    executor.held.erase(ref.run_id);
    executor.unacknowledged.push_back(report);
  }
  if (executor.stream == 0) return;
  ExecutorMessage message;
  message.reports.push_back(std::move(report));
  engine_->Received(now_, executor.stream, message, now_.mono - unread_for);
  Pump();
}

void EngineHarness::Begin(Executor& executor, const TriggerOrder& trigger) {
  executor.held[trigger.attempt.run_id] = {trigger.attempt, trigger.shard, trigger.epoch, true};
  Report(executor, trigger.attempt, StartedReport{});
}

void EngineHarness::Finish(Executor& executor, const TriggerOrder& trigger, Outcome outcome,
                           const std::string& message) {
  FinishedReport finished;
  finished.result.outcome = outcome;
  finished.result.message = message;
  finished.result.result_rows = 1;
  finished.result.result_digest = "digest of " + trigger.biz_date;
  Report(executor, trigger.attempt, finished);
}

void EngineHarness::Deliver(const Outbound& message) {
  for (auto& [id, executor] : executors) {
    if (executor.stream != message.stream) continue;
    if (const auto* welcome = std::get_if<WelcomeMessage>(&message.body)) {
      executor.registration = welcome->registration;
      executor.waiting = false;
    } else if (const auto* trigger = std::get_if<TriggerOrder>(&message.body)) {
      executor.triggers.push_back(*trigger);
      if (on_trigger) on_trigger(executor, *trigger);
    } else if (const auto* cancel = std::get_if<CancelOrder>(&message.body)) {
      executor.cancels.push_back(*cancel);
    } else if (const auto* ack = std::get_if<AcknowledgedOrder>(&message.body)) {
      executor.acknowledged.push_back(ack->attempt);
      std::erase_if(executor.unacknowledged,
                    [&](const RunReport& report) { return report.attempt == ack->attempt; });
    } else if (const auto* rejected = std::get_if<RejectedMessage>(&message.body)) {
      executor.rejected = *rejected;
    } else if (const auto* beat = std::get_if<HeartbeatAckMessage>(&message.body)) {
      executor.renewed = beat->renewed;
    } else if (std::holds_alternative<WaitMessage>(message.body)) {
      executor.waiting = true;
    } else if (const auto* notice = std::get_if<NoticeMessage>(&message.body)) {
      executor.notices.push_back(notice->text);
    }
  }
}

std::string EngineHarness::Command(int64_t job_id, const std::string& kind,
                                   std::map<std::string, std::string> args) {
  tidemark::Command command;
  command.command_id = "command" + std::to_string(++last_command_);
  command.job_id = job_id;
  command.kind = kind;
  command.args = std::move(args);
  command.actor = "tester";
  engine_->CommandsArrived(now_, {command});
  Pump();
  return command.command_id;
}

const CommandDone& EngineHarness::Answer(const std::string& command_id) const {
  static const CommandDone* none =
      new CommandDone{.code = absl::StatusCode::kUnknown, .message = "no answer"};
  const auto it = store.commands.find(command_id);
  return it == store.commands.end() ? *none : it->second;
}

std::string EngineHarness::StatusOf(int64_t job_id, std::string_view date) const {
  const auto it = store.watermarks.find({job_id, *ParseDate(date)});
  return it == store.watermarks.end() ? "" : it->second.status;
}

std::vector<std::string> EngineHarness::DatesRun(int64_t job_id) const {
  std::vector<std::string> dates;
  for (const MemoryStore::Ended& ended : store.history) {
    if (ended.run.occurrence.job_id == job_id && ended.run.biz_date.has_value()) {
      dates.push_back(FormatDate(*ended.run.biz_date));
    }
  }
  return dates;
}

bool EngineHarness::HasAlert(const std::string& kind) const {
  for (const auto& [key, alert] : store.alerts) {
    if (alert.kind == kind) return true;
  }
  return false;
}

int EngineHarness::Told(const std::string& kind) const {
  int told = 0;
  for (const AlertRaise& alert : store.all_alerts) told += alert.kind == kind ? 1 : 0;
  return told;
}

}  // namespace tidemark
