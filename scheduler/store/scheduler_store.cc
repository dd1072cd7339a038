#include "scheduler/store/scheduler_store.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "common/log.h"
#include "common/mutex.h"
#include "common/state_log.h"
#include "common/status.h"
#include "common/time_text.h"
#include "scheduler/store/backoff.h"
#include "scheduler/store/batch_writer.h"
#include "scheduler/store/chores.h"
#include "scheduler/store/command_feed.h"
#include "scheduler/store/lease.h"
#include "scheduler/store/lease_renewer.h"
#include "scheduler/store/ledger_reader.h"
#include "scheduler/store/migrate.h"
#include "scheduler/store/session.h"
#include "scheduler/store/shard_keeper.h"
#include "scheduler/store/term.h"
#include "scheduler/store/term_watchdog.h"

namespace tidemark {
namespace {

constexpr absl::Duration kLook = absl::Seconds(1);  // at shards and nodes

}  // namespace

// The supervisor: one thread that makes terms, one after the other, and watches the present one.
class SchedulerStore::Impl {
 public:
  Impl(StoreOptions options, StoreListener* listener, Clock& clock, Random& random)
      : options_(std::move(options)),
        clock_(clock),
        random_(random),
        gate_(listener),
        log_("taking charge of " + DescribeDatabase(options_.database)) {}

  void Start() {
    thread_ = std::thread([this] { Run(); });
  }
  void Stop();
  void Submit(uint64_t term, Flush flush);
  void Query(uint64_t term, LedgerQuery query);
  void Poke();
  StoreHealth Health() const;
  bool TermGoesOn();

 private:
  // The threads of a term; what is null has not started.
  struct Workers {
    uint64_t term = 0;
    std::unique_ptr<BatchWriter> writer;
    std::unique_ptr<LedgerReader> reader;
    std::unique_ptr<CommandFeed> feed;
  };
  // An incarnation of ours that may own shards.
  struct Holder {
    Owner owner;
    absl::Duration until;  // when its lease is over at the latest, by our clock
  };

  void Run();
  absl::Status RunTerm(Session& session);
  absl::StatusOr<std::unique_ptr<Term>> Register(Connection& connection);
  absl::StatusOr<Snapshot> FirstShards(Session& session, const Term& term, ShardKeeper& keeper);
  void TakeMore(Session& session, Term& term, ShardKeeper& keeper);
  // Until the term is over, or the store stops, or `leaving_` says why it is to end.
  void Watch(Session& session, Term& term, ShardKeeper& keeper);
  void Follow(ShardKeeper::Verdict verdict, Session& session, Term& term, ShardKeeper& keeper);
  void StartWorkers(Term& term, Snapshot snapshot);
  void StopWorkers(Term& term, bool drain);
  // What a Stop breaks, so that it need not wait; null: nothing, it is to be a graceful one.
  void BreakOnStop(Session* session);
  void Enter(Term* term);
  void SetTold(Term* term);
  void Leave(const std::string& why);
  // The process ends: leases and shards are free at once.
  void GiveBack();
  bool Stopping();

  const StoreOptions options_;
  Clock& clock_;
  Random& random_;
  ListenerGate gate_;
  StateLog log_;
  Signal wake_;
  std::atomic<bool> cluster_changed_ = false;
  uint64_t terms_ = 0;            // of the supervisor's thread, as the next three
  std::string last_incarnation_;  // "" before the first registration
  std::string leaving_;           // why the present term is to end; "": it is not
  std::vector<Holder> holders_;   // the present term's, and those before it that it has not fenced
  // Taken before the gate's, unlike the other.
  mutable Mutex health_mutex_;
  const Term* current_ ABSL_GUARDED_BY(health_mutex_) = nullptr;  // while it is on
  absl::Duration current_since_ ABSL_GUARDED_BY(health_mutex_);
  // From before its OnTermStarted until after its OnTermEnded.
  Term* told_ ABSL_GUARDED_BY(health_mutex_) = nullptr;
  std::string problem_ ABSL_GUARDED_BY(health_mutex_) = "the database was not reached yet";
  Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Session* breakable_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Workers workers_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

void SchedulerStore::Impl::Stop() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    if (breakable_ != nullptr) breakable_->Close();
  }
  wake_.Notify();
  if (thread_.joinable()) thread_.join();
}

