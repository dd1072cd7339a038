// What two nodes do to one database, in steps that interleave: against the simulated one and
// against PostgreSQL.
#ifndef TIDEMARK_TESTS_SIM_INTERLEAVINGS_H_
#define TIDEMARK_TESTS_SIM_INTERLEAVINGS_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/store/flush_writer.h"

namespace tidemark::sim {

// kWaits: for another transaction, which is still open.
enum class Step { kDone, kWaits, kRefused };

// One job, "recon" with id 100, in shard 7. Runs are named by their ids, dates by their text.
class InterleavedCluster {
 public:
  virtual ~InterleavedCluster() = default;

  // With a lease of ten seconds. False: another process has the lease of that node.
  virtual bool Register(const Owner& owner, bool replace_live, const std::string& last_own) = 0;
  // Incarnations, in order.
  virtual std::vector<std::string> Predecessors(const Owner& owner) = 0;
  // How many shards it took.
  virtual int Claim(const Owner& owner) = 0;
  // Run ids of the live runs of its shards, in order, in a new snapshot.
  virtual std::vector<std::string> Load(const Owner& owner) = 0;
  virtual bool Renew(const Owner& owner) = 0;
  virtual void Release(const Owner& owner) = 0;

  // A flush that opens a run, up to its COMMIT. One at a time for each name of a session.
  virtual Step Begin(const std::string& session, const Owner& owner, uint64_t seq,
                     const std::string& date, const std::string& run_id) = 0;
  // Of one that waited: how it stands by now.
  virtual Step Look(const std::string& session) = 0;
  // The runs that were opened.
  virtual std::set<std::string> Commit(const std::string& session) = 0;
  virtual void RollBack(const std::string& session) = 0;

  // Fences; look again with Fenced.
  virtual Step Fence(const Owner& owner) = 0;
  virtual Step Fenced() = 0;
  // Asks what the last flush of the owner was, as after a commit in doubt; the answer, once it is
  // there, by Settled.
  virtual Step Settle(const Owner& owner) = 0;
  virtual std::optional<uint64_t> Settled() = 0;

  virtual void Advance(absl::Duration d) = 0;
};

std::unique_ptr<InterleavedCluster> MakeSimulatedCluster();
std::unique_ptr<InterleavedCluster> MakePostgresCluster();

}  // namespace tidemark::sim

#endif  // TIDEMARK_TESTS_SIM_INTERLEAVINGS_H_
