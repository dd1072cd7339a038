// Schedulers, executors, PostgreSQL and the links between them, in the driver's hand.
#ifndef TIDEMARK_TESTS_CHAOS_CHAOS_CLUSTER_H_
#define TIDEMARK_TESTS_CHAOS_CHAOS_CLUSTER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/store/database.h"
#include "tests/chaos/postgres_pair.h"
#include "tests/support/link_proxy.h"
#include "tests/support/process.h"
#include "tests/support/socket_proxy.h"

namespace tidemark {

struct ChaosSettings {
  std::string bin;  // folder of the programs
  int schedulers = 3;
  int executors = 5;  // the last two are agents with commands, if there are more than two
  bool synchronous = true;
};

// All lives in a folder of its own in /tmp and ends with this object; the folder is left there,
// unless it is told to be removed.
// Executors reach each scheduler through a proxy of its own, each scheduler PostgreSQL through two,
// one for each server. Used by one thread.
class ChaosCluster {
 public:
  explicit ChaosCluster(const ChaosSettings& settings);
  ~ChaosCluster();
  ChaosCluster(const ChaosCluster&) = delete;
  ChaosCluster& operator=(const ChaosCluster&) = delete;

  // Everything up; returns once an operator is answered.
  void StartAll();

  const std::vector<std::string>& schedulers() const { return schedulers_; }  // node-1, …
  const std::vector<std::string>& executors() const { return executors_; }    // e1, …, a1, …
  std::string App(const std::string& executor) const { return executor[0] == 'e' ? "svc" : "ops"; }

  // ---- processes, by name
  void Start(const std::string& name);
  void Kill(const std::string& name);       // SIGKILL to the process alone; noted in the journal
  void Terminate(const std::string& name);  // SIGTERM; see Ended
  void Signal(const std::string& name, int number);
  bool Running(const std::string& name);
  // How it ended: code, or 128 + signal; -1 while it runs. Noted in the journal.
  int Ended(const std::string& name);

  // ---- what lies between them
  LinkProxy& link(const std::string& scheduler) { return *links_.at(scheduler); }
  void SilenceDatabase(const std::string& scheduler, bool silent);
  void CutDatabase(const std::string& scheduler);
  PostgresPair& postgres() { return *postgres_; }
  void FailOver();  // noted in the journal

  // ---- asking
  struct Answer {
    int code = 0;  // -1: no scheduler answered
    std::string output;
  };
  // At any scheduler that answers; tries for a minute.
  Answer Cli(const std::vector<std::string>& arguments);
  // First column of the first row of the primary, "" for none; retried while it is away.
  std::string Sql(const std::string& statement);
  // Rows, columns joined by "|".
  std::vector<std::string> Rows(const std::string& statement);
  void MoveTime(absl::Duration ahead);  // of the database's clock, in all
  void Apply(const std::string& yaml);

  void RemoveFolder() { remove_folder_ = true; }

  std::string journal() const { return Path("journal"); }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  ProcessOptions SchedulerOptions(const std::string& name);
  ProcessOptions ExecutorOptionsOf(const std::string& name);
  std::string Addresses() const;
  SqlRows Query(const std::string& statement);

  const ChaosSettings settings_;
  std::string folder_;
  std::vector<std::string> schedulers_;
  std::vector<std::string> executors_;
  std::unique_ptr<PostgresPair> postgres_;
  std::map<std::string, std::unique_ptr<LinkProxy>> links_;                     // by scheduler
  std::map<std::string, std::vector<std::unique_ptr<SocketProxy>>> databases_;  // by scheduler
  std::map<std::string, std::string> addresses_;                                // of schedulers
  std::map<std::string, Process> processes_;
  std::unique_ptr<Connection> connection_;
  int connected_to_ = -1;
  bool remove_folder_ = false;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_CHAOS_CHAOS_CLUSTER_H_
