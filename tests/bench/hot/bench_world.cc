#include "tests/bench/hot/bench_world.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/status.h"
#include "tests/bench/hot/bench_probes.h"
#include "tests/bench/hot/bench_sql.h"

namespace tidemark {

BenchWorld::BenchWorld(const BenchOptions& options, const BenchPostgres& postgres,
                       const std::string& database_url)
    : options_(options), postgres_(postgres), url_(database_url) {
  char dir[] = "/tmp/tidemark-bench-XXXXXX";
  if (mkdtemp(dir) == nullptr) BenchDie("cannot make a folder in /tmp");
  dir_ = dir;
}

BenchWorld::~BenchWorld() {
  programs_.clear();
  std::error_code error;
  std::filesystem::remove_all(dir_, error);
}

void BenchWorld::Die(const std::string& message) const {
  std::string log = ReadFile(Path("scheduler-1.log"));
  if (log.size() > 3000) log = "…" + log.substr(log.size() - 3000);
  BenchDie(message + "\n---- scheduler\n" + log);
}

Process& BenchWorld::StartProgram(const std::string& name, std::vector<std::string> argv) {
  ProcessOptions options;
  argv.front() = std::string(TIDEMARK_BIN_DIR) + "/" + argv.front();
  options.argv = std::move(argv);
  options.output_file = Path(name + ".log");
  absl::StatusOr<Process> process = Process::Start(options);
  if (!process.ok()) Die(Message(process.status()));
  return programs_.insert_or_assign(name, *std::move(process)).first->second;
}

void BenchWorld::StartScheduler(const std::string& node) {
  const std::string file = Path("address");
  std::filesystem::remove(file);
  std::string& address = addresses_[node];
  Process& scheduler = StartProgram(
      "scheduler-" + node, {"tidemark-scheduler", "--database-url", url_, "--insecure", "--listen",
                            address.empty() ? "127.0.0.1:0" : address, "--address-file", file,
                            "--node-id", "bench-" + node, "--log-level", options_.log_level});
  const bool listens = WaitFor(
      [&] { return std::filesystem::exists(file) || !scheduler.Running(); }, absl::Seconds(120));
  std::ifstream(file) >> address;
  if (!listens || address.empty()) Die("the scheduler does not start");
}

void BenchWorld::StartSchedulers(int count) {
  for (int i = 1; i <= count; ++i) StartScheduler(std::to_string(i));
  BenchSql sql(url_);
  const std::string n = std::to_string(count);
  const std::string spread =
      "SELECT count(*) AS bench_poll FROM (SELECT node_id, count(*) AS own FROM shard GROUP BY 1) "
      "s "
      "WHERE node_id IS NOT NULL AND own <= ceil((SELECT count(*) FROM shard) / " +
      n +
      ".0) "
      "HAVING sum(own) = (SELECT count(*) FROM shard)";
  if (!WaitFor([&] { return sql.Text(spread) == n; }, absl::Seconds(60))) {
    Die("the shards are not spread over the schedulers");
  }
}

void BenchWorld::StopSchedulers() {
  for (const auto& [node, address] : addresses_) {
    const auto scheduler = programs_.find("scheduler-" + node);
    if (scheduler == programs_.end()) continue;
    scheduler->second.Signal(SIGTERM);
    if (!scheduler->second.Wait(absl::Seconds(60)).has_value()) Die("a scheduler does not stop");
    programs_.erase(scheduler);
  }
}

void BenchWorld::KillScheduler(const std::string& node) { programs_.erase("scheduler-" + node); }

void BenchWorld::StartExecutors(const std::string& app, int count, int capacity,
                                const std::vector<std::string>& more) {
  for (int i = 0; i < count; ++i) {
    const std::string id = app + "-" + std::to_string(i);
    std::vector<std::string> argv = {"bench-executor",
                                     "--app",
                                     app,
                                     "--executor-id",
                                     id,
                                     "--spool-dir",
                                     Path("spool-" + id),
                                     "--records",
                                     Path(id + ".records"),
                                     "--capacity",
                                     std::to_string(capacity)};
    for (const auto& [node, address] : addresses_) {
      argv.insert(argv.end(), {"--scheduler", address});
    }
    argv.insert(argv.end(), more.begin(), more.end());
    StartProgram(id, std::move(argv));
  }
  BenchSql sql(url_);
  const std::string up =
      "SELECT count(*) AS bench_poll FROM executor WHERE state = 'UP' AND app = '" + app + "'";
  if (!WaitFor([&] { return sql.Int(up) >= count; }, absl::Seconds(300))) {
    Die("the executors do not come up: " + ReadFile(Path(app + "-0.log")));
  }
}

std::vector<RunRecord> BenchWorld::StopExecutors(const std::string& app) {
  std::vector<std::string> ids;
  for (auto& [name, process] : programs_) {
    if (name.rfind(app + "-", 0) != 0) continue;
    process.Signal(SIGTERM);
    ids.push_back(name);
  }
  std::vector<RunRecord> records;
  for (const std::string& id : ids) {
    if (programs_.at(id).Wait(absl::Seconds(90)) != 0) {
      Die("executor " + id + " does not leave: " + ReadFile(Path(id + ".log")));
    }
    programs_.erase(id);
    const std::vector<RunRecord> its = ReadRunRecords(Path(id + ".records"));
    records.insert(records.end(), its.begin(), its.end());
  }
  return records;
}

CpuUse BenchWorld::Cpu() const {
  CpuUse use;
  use.postgres = PostgresCpuSeconds(postgres_.pid());
  for (const auto& [name, process] : programs_) {
    (name.rfind("scheduler-", 0) == 0 ? use.scheduler : use.executors) += CpuSeconds(process.pid());
  }
  return use;
}

int64_t BenchWorld::SchedulerBytes() const {
  return ResidentBytes(programs_.at("scheduler-1").pid());
}

}  // namespace tidemark
