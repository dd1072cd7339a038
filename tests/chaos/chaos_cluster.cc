#include "tests/chaos/chaos_cluster.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/clock.h"
#include "common/status.h"
#include "tests/chaos/chaos_base.h"
#include "tests/chaos/journal.h"

namespace tidemark {
namespace {

// Each run leaves its traces in the journal; no handler of an agent is ever entered otherwise.
constexpr char kAgentFile[] = R"(app: ops
handlers:
  - name: work
    command:
      - /bin/sh
      - -c
      - |
        note() {
          read up rest < /proc/uptime
          set -- "$1" "$TIDEMARK_BATCH_ID" "$TIDEMARK_ATTEMPT" "$CHAOS_ID" $$ "$up"
          echo "$* $TIDEMARK_FENCING_TOKEN" >> "$CHAOS_JOURNAL"
        }
        note enter
        sleep ${TIDEMARK_PARAM_MILLIS:-50}e-3
        note leave
)";

double Seconds() { return absl::ToDoubleSeconds(SystemClock().Monotonic()); }

std::string MakeFolder() {
  char folder[] = "/tmp/tidemark-chaos-XXXXXX";
  if (mkdtemp(folder) == nullptr) ChaosDie("cannot make a folder in /tmp");
  chmod(folder, 0711);  // the user postgres gets through
  return folder;
}

}  // namespace

ChaosCluster::ChaosCluster(const ChaosSettings& settings)
    : settings_(settings), folder_(MakeFolder()) {
  for (int i = 1; i <= settings.schedulers; ++i) {
    schedulers_.push_back("node-" + std::to_string(i));
  }
  const int agents = settings.executors > 2 ? 2 : 0;
  for (int i = 1; i <= settings.executors - agents; ++i) {
    executors_.push_back("e" + std::to_string(i));
  }
  for (int i = 1; i <= agents; ++i) executors_.push_back("a" + std::to_string(i));
  postgres_ = std::make_unique<PostgresPair>(folder_, settings.synchronous);
  for (const std::string& name : schedulers_) {
    links_[name] = std::make_unique<LinkProxy>("127.0.0.1:0");
    for (const int site : {0, 1}) {
      databases_[name].push_back(std::make_unique<SocketProxy>(postgres_->url(site)));
    }
  }
  std::ofstream(Path("agent.yaml")) << kAgentFile;
}

ChaosCluster::~ChaosCluster() {
  for (auto& [name, process] : processes_) process.Kill();
  connection_.reset();
  postgres_.reset();
  std::error_code error;
  if (remove_folder_) std::filesystem::remove_all(folder_, error);
}

void ChaosCluster::StartAll() {
  for (const std::string& name : schedulers_) Start(name);
  for (const std::string& name : executors_) Start(name);
  if (Cli({"cluster", "status"}).code != 0) ChaosDie("no scheduler answers, see " + folder_);
}

ProcessOptions ChaosCluster::SchedulerOptions(const std::string& name) {
  const auto& sites = databases_.at(name);
  const std::string url = "host=" + sites[0]->folder() + "," + sites[1]->folder() +
                          " user=tidemark dbname=chaos target_session_attrs=read-write";
  unlink(Path(name + ".addr").c_str());
  ProcessOptions options;
  options.argv = {settings_.bin + "/tidemark-scheduler",
                  "--database-url",
                  url,
                  "--listen",
                  "127.0.0.1:0",
                  "--address-file",
                  Path(name + ".addr"),
                  "--node-id",
                  name,
                  "--insecure"};
  // The only scheduler of an older build has no other that could name it.
  if (schedulers_.size() > 1) {
    options.argv.insert(options.argv.end(), {"--advertise", links_.at(name)->address()});
  }
  return options;
}

std::string ChaosCluster::Addresses() const {
  std::string all;
  for (const auto& [name, link] : links_) all += (all.empty() ? "" : ",") + link->address();
  return all;
}

ProcessOptions ChaosCluster::ExecutorOptionsOf(const std::string& name) {
  ProcessOptions options;
  if (name[0] == 'e') {
    options.argv = {settings_.bin + "/chaos-executor",
                    "--app",
                    "svc",
                    "--journal",
                    journal(),
                    "--capacity",
                    "16"};
  } else {
    options.argv = {settings_.bin + "/tidemark-executor", "--config", Path("agent.yaml")};
    options.env = {{"CHAOS_ID", name}, {"CHAOS_JOURNAL", journal()}};
  }
  options.argv.insert(options.argv.end(), {"--scheduler", Addresses(), "--executor-id", name,
                                           "--spool-dir", Path("spool-" + name)});
  return options;
}