void SchedulerStore::Impl::Submit(uint64_t term, Flush flush) {
  const MutexLock lock(&mutex_);
  if (workers_.term == term && workers_.writer != nullptr) {
    workers_.writer->Submit(std::move(flush));
  }
}

void SchedulerStore::Impl::Query(uint64_t term, LedgerQuery query) {
  const MutexLock lock(&mutex_);
  if (workers_.term == term && workers_.reader != nullptr) {
    workers_.reader->Query(std::move(query));
  }
}

void SchedulerStore::Impl::Poke() {
  const MutexLock lock(&mutex_);
  if (workers_.feed != nullptr) workers_.feed->Poke();
}

void SchedulerStore::Impl::BreakOnStop(Session* session) {
  const MutexLock lock(&mutex_);
  if (stopping_ && session != nullptr) session->Close();
  breakable_ = session;
}

bool SchedulerStore::Impl::Stopping() {
  const MutexLock lock(&mutex_);
  return stopping_;
}

void SchedulerStore::Impl::Run() {
  Backoff backoff(options_.first_backoff, options_.max_backoff);
  while (!Stopping()) {
    absl::Status status;
    {
      Session session(options_.database);
      BreakOnStop(&session);
      status = RunTerm(session);
      BreakOnStop(nullptr);
    }
    if (!status.ok()) Leave(Message(status));
    if (Stopping()) break;
    log_.Report(status);
    if (status.ok()) {
      backoff.Reset();
    } else {
      wake_.Wait(backoff.Next());
    }
  }
  GiveBack();
}

absl::Status SchedulerStore::Impl::RunTerm(Session& session) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session.Get());
  TM_RETURN_IF_ERROR(Migrate(*connection, options_.database.schema, options_.migrate));
  TM_ASSIGN_OR_RETURN(const std::unique_ptr<Term> term, Register(*connection));
  // From now on, since waiting for a predecessor's transactions may take longer than the lease.
  const LeaseRenewer renewer(options_, term.get(), &gate_, &clock_);
  const TermWatchdog watchdog(term.get(), &clock_);
  ShardKeeper keeper(&session, term.get(), [this] { return NewUuid(clock_.WallNow(), random_); });
  absl::StatusOr<Snapshot> snapshot = FirstShards(session, *term, keeper);
  BreakOnStop(nullptr);
  if (!snapshot.ok()) {
    term->End(Message(snapshot.status()));
    return snapshot.status();
  }
  holders_.erase(holders_.begin(), holders_.end() - 1);
  log_.Report(absl::OkStatus());
  LogInfo("term started", {{"node", term->info().node_id},
                           {"incarnation", term->info().incarnation},
                           {"shards", std::to_string(snapshot->shards.size())},
                           {"jobs", std::to_string(snapshot->jobs.size())},
                           {"live_runs", std::to_string(snapshot->runs.size())}});
  SetTold(term.get());
  StartWorkers(*term, *std::move(snapshot));
  Enter(term.get());
  leaving_.clear();
  Watch(session, *term, keeper);
  if (Stopping()) leaving_ = "the scheduler stops";
  const bool was_over = term->Over();
  Leave(was_over ? term->why() : "the term ends");
  StopWorkers(*term, !was_over);
  SetTold(nullptr);
  LogInfo("term ended", {{"incarnation", term->info().incarnation}, {"why", term->why()}});
  holders_.back().until = term->deadline();
  if (was_over && !Stopping()) {
    BreakOnStop(&session);
    // Of no consequence when the database is away.
    keeper.TellOfDamage(term->deadline() > clock_.Monotonic()).IgnoreError();
  }
  return absl::OkStatus();
}

void SchedulerStore::Impl::Enter(Term* term) {
  const MutexLock lock(&health_mutex_);
  current_ = term;
  current_since_ = clock_.Monotonic();
  problem_.clear();
}

void SchedulerStore::Impl::SetTold(Term* term) {
  const MutexLock lock(&health_mutex_);
  told_ = term;
}

void SchedulerStore::Impl::Leave(const std::string& why) {
  const MutexLock lock(&health_mutex_);
  current_ = nullptr;
  problem_ = why;
}

bool SchedulerStore::Impl::TermGoesOn() {
  const MutexLock lock(&health_mutex_);
  return told_ == nullptr || !told_->Over();
}

