// Faults by seed: which, at whom, when, and for how long.
#ifndef TIDEMARK_TESTS_CHAOS_FAULTS_H_
#define TIDEMARK_TESTS_CHAOS_FAULTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/chaos/chaos_cluster.h"

namespace tidemark {

// Seconds, each drawn between two bounds.
struct FaultTimes {
  double gap[2] = {0.5, 3};        // between the beginnings of two faults
  double down[2] = {0.2, 4};       // until what was killed starts again
  double long_down[2] = {11, 14};  // … one time in four: longer than a lease
  double stopped[2] = {11, 14};    // SIGSTOP
  double silent[2] = {3, 14};      // partitions
  double failover_every = 30;      // at least
  double clock_step_every = 40;    // at least
};

enum class FaultKind {
  kKillScheduler,
  kKillExecutor,
  kStopScheduler,
  kStopExecutor,
  kRestartScheduler,  // SIGTERM
  kRestartExecutor,   // SIGTERM
  kFailOver,
  kCutLink,      // executor – scheduler, for a moment
  kRefuseLink,   // … for some time
  kSilentLink,   // … without anybody being told
  kSlowLinks,    // all of one scheduler
  kLoneNode,     // a scheduler without executors, silent
  kCutDatabase,  // scheduler – PostgreSQL, for a moment
  kSilentDatabase,
  kClockStep,  // the database's clock, a day ahead
};
constexpr int kFaultKinds = 15;
const char* Name(FaultKind kind);

struct FaultRecord {
  FaultKind kind;
  std::string target;
  double begin = 0;            // monotonic seconds
  double end = 0;              // 0: not yet
  std::set<std::string> jobs;  // of the shards that the target owned, if it is a scheduler
};

// Used by one thread; the cluster must outlive it.
class Faults {
 public:
  Faults(ChaosCluster& cluster, uint64_t seed, const FaultTimes& times);

  // Begins and ends what is due at `now` (monotonic seconds), and looks for processes that ended
  // by themselves.
  void Step(double now);
  // Ends all of it; everything runs and everybody is heard again when it returns.
  void Heal();

  const std::vector<FaultRecord>& records() const { return records_; }
  // Ends of processes that nobody killed, and bad exit codes.
  const std::vector<std::string>& surprises() const { return surprises_; }

 private:
  struct Active {
    size_t record;
    // Called at each step; true: it is over. `heal`: must be over now.
    std::function<bool(double now, bool heal)> step;
  };

  double Between(const double (&bounds)[2]);
  const std::string& One(const std::vector<std::string>& names);
  bool Chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  FaultKind Choose();
  bool Busy(const std::string& target) const;
  void Begin(double now);
  // Empty: not now.
  std::function<bool(double, bool)> Make(FaultKind kind, const std::string& target, double now);
  std::function<bool(double, bool)> Down(const std::string& target, double now);
  std::function<bool(double, bool)> Leave(const std::string& target, double now);
  std::function<bool(double, bool)> Until(double end, std::function<void()> what) const;
  std::function<bool(double, bool)> OnLink(FaultKind kind, const std::string& target, double now);
  std::function<bool(double, bool)> OnDatabase(FaultKind kind, const std::string& target,
                                               double now);
  void LookForSurprises();

  ChaosCluster& cluster_;
  std::mt19937_64 random_;
  const FaultTimes times_;
  double next_ = 0;
  double next_failover_ = 0;
  double next_clock_step_ = 0;
  int days_ahead_ = 0;
  std::vector<Active> active_;
  std::vector<FaultRecord> records_;
  std::set<std::string> down_;  // processes that do not run because of a fault
  std::vector<std::string> surprises_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_CHAOS_FAULTS_H_
