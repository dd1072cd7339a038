#include <map>
#include <utility>

#include "common/time_text.h"
#include "tests/sim/interleavings.h"
#include "tests/sim/sim_database.h"
#include "tests/store/flush_fixture.h"

namespace tidemark::sim {
namespace {

constexpr absl::Duration kLease = absl::Seconds(10);

// Not thread-safe: what waits goes on when the other one ends.
class SimulatedCluster : public InterleavedCluster {
 public:
  SimulatedCluster() {
    JobRow& job = server_.rows.store.jobs[100];
    job.job_id = 100;
    job.name = "recon";
    job.shard = 7;
  }

  bool Register(const Owner& owner, bool replace_live, const std::string& last_own) override {
    return server_.rows.Register(owner, server_.Now(), kLease, replace_live, last_own);
  }
  std::vector<std::string> Predecessors(const Owner& owner) override {
    std::vector<std::string> incarnations;
    for (const Owner& other : server_.rows.Predecessors(owner, server_.Now())) {
      incarnations.push_back(other.incarnation);
    }
    return incarnations;
  }
  int Claim(const Owner& owner) override {
    if (!server_.rows.MayWrite(owner)) return 0;
    bool failed_over = false;
    const auto taken = server_.rows.Claim(owner, server_.Now(), &failed_over);
    owned_[KeyOf(owner)].insert(taken.begin(), taken.end());
    return static_cast<int>(taken.size());
  }
  std::vector<std::string> Load(const Owner& owner) override {
    std::set<std::string> ids;
    for (const ActiveRun& run : server_.rows.Load(owned_[KeyOf(owner)], false).runs) {
      ids.insert(run.run_id);
    }
    return {ids.begin(), ids.end()};
  }
  bool Renew(const Owner& owner) override {
    return server_.rows.Renew(owner, server_.Now(), kLease);
  }
  void Release(const Owner& owner) override { server_.rows.Release(owner); }

  Step Begin(const std::string& session, const Owner& owner, uint64_t seq, const std::string& date,
             const std::string& run_id) override {
    Flush flush;
    flush.seq = seq;
    flush.opens.push_back({MakeRun(100, "recon", date, run_id), ""});
    sessions_[session] = {owner, flush, Step::kWaits};
    server_.AfterTransactions(owner, [this, session] {
      Session& s = sessions_[session];
      s.state = Step::kRefused;
      if (!server_.HoldFence(s.owner)) return;
      if (server_.rows.flushes[KeyOf(s.owner)] + 1 != s.flush.seq) {
        server_.EndTransaction(s.owner);
      } else {
        s.state = Step::kDone;
      }
    });
    return Look(session);
  }
  Step Look(const std::string& session) override { return sessions_.at(session).state; }
  std::set<std::string> Commit(const std::string& session) override {
    const Session s = std::move(sessions_.extract(session).mapped());
    const auto result = server_.rows.Write(s.owner, s.flush, server_.Now());
    server_.EndTransaction(s.owner);
    return result.has_value() ? result->opened : std::set<std::string>();
  }
  void RollBack(const std::string& session) override {
    const Session s = std::move(sessions_.extract(session).mapped());
    server_.EndTransaction(s.owner);
  }

  Step Fence(const Owner& owner) override {
    fenced_ = Step::kWaits;
    server_.Fence(owner, [this] { fenced_ = Step::kDone; });
    return fenced_;
  }
  Step Fenced() override { return fenced_; }
  Step Settle(const Owner& owner) override {
    settled_.reset();
    server_.AfterTransactions(owner,
                              [this, owner] { settled_ = server_.rows.flushes[KeyOf(owner)]; });
    return settled_.has_value() ? Step::kDone : Step::kWaits;
  }
  std::optional<uint64_t> Settled() override { return settled_; }
  void Advance(absl::Duration d) override { server_.offset += d; }

 private:
  struct Session {
    Owner owner;
    Flush flush;
    Step state = Step::kWaits;
  };

  EventQueue queue_;
  SimServer server_{queue_, *ParseInstant("2026-11-28T00:00:00Z")};
  std::map<OwnerKey, std::map<int, Epoch>> owned_;
  std::map<std::string, Session> sessions_;
  Step fenced_ = Step::kRefused;
  std::optional<uint64_t> settled_;
};

}  // namespace

std::unique_ptr<InterleavedCluster> MakeSimulatedCluster() {
  return std::make_unique<SimulatedCluster>();
}

}  // namespace tidemark::sim
