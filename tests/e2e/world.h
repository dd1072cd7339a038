// A scheduler, executors and databases as real processes, for tests of the whole.
#ifndef TIDEMARK_TESTS_E2E_WORLD_H_
#define TIDEMARK_TESTS_E2E_WORLD_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/store/database.h"
#include "tests/support/process.h"
#include "tests/support/test_database.h"

namespace tidemark {

// Everything lives in a folder of its own and ends with this object. Prints the programs' logs when
// the test has failed by then. Used by one thread.
class World {
 public:
  // "": a fresh database on the run's server; else that URL (of a server that the test may stop).
  explicit World(const std::string& database_url = "");
  ~World();

  // What the next program to start gets.
  struct Settings {
    std::string node_id = "node-1";
    std::map<std::string, std::string> scheduler_env;
    bool insecure = true;  // the scheduler asks nobody who he is
    std::map<std::string, std::string> cli_env;
    std::string agent_yaml;   // added to the agent's file: first to its handler, then to its top
    std::string executor_id;  // of an agent; "": its name
  } settings;

  // ---- programs, by name; starting one that runs is an error
  // The first time on any port, then on the same one. More than one: each by a name of its own.
  // `node`: its id; "": as the settings say.
  void StartScheduler(const std::string& name = "scheduler", const std::string& node = "");
  void StartAgent(const std::string& id, const std::string& script,
                  const std::map<std::string, std::string>& env = {});
  // recon on a database of its own; `program` is tidemark-recon or faulty-recon with its fault.
  void StartRecon(const std::string& id, std::vector<std::string> program, int chunk_delay_ms = 0);
  // Any other program of the build: its name is argv[0]. Output: NAME.out and NAME.err.
  void StartProgram(const std::string& name, std::vector<std::string> argv);
  // See probe_executor.cc; its files are this world's.
  void StartProbe(const std::string& id, int capacity = 4);
  void Kill(const std::string& name);       // SIGKILL
  void Terminate(const std::string& name);  // SIGTERM, and waits for its end
  void Pause(const std::string& name);      // SIGSTOP
  void Continue(const std::string& name);   // SIGCONT
  Process& program(const std::string& name);
  // Before they start: the scheduler reaches its database, and executors the scheduler, by these.
  void UseDatabase(const std::string& url) { scheduler_database_url_ = url; }
  void UseLink(const std::string& address) { link_ = address; }
  // Where a scheduler will listen, before it starts. It tells executors the link instead, if one
  // is in use by then: else they would learn from it how to go round it.
  const std::string& Reserve(const std::string& scheduler = "scheduler");

  // ---- asking
  struct Answer {
    int code = 0;
    std::string output;  // stdout and stderr
  };
  Answer Cli(std::vector<std::string> arguments);
  // … of that scheduler.
  Answer CliOn(const std::string& scheduler, std::vector<std::string> arguments);
  // Any program of the build to its end: its name is argv[0].
  Answer Run(std::vector<std::string> argv, std::map<std::string, std::string> env = {});
  // First column of the first row, "" for none; retried while the database is away.
  std::string Sql(const std::string& statement);
  std::string ReconSql(const std::string& statement);
  std::string StatusOf(const std::string& job, const std::string& date);
  // Waits until all `dates` of the job are DONE.
  bool AllDone(const std::string& job, const std::vector<std::string>& dates,
               absl::Duration timeout = absl::Seconds(60));

  // ---- definitions
  // Applies a job file with this text; waits for the scheduler.
  void Apply(const std::string& yaml);
  // Applies a daily 01:00 Asia/Shanghai job whose last `days` dates are due; returns these.
  std::vector<std::string> ApplyDaily(const std::string& job, const std::string& app,
                                      const std::string& handler, int days,
                                      const std::string& more = "");

  // Lines that the handlers appended, as "enter DATE" and "exit DATE": evidence outside all tables.
  std::vector<std::string> Journal() const;
  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  void Touch(const std::string& name) const;
  void Remove(const std::string& name) const;
  const std::string& address() const { return address("scheduler"); }
  const std::string& address(const std::string& scheduler) const {
    return addresses_.at(scheduler);
  }
  const std::string& database_url() const { return database_url_; }

 private:
  std::string RunSql(const std::string& url, const std::string& statement);
  void Start(const std::string& name, ProcessOptions options);
  // Returns once it has said that it starts (in its log), or has ended.
  void StartExecutor(const std::string& name, ProcessOptions options);
  const std::string& target() const { return link_.empty() ? address() : link_; }

  std::string dir_;
  std::optional<TestDatabase> database_;
  std::optional<TestDatabase> recon_database_;
  std::string database_url_;
  std::string scheduler_database_url_;
  std::map<std::string, std::string> addresses_;  // of schedulers, by name
  std::string link_;
  std::map<std::string, Process> programs_;
};

// The dates that a daily 01:00 Asia/Shanghai job with offset -1 has due now: the last `days`.
std::vector<std::string> DueDates(int days);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_E2E_WORLD_H_
