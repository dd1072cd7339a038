#include <atomic>
#include <future>
#include <map>
#include <thread>
#include <utility>

#include "common/status.h"
#include "scheduler/store/lease.h"
#include "scheduler/store/snapshot.h"
#include "scheduler/store/statements.h"
#include "tests/sim/interleavings.h"
#include "tests/store/flush_fixture.h"
#include "tests/support/process.h"

namespace tidemark::sim {
namespace {

// What one session does in a thread of its own, while others look whether it waits for a lock.
class Background {
 public:
  // `work` calls `reached` when it has got what it may have to wait for.
  using Work = std::function<void(Connection&, const std::function<void()>& reached)>;

  Background(MigratedDatabase& database, Work work)
      : database_(database), connection_(database.Connect()) {
    pid_ = connection_->RunOne("SELECT pg_backend_pid()")->Text(0, 0);
    thread_ = std::thread([this, work = std::move(work)] {
      work(*connection_, [this] { reached_ = true; });
      reached_ = true;
    });
  }
  ~Background() { Join(); }

  // Waits until it is there, or stands before a lock.
  bool Reached() {
    WaitFor([this] { return reached_ || BeforeLock(); });
    return reached_;
  }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  bool BeforeLock() {
    // Not its wait_event, which still says so for a moment after it got the lock.
    return database_.Sql("SELECT cardinality(pg_blocking_pids(" + pid_ + ")) > 0") == "t";
  }

  MigratedDatabase& database_;
  std::unique_ptr<Connection> connection_;
  std::string pid_;
  std::atomic<bool> reached_ = false;
  std::thread thread_;
};

// The product's statements. Used by one thread; the sessions that may have to wait have their own.
class PostgresCluster : public InterleavedCluster {
 public:
  PostgresCluster() {
    Advance(absl::ZeroDuration());
    InsertJob(database_, 100, "recon");
  }

  bool Register(const Owner& owner, bool replace_live, const std::string& last_own) override {
    return RegisterNode(*connection_, {owner, "addr", "v", absl::Seconds(10)}, replace_live,
                        last_own)
        .ok();
  }
  std::vector<std::string> Predecessors(const Owner& owner) override {
    std::vector<std::string> incarnations;
    const auto others = tidemark::Predecessors(*connection_, owner);
    if (!others.ok()) return incarnations;
    for (const Owner& other : *others) incarnations.push_back(other.incarnation);
    return incarnations;
  }
  int Claim(const Owner& owner) override {
    const auto taken = ClaimShards(*connection_, owner);
    if (!taken.ok()) return 0;
    for (const auto& [shard, number] : *taken) owned_[owner.incarnation][shard] = {1, number};
    return static_cast<int>(taken->size());
  }
  std::vector<std::string> Load(const Owner& owner) override {
    std::set<std::string> ids;
    const auto snapshot = LoadSnapshot(*connection_, owned_[owner.incarnation]);
    if (!snapshot.ok()) return {};
    for (const ActiveRun& run : snapshot->runs) ids.insert(run.run_id);
    return {ids.begin(), ids.end()};
  }
  bool Renew(const Owner& owner) override {
    return RenewLease(*connection_, owner, absl::Seconds(10))->has_value();
  }
  void Release(const Owner& owner) override { ReleaseNode(*connection_, owner).IgnoreError(); }

  Step Begin(const std::string& session, const Owner& owner, uint64_t seq, const std::string& date,
             const std::string& run_id) override {
    Flush flush;
    flush.seq = seq;
    flush.opens.push_back({MakeRun(100, "recon", date, run_id), ""});
    auto open = std::make_unique<OpenFlush>();
    open->work = std::make_unique<Background>(
        database_, [flush, owner, to = open.get()](Connection& connection, const auto& reached) {
          to->Write(connection, owner, flush, reached);
        });
    sessions_[session] = std::move(open);
    return Look(session);
  }
  Step Look(const std::string& session) override {
    OpenFlush& open = *sessions_.at(session);
    if (!open.work->Reached()) return Step::kWaits;
    return open.refused ? Step::kRefused : Step::kDone;
  }
  std::set<std::string> Commit(const std::string& session) override { return End(session, true); }
  void RollBack(const std::string& session) override { End(session, false); }

  Step Fence(const Owner& owner) override {
    fence_ = std::make_unique<Background>(database_, [owner](Connection& connection, const auto&) {
      tidemark::Fence(connection, owner).IgnoreError();
    });
    return fence_->Reached() ? Step::kDone : Step::kWaits;
  }
  Step Fenced() override { return fence_->Reached() ? Step::kDone : Step::kWaits; }
  Step Settle(const Owner& owner) override {
    settle_ =
        std::make_unique<Background>(database_, [this, owner](Connection& connection, const auto&) {
          const auto rows =
              connection.RunOne(sql::kSettleFlush, {owner.node_id, owner.incarnation});
          if (rows.ok() && !rows->empty()) settled_ = rows->Int(0, 0);
        });
    return settle_->Reached() ? Step::kDone : Step::kWaits;
  }
  std::optional<uint64_t> Settled() override {
    if (!settle_->Reached()) return std::nullopt;
    return static_cast<uint64_t>(settled_.load());
  }
  void Advance(absl::Duration d) override {
    offset_ += d;
    database_.Sql(
        "CREATE OR REPLACE FUNCTION tidemark_now() RETURNS timestamptz LANGUAGE sql"
        " VOLATILE PARALLEL SAFE AS $$ SELECT timestamptz '2026-11-28 00:00:00Z' + interval '" +
        std::to_string(absl::ToInt64Milliseconds(offset_)) + " milliseconds' $$");
  }

 private:
  struct OpenFlush {
    std::atomic<bool> refused = false;
    std::promise<bool> verdict;  // commit?
    FlushResult result;
    absl::Status committed;
    std::unique_ptr<Background> work;  // last: it uses the others

    void Write(Connection& connection, const Owner& owner, const Flush& flush,
               const std::function<void()>& reached) {
      SeededRandom random(1);
      committed = connection.Transact([&](SqlTransaction& transaction) -> absl::Status {
        const absl::Status written =
            WriteFlush(transaction, owner, flush, {}, random, SystemClock(), &result);
        refused = !written.ok();
        reached();
        if (!written.ok()) return written;
        return verdict.get_future().get() ? absl::OkStatus() : absl::AbortedError("rolled back");
      });
    }
  };

  std::set<std::string> End(const std::string& session, bool commit) {
    const std::unique_ptr<OpenFlush> open = std::move(sessions_.extract(session).mapped());
    open->verdict.set_value(commit);
    open->work->Join();
    return open->committed.ok() ? open->result.opened : std::set<std::string>();
  }

  MigratedDatabase database_;
  std::unique_ptr<Connection> connection_ = database_.Connect();
  absl::Duration offset_;
  std::map<std::string, std::map<int, Epoch>> owned_;  // by incarnation
  std::map<std::string, std::unique_ptr<OpenFlush>> sessions_;
  std::atomic<int64_t> settled_ = -1;
  std::unique_ptr<Background> fence_;
  std::unique_ptr<Background> settle_;
};

}  // namespace

std::unique_ptr<InterleavedCluster> MakePostgresCluster() {
  return std::make_unique<PostgresCluster>();
}

}  // namespace tidemark::sim
