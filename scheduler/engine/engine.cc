#include "scheduler/engine/engine.h"

#include <algorithm>
#include <utility>

#include "scheduler/engine/alerts.h"
#include "scheduler/engine/arming.h"
#include "scheduler/engine/backfills.h"
#include "scheduler/engine/checks.h"
#include "scheduler/engine/commands.h"
#include "scheduler/engine/fail_over.h"
#include "scheduler/engine/gaps.h"
#include "scheduler/engine/gauges.h"
#include "scheduler/engine/jobs.h"
#include "scheduler/engine/runs.h"
#include "scheduler/engine/sessions.h"

namespace tidemark {
namespace {

constexpr absl::Duration kScanEvery = absl::Minutes(1);
constexpr absl::Duration kSweepEvery = absl::Seconds(1);
constexpr absl::Duration kProgressEvery = absl::Seconds(1);

}  // namespace

void State::CollectUpdates() {
  for (const std::string& run_id : std::exchange(dirty, {})) {
    LiveRun* run = FindRun(run_id);
    if (run == nullptr || !run->dirty) continue;
    run->dirty = false;
    flush.updates.push_back({run->row});
  }
}

// One term's state and the parts that work on it.
class Engine::Parts {
 public:
  Parts(Decoders decoders, Random& random, RunIdSource& ids, Tally& tally)
      : state(std::move(decoders), random, ids, tally),
        jobs(state),
        gaps(state),
        runs(state),
        arming(state),
        sessions(state),
        backfills(state),
        checks(state),
        fail_over(state),
        commands(state) {
    state.job_part = &jobs;
    state.gap_part = &gaps;
    state.run_part = &runs;
    state.arm_part = &arming;
    state.session_part = &sessions;
    state.command_part = &commands;
    state.backfill_part = &backfills;
    state.check_part = &checks;
    state.fail_over_part = &fail_over;
  }