StoreHealth SchedulerStore::Impl::Health() const {
  const absl::Duration now = clock_.Monotonic();
  const MutexLock lock(&health_mutex_);
  StoreHealth health;
  health.problem = problem_;
  if (current_ == nullptr) return health;
  health.lease_left = std::max(current_->deadline() - now, absl::ZeroDuration());
  health.owns = health.lease_left > absl::ZeroDuration();
  health.term_age = now - current_since_;
  if (options_.stop_after - health.lease_left > 2 * options_.renew_every) {
    health.problem = "the lease was not renewed for " +
                     DurationText(absl::Floor(options_.stop_after - health.lease_left,
                                              absl::Milliseconds(100))) +
                     ": the database does not answer";
  }
  return health;
}

void SchedulerStore::Impl::GiveBack() {
  for (const Holder& holder : holders_) {
    if (holder.until <= clock_.Monotonic()) continue;  // others may take them as it is
    auto last = Connection::Open(options_.database);   // the session may have been closed by Stop
    absl::Status released = last.status();
    if (released.ok()) released = ReleaseNode(**last, holder.owner);
    if (!released.ok() && !IsTermOver(released)) {
      LogWarn("shards were not given back; others take them when the lease is over",
              {{"why", Message(released)}});
    }
  }
}

absl::StatusOr<std::unique_ptr<Term>> SchedulerStore::Impl::Register(Connection& connection) {
  TermInfo info;
  info.term = terms_ + 1;
  info.node_id = options_.node_id;
  info.incarnation = NewUuid(clock_.WallNow(), random_);
  const NodeFacts node{
      {info.node_id, info.incarnation}, options_.address, options_.version, options_.lease};
  const absl::Duration sent = clock_.Monotonic();
  TM_ASSIGN_OR_RETURN(const absl::Time now,
                      RegisterNode(connection, node, last_incarnation_.empty(), last_incarnation_));
  gate_.ClockSampled({now, sent, clock_.Monotonic()});
  TM_ASSIGN_OR_RETURN(info.timeline, ReadTimeline(connection));
  ++terms_;
  last_incarnation_ = info.incarnation;
  holders_.push_back({{info.node_id, info.incarnation}, sent + options_.stop_after});
  return std::make_unique<Term>(std::move(info), &gate_, &clock_, options_.stop_after, sent,
                                &wake_);
}

absl::StatusOr<Snapshot> SchedulerStore::Impl::FirstShards(Session& session, const Term& term,
                                                           ShardKeeper& keeper) {
  TM_RETURN_IF_ERROR(keeper.FenceOthers([this] { return Stopping(); }));
  TM_ASSIGN_OR_RETURN(Connection * connection, session.Get());
  TM_RETURN_IF_ERROR(CheckShards(*connection, term.owner()));
  TM_ASSIGN_OR_RETURN(Snapshot snapshot, keeper.Take());
  TM_RETURN_IF_ERROR(Housekeeping(*connection));
  return snapshot;
}

// In the middle of a term, and under its incarnation.
void SchedulerStore::Impl::TakeMore(Session& session, Term& term, ShardKeeper& keeper) {
  BreakOnStop(&session);
  // Errors are told by the renewer; the next look tries again.
  const absl::Status fenced = keeper.FenceOthers([this] { return Stopping(); });
  BreakOnStop(nullptr);
  if (!fenced.ok() || Stopping()) return;
  absl::StatusOr<Snapshot> gained = keeper.Take();
  if (!gained.ok()) {
    term.End("it is not known which shards were taken: " + Message(gained.status()));
    return;
  }
  if (gained->shards.empty()) return;  // another node was faster
  const std::map<int, Epoch> shards = gained->shards;
  LogInfo("shards gained", {{"shards", std::to_string(shards.size())},
                            {"jobs", std::to_string(gained->jobs.size())},
                            {"live_runs", std::to_string(gained->runs.size())}});
  CommandFeed* feed = nullptr;
  {
    const MutexLock lock(&mutex_);
    feed = workers_.feed.get();  // only this thread takes it away
  }
  // Together: whoever hears of the shards may rely on the next look into their inbox.
  term.Deliver([&](StoreListener* listener) {
    listener->OnShardsGained(*std::move(gained));
    feed->AddShards(shards);
  });
}