void ChaosCluster::Start(const std::string& name) {
  const bool scheduler = links_.count(name) != 0;
  ProcessOptions options = scheduler ? SchedulerOptions(name) : ExecutorOptionsOf(name);
  options.output_file = Path(name + ".log");
  absl::StatusOr<Process> process = Process::Start(options);
  ChaosCheck(process.status());
  processes_.insert_or_assign(name, *std::move(process));
  if (!scheduler) return;
  std::string address;
  WaitFor([&] {
    std::ifstream(Path(name + ".addr")) >> address;
    return !address.empty() || !Running(name);
  });
  if (address.empty()) ChaosDie(name + " does not start, see " + Path(name + ".log"));
  addresses_[name] = address;
  links_.at(name)->Retarget(address);
}

void ChaosCluster::Kill(const std::string& name) {
  processes_.at(name).Signal(SIGKILL);
  processes_.at(name).Wait(absl::Seconds(10));
  (void)Ended(name);
}

void ChaosCluster::Terminate(const std::string& name) { processes_.at(name).Signal(SIGTERM); }

void ChaosCluster::Signal(const std::string& name, int number) {
  processes_.at(name).SignalGroup(number);
}

bool ChaosCluster::Running(const std::string& name) {
  const auto process = processes_.find(name);
  return process != processes_.end() && process->second.Running();
}

int ChaosCluster::Ended(const std::string& name) {
  const auto process = processes_.find(name);
  if (process == processes_.end() || process->second.Running()) return -1;
  const int pid = process->second.pid();
  const int code = process->second.Wait(absl::ZeroDuration()).value_or(-1);
  AppendJournal(journal(), {"killed", "-", 0, name, pid, Seconds(), "-"});
  processes_.erase(process);
  return code;
}

void ChaosCluster::SilenceDatabase(const std::string& scheduler, bool silent) {
  for (const auto& site : databases_.at(scheduler)) site->Silence(silent);
}

void ChaosCluster::CutDatabase(const std::string& scheduler) {
  for (const auto& site : databases_.at(scheduler)) site->Cut();
}

void ChaosCluster::FailOver() {
  AppendJournal(journal(), {"failover", "-", 0, "postgres", 0, Seconds(), "-"});
  postgres_->FailOver();
}

ChaosCluster::Answer ChaosCluster::Cli(const std::vector<std::string>& arguments) {
  Answer answer{-1, ""};
  WaitFor(
      [&] {
        for (const auto& [name, address] : addresses_) {
          ProcessOptions options;
          options.argv = {settings_.bin + "/tidemark"};
          options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
          options.env = {{"TIDEMARK_SERVER", address}};
          options.output_file = Path("cli.out");
          unlink(options.output_file.c_str());
          absl::StatusOr<Process> process = Process::Start(options);
          ChaosCheck(process.status());
          answer.code = process->Wait(absl::Seconds(60)).value_or(-1);
          answer.output = ReadFile(options.output_file);
          if (answer.code != 5 && answer.code != -1) return true;
        }
        return false;
      },
      absl::Minutes(1));
  return answer;
}

SqlRows ChaosCluster::Query(const std::string& statement) {
  SqlRows rows;
  absl::Status last;
  const bool answered = WaitFor(
      [&] {
        if (connection_ == nullptr || connection_->broken() ||
            connected_to_ != postgres_->primary()) {
          DatabaseOptions options;
          options.url = postgres_->url();
          auto opened = Connection::Open(options);
          last = opened.status();
          if (!opened.ok()) return false;
          connection_ = *std::move(opened);
          connected_to_ = postgres_->primary();
        }
        const absl::StatusOr<SqlRows> got = connection_->RunOne(statement);
        last = got.status();
        if (got.ok()) rows = *got;
        return got.ok();
      },
      absl::Minutes(1));
  if (!answered) ChaosDie(statement + ": " + Message(last));
  return rows;
}

std::string ChaosCluster::Sql(const std::string& statement) {
  const SqlRows rows = Query(statement);
  return rows.empty() || rows.columns() == 0 ? "" : rows.Text(0, 0);
}

std::vector<std::string> ChaosCluster::Rows(const std::string& statement) {
  const SqlRows rows = Query(statement);
  std::vector<std::string> lines;
  for (int row = 0; row < rows.size(); ++row) {
    std::string& line = lines.emplace_back();
    for (int column = 0; column < rows.columns(); ++column) {
      line += (column == 0 ? "" : "|") + rows.Text(row, column);
    }
  }
  return lines;
}

void ChaosCluster::MoveTime(absl::Duration ahead) {
  (void)Sql(
      "CREATE OR REPLACE FUNCTION tidemark_now() RETURNS timestamptz LANGUAGE sql VOLATILE "
      "PARALLEL SAFE AS $$ SELECT clock_timestamp() + interval '" +
      std::to_string(absl::ToInt64Seconds(ahead)) + " seconds' $$");
}

void ChaosCluster::Apply(const std::string& yaml) {
  const std::string file = Path("jobs.yaml");
  std::ofstream(file) << yaml;
  const Answer answer = Cli({"job", "apply", "-f", file});
  if (answer.code != 0) ChaosDie("job apply: " + answer.output);
}

}  // namespace tidemark