  State state;
  Jobs jobs;
  Gaps gaps;
  Runs runs;
  Arming arming;
  Sessions sessions;
  Backfills backfills;
  Checks checks;
  FailOver fail_over;
  Commands commands;
};

Engine::Engine(Decoders decoders, Random& random, CatchUpBudget budget)
    : decoders_(std::move(decoders)), random_(random), budget_(budget), ids_(random) {
  parts_ = MakeParts();
}

std::unique_ptr<Engine::Parts> Engine::MakeParts() {
  auto parts = std::make_unique<Parts>(decoders_, random_, ids_, tally_);
  parts->state.budget = budget_;
  parts->state.holding = leapt_.has_value();
  return parts;
}

Engine::~Engine() = default;

bool Engine::active() const { return parts_->state.active; }

void Engine::SetNow(Moment now) {
  State& s = parts_->state;
  // X8: whoever was not looked at for longer than a beat gets the full time again.
  if (s.active && now.mono - last_.mono > s.times.beat) s.eyes_good_since = now.mono;
  last_ = now;
  s.now = now;
}

void Engine::TermStarted(Moment now, Snapshot snapshot) {
  // Streams that were turned away a moment ago, in the same turn, are to be closed all the same:
  // whoever is on them would wait for ever.
  std::vector<StreamId> close = std::move(parts_->state.out.close);
  parts_ = MakeParts();
  parts_->state.out.close = std::move(close);
  State& s = parts_->state;
  SetNow(now);
  s.active = true;
  s.eyes_good_since = now.mono;
  s.timeline = snapshot.timeline;
  s.shards = std::move(snapshot.shards);
  s.open_alerts = std::move(snapshot.open_alerts);
  // A term begins with the clock as it is now, unless that leapt with the end of the last one.
  alerts::ClockTrusted(s);
  if (leapt_.has_value()) alerts::ClockLeap(s, *leapt_);
  s.next_scan = now.mono + kScanEvery;
  s.next_sweep = now.mono + kSweepEvery;
  s.next_progress = now.mono + kProgressEvery;
  TakeIn(std::move(snapshot));
}

// Jobs and runs of shards that are ours from now on.
void Engine::TakeIn(Snapshot snapshot) {
  State& s = parts_->state;
  s.jobs.Reserve(s.jobs.size() + snapshot.jobs.size());
  std::vector<int64_t> taken;
  taken.reserve(snapshot.jobs.size());
  for (const JobRow& row : snapshot.jobs) taken.push_back(row.job_id);
  parts_->fail_over.Begin(snapshot);
  for (JobRow& row : snapshot.jobs) parts_->jobs.Take(std::move(row));
  for (OpenBackfill& backfill : snapshot.backfills) parts_->backfills.Take(std::move(backfill));
  std::set<std::string> at;
  for (ActiveRun& run : snapshot.runs) {
    if (!run.executor_id.empty()) at.insert(run.executor_id);
    // Runs take their turn in the order of their ids, whatever the clock did since.
    ids_.StartAfter(run.run_id);
    parts_->runs.Adopt(std::move(run));
  }
  for (const std::string& executor : at) parts_->sessions.AskAgain(executor);
  s.Say(LogLine::Level::kInfo, "shards taken",
        {{"jobs", std::to_string(s.jobs.size())},
         {"live_runs", std::to_string(s.runs.size())},
         {"shards", std::to_string(s.shards.size())}});
  // What was expected while nobody ran is judged as it was found, before catch-up changes it.
  parts_->checks.RunDue();
  parts_->arming.ArmDue();
  parts_->jobs.FireDue();
  const std::set<int64_t> told = alerts::JobsTold(s);
  for (const int64_t id : taken) {
    JobState* job = s.FindJob(id);
    if (job == nullptr) continue;
    const bool settled =
        snapshot.unsettled.has_value() && !told.contains(id) &&
        !std::binary_search(snapshot.unsettled->begin(), snapshot.unsettled->end(), id);
    parts_->gaps.EvaluateAtStart(*job, settled);
  }
}

void Engine::ShardsGained(Moment now, Snapshot gained) {
  SetNow(now);
  State& s = parts_->state;
  if (!s.active) return;
  DropKnown(gained);
  for (const auto& [shard, epoch] : gained.shards) s.shards[shard] = epoch;
  s.open_alerts.insert(gained.open_alerts.begin(), gained.open_alerts.end());
  s.eyes_good_since = now.mono;  // X8: nobody listened to their executors for a while
  TakeIn(std::move(gained));
}

// There should be none. But two of a run would be two runs.
void Engine::DropKnown(Snapshot& gained) {
  State& s = parts_->state;
  std::set<int64_t> known;
  for (const JobRow& row : gained.jobs) {
    if (s.FindJob(row.job_id) != nullptr) known.insert(row.job_id);
  }
  if (!known.empty()) {
    s.Say(LogLine::Level::kError, "jobs of shards that were gained were known already",
          {{"jobs", std::to_string(known.size())}});
  }
  std::erase_if(gained.jobs, [&](const JobRow& row) { return known.contains(row.job_id); });
  std::erase_if(gained.runs, [&](const ActiveRun& run) {
    return known.contains(run.occurrence.job_id) || s.FindRun(run.run_id) != nullptr;
  });
  std::erase_if(gained.backfills,
                [&](const OpenBackfill& backfill) { return known.contains(backfill.row.job_id); });
}

void Engine::TermEnded(Moment now, const std::string& why) {
  State& s = parts_->state;
  std::vector<StreamId> close = std::move(s.out.close);
  close.reserve(close.size() + s.streams.size());
  for (const auto& [stream, executor] : s.streams) close.push_back(stream);
  const bool was_active = s.active;
  parts_ = MakeParts();
  SetNow(now);
  parts_->state.out.close = std::move(close);
  if (was_active) parts_->state.Say(LogLine::Level::kWarn, "term ended", {{"why", why}});
}

void Engine::ClockLeapt(Moment now, absl::Duration step) {
  SetNow(now);
  leapt_ = step;
  parts_->state.holding = true;
  parts_->arming.DisarmAll();  // other instants than were thought
  if (parts_->state.active) alerts::ClockLeap(parts_->state, step);
}

void Engine::ClockTrusted(Moment now) {
  SetNow(now);
  State& s = parts_->state;
  leapt_.reset();
  s.holding = false;
  if (!s.active) return;
  alerts::ClockTrusted(s);
  // What came due while nothing fired, or between the old time and the new.
  s.jobs.ForEach([&](JobState& job) {
    parts_->gaps.Evaluate(job, TriggerPoint::kStart);
    parts_->jobs.WatchCursor(job);
  });
}

void Engine::Received(Moment now, StreamId stream, const ExecutorMessage& message,
                      absl::Duration received) {
  SetNow(now);
  if (!parts_->state.active) {
    parts_->state.out.close.push_back(stream);
    return;
  }
  // X8: what waited for longer than a beat until it was handled says that more may wait.
  State& s = parts_->state;
  if (now.mono - received > s.times.beat) s.eyes_good_since = now.mono;
  parts_->sessions.OnMessage(stream, message, received);
}

void Engine::StreamClosed(Moment now, StreamId stream) {
  SetNow(now);
  parts_->sessions.OnClosed(stream);
}

void Engine::StreamCongested(Moment now, StreamId stream, bool congested) {
  SetNow(now);
  parts_->sessions.OnCongested(stream, congested);
}

void Engine::Flushed(Moment now, const FlushResult& result) {
  SetNow(now);
  State& s = parts_->state;
  // Of an earlier term, or not committed: then the term is over and TermEnded follows.
  if (!s.flushing || result.seq + 1 != s.next_seq || !result.status.ok()) return;
  s.flushing = false;
  const auto actions = std::move(s.in_flight);
  s.in_flight.clear();
  BlameJobs(result);
  for (const auto& action : actions) action(result);
}

void Engine::BlameJobs(const FlushResult& result) {
  for (const auto& [job_id, error] : result.failed_jobs) {
    if (JobState* job = parts_->state.FindJob(job_id)) {
      parts_->jobs.SetError(*job, "its rows could not be written: " + error);
    }
  }
}

void Engine::Ledger(Moment now, const LedgerResult& result) {
  SetNow(now);
  parts_->gaps.OnLedger(result);
}

void Engine::CommandsArrived(Moment now, const std::vector<Command>& commands) {
  SetNow(now);
  if (!parts_->state.active) return;  // read again in the next term
  for (const Command& command : commands) parts_->commands.Carry(command);
}

void Engine::ExecutorsDrained(Moment now, std::set<std::string> executor_ids) {
  SetNow(now);
  if (parts_->state.active) parts_->sessions.TakeDrained(std::move(executor_ids));
}

void Engine::UpstreamsSettled(Moment now, const std::vector<std::string>& jobs) {
  SetNow(now);
  if (!parts_->state.active) return;  // all is looked at when a term starts
  if (jobs.empty()) parts_->gaps.EvaluateWaiting();
  for (const std::string& job : jobs) parts_->gaps.EvaluateDependents(job);
}

void Engine::InboxArrived(Moment now, const std::vector<InboxItem>& items, absl::Duration read) {
  SetNow(now);
  State& s = parts_->state;
  if (!s.active) return;  // read again in the next term
  for (const InboxItem& item : items) parts_->runs.OnInbox(item);
  parts_->sessions.SettleDoubts(read);
}

bool Engine::LaunchDue(Moment now) {
  SetNow(now);
  State& s = parts_->state;
  const auto next = s.fires.NextTime();
  if (!s.active || s.holding || s.FlushFull() || !next.has_value() || *next > s.now.lo) {
    return false;
  }
  parts_->jobs.FireDue();
  return true;
}

void Engine::Tick(Moment now) {
  SetNow(now);
  State& s = parts_->state;
  if (!s.active) return;
  parts_->jobs.FireDue();
  parts_->arming.ArmDue();
  parts_->jobs.FireDue();  // what was so near that it came due at once
  parts_->checks.RunDue();
  parts_->runs.TimersDue();
  if (now.mono >= s.next_sweep) {
    s.next_sweep = now.mono + kSweepEvery;
    parts_->sessions.Sweep();
    parts_->gaps.ScanShare();
    s.DropExtras();
  }
  if (now.mono >= s.next_progress) {
    s.next_progress = now.mono + kProgressEvery;
    parts_->runs.WriteProgress();
  }
  if (now.mono >= s.next_scan) {
    s.next_scan = now.mono + kScanEvery;
    parts_->gaps.Scan();
    parts_->sessions.WatchApps();
  }
}

Effects Engine::TakeEffects() {
  State& s = parts_->state;
  if (s.active && !s.flushing && !(s.NothingToFlush() && s.on_commit.empty())) {
    s.CollectUpdates();
    s.flush.seq = s.next_seq++;
    for (const CommandDone& done : s.flush.commands) {
      s.OnCommit(
          [&s, id = done.command_id](const FlushResult&) { s.out.commands_done.push_back(id); });
    }
    s.out.flush = std::move(s.flush);
    s.flush = Flush();
    s.inboxed.clear();
    s.in_flight = std::move(s.on_commit);
    s.on_commit.clear();
    s.flushing = true;
  }
  Effects effects = std::move(s.out);
  s.out = Effects();
  return effects;
}

Tally Engine::TakeTally() { return std::exchange(tally_, {}); }

EngineGauges Engine::Gauges() const { return GaugesOf(parts_->state); }

absl::Duration Engine::NextWake(Moment now) const {
  const State& s = parts_->state;
  if (!s.active) return absl::InfiniteDuration();
  absl::Duration next = std::min({s.next_scan, s.next_sweep});
  if (const auto timer = s.run_timers.NextTime()) next = std::min(next, *timer);
  const auto consider = [&](std::optional<CompactTime> time) {
    if (!time.has_value() || s.holding) return;
    next = std::min(next, now.mono + std::max(**time - now.lo, absl::ZeroDuration()));
  };
  consider(s.checks.NextTime());
  if (s.FlushFull()) return next;
  consider(s.fires.NextTime());
  consider(s.ahead.NextTime());
  return next;
}

}  // namespace tidemark