void SchedulerStore::Impl::StartWorkers(Term& term, Snapshot snapshot) {
  const std::map<int, Epoch> shards = snapshot.shards;
  {
    const MutexLock lock(&mutex_);
    workers_.term = term.info().term;
    workers_.writer = std::make_unique<BatchWriter>(options_, &term, &gate_, &clock_, &random_);
    workers_.reader = std::make_unique<LedgerReader>(options_, &term);
  }
  term.Start(std::move(snapshot));
  // Only now: what it reads must not come before OnTermStarted.
  auto feed = std::make_unique<CommandFeed>(options_, &clock_, &term, shards, [this] {
    cluster_changed_ = true;
    wake_.Notify();
  });
  const MutexLock lock(&mutex_);
  workers_.feed = std::move(feed);
}

void SchedulerStore::Impl::StopWorkers(Term& term, bool drain) {
  BatchWriter* writer = nullptr;
  {
    const MutexLock lock(&mutex_);
    writer = workers_.writer.get();  // only this thread takes it away
  }
  if (drain) writer->Drain();
  Workers ending;
  {
    const MutexLock lock(&mutex_);
    std::swap(ending, workers_);
  }
  // A flush that came after the drain gets no answer; nothing of it may be told as done.
  if (drain) term.End(leaving_);
}

void SchedulerStore::Impl::Watch(Session& session, Term& term, ShardKeeper& keeper) {
  absl::Duration next_look = clock_.Monotonic();
  Chores chores(options_, clock_.Monotonic(), [this] { return Stopping(); });
  std::vector<std::string> told;
  std::set<std::string> drained;  // as told
  while (leaving_.empty()) {
    const absl::Duration until = std::min(next_look, term.deadline());
    wake_.Wait(std::max(until - clock_.Monotonic(), absl::Milliseconds(1)));
    if (term.Over() || Stopping()) return;
    if (!cluster_changed_.exchange(false) && clock_.Monotonic() < next_look) continue;
    next_look = clock_.Monotonic() + kLook;
    // Errors are the renewer's to tell: it speaks to the same database.
    const absl::StatusOr<ShardKeeper::Look> look = keeper.LookAround();
    if (!look.ok()) continue;
    if (look->cluster.addresses != told) {
      told = look->cluster.addresses;
      term.Deliver([&](StoreListener* listener) { listener->OnNodes(told); });
    }
    if (look->cluster.drained != drained) {
      drained = look->cluster.drained;
      term.Deliver([&](StoreListener* listener) { listener->OnDrained(drained); });
    }
    Follow(look->verdict, session, term, keeper);
    // A dead node's shards are taken as soon as its lease is over.
    if (const auto& end = look->cluster.first_end; end.has_value() && *end < kLook) {
      next_look = std::min(next_look, clock_.Monotonic() + *end + absl::Milliseconds(1));
    }
    keeper.TellOfLeases(*look, clock_.Monotonic()).IgnoreError();
    const absl::StatusOr<Connection*> connection = session.Get();
    if (connection.ok()) chores.Look(**connection, clock_.Monotonic());
  }
}

void SchedulerStore::Impl::Follow(ShardKeeper::Verdict verdict, Session& session, Term& term,
                                  ShardKeeper& keeper) {
  switch (verdict) {
    case ShardKeeper::Verdict::kNothing:
      return;
    case ShardKeeper::Verdict::kTake:
      return TakeMore(session, term, keeper);
    case ShardKeeper::Verdict::kGive:
      leaving_ = "shards are given to other nodes";
      return;
    case ShardKeeper::Verdict::kLost:
      return term.End("rows of its shards are gone, or name another owner");
  }
}

SchedulerStore::SchedulerStore(StoreOptions options, StoreListener* listener, Clock& clock,
                               Random& random)
    : impl_(std::make_unique<Impl>(std::move(options), listener, clock, random)) {}
SchedulerStore::~SchedulerStore() { impl_->Stop(); }

void SchedulerStore::Start() { impl_->Start(); }
void SchedulerStore::Submit(uint64_t term, Flush flush) { impl_->Submit(term, std::move(flush)); }
void SchedulerStore::Query(uint64_t term, LedgerQuery query) {
  impl_->Query(term, std::move(query));
}
StoreHealth SchedulerStore::Health() const { return impl_->Health(); }
bool SchedulerStore::TermGoesOn() { return impl_->TermGoesOn(); }
void SchedulerStore::PokeCommands() { impl_->Poke(); }
void SchedulerStore::Stop() { impl_->Stop(); }

}  // namespace tidemark
