#include "tests/e2e/world.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/clock.h"
#include "common/time_text.h"

namespace tidemark {
namespace {

const char kAgentHead[] = R"(app: ops
schedulers: [%ADDRESS%]
handlers:
  - name: work
    command: [/bin/sh, -c, ')";

std::string Replace(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// Of loopback, free a moment ago.
int FreePort() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(fd);
  return ntohs(address.sin_port);
}

}  // namespace

std::vector<std::string> DueDates(int days) {
  absl::TimeZone zone;
  absl::LoadTimeZone("Asia/Shanghai", &zone);
  const absl::CivilSecond now = absl::ToCivilSecond(SystemClock().WallNow(), zone);
  const absl::CivilDay last = absl::CivilDay(now) - (now.hour() >= 1 ? 1 : 2);
  std::vector<std::string> dates;
  for (int i = days - 1; i >= 0; --i) dates.push_back(FormatDate(last - i));
  return dates;
}

World::World(const std::string& database_url) {
  char dir[] = "/tmp/tidemark-e2e-XXXXXX";
  EXPECT_NE(mkdtemp(dir), nullptr);
  dir_ = dir;
  database_url_ = database_url;
  if (database_url.empty()) database_url_ = database_.emplace().url();
  scheduler_database_url_ = database_url_;
}

World::~World() {
  const bool failed = testing::Test::HasFailure();
  for (auto& [name, process] : programs_) process.Kill();
  if (failed) {
    for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
      if (entry.path().extension() != ".log") continue;
      std::string text = ReadFile(entry.path().string());
      if (text.size() > 6000) text = "…" + text.substr(text.size() - 6000);
      std::printf("---- %s\n%s\n", entry.path().filename().c_str(), text.c_str());
    }
  }
  std::error_code error;
  std::filesystem::remove_all(dir_, error);
}

void World::Start(const std::string& name, ProcessOptions options) {
  options.output_file = Path(name + ".log");
  absl::StatusOr<Process> process = Process::Start(options);
  ASSERT_TRUE(process.ok()) << process.status();
  programs_.insert_or_assign(name, *std::move(process));
}

void World::StartExecutor(const std::string& name, ProcessOptions options) {
  const auto starts = [this, &name] {
    const std::string log = ReadFile(Path(name + ".log"));
    int count = 0;
    for (size_t at = log.find("executor starts"); at != std::string::npos;
         at = log.find("executor starts", at + 1)) {
      ++count;
    }
    return count;
  };
  const int before = starts();
  Start(name, std::move(options));
  // From there on it knows what to do with a signal.
  EXPECT_TRUE(WaitFor([&] { return starts() > before || !programs_.at(name).Running(); })) << name;
}

const std::string& World::Reserve(const std::string& scheduler) {
  std::string& address = addresses_[scheduler];
  if (address.empty()) address = "127.0.0.1:" + std::to_string(FreePort());
  return address;
}

void World::StartScheduler(const std::string& name, const std::string& node) {
  const std::string file = Path("address");
  unlink(file.c_str());
  std::string& address = addresses_[name];
  ProcessOptions options;
  options.argv = {TIDEMARK_BIN_DIR "/tidemark-scheduler",
                  "--database-url",
                  scheduler_database_url_,
                  "--listen",
                  address.empty() ? "127.0.0.1:0" : address,
                  "--address-file",
                  file,
                  "--node-id",
                  node.empty() ? settings.node_id : node};
  if (settings.insecure) options.argv.push_back("--insecure");
  if (!link_.empty() && link_.find(',') == std::string::npos) {
    options.argv.insert(options.argv.end(), {"--advertise", link_});
  }
  options.env = settings.scheduler_env;
  // What a test wants otherwise it writes there.
  if (std::filesystem::exists(Path("scheduler.yaml"))) {
    options.argv.insert(options.argv.end(), {"--config", Path("scheduler.yaml")});
  }
  Start(name, std::move(options));
  ASSERT_TRUE(
      WaitFor([&] { return std::filesystem::exists(file) || !programs_.at(name).Running(); }));
  std::ifstream(file) >> address;
  ASSERT_FALSE(address.empty()) << ReadFile(Path(name + ".log"));
}

void World::StartAgent(const std::string& id, const std::string& script,
                       const std::map<std::string, std::string>& env) {
  const std::string config = Path(id + ".yaml");
  // Each run leaves its traces in the journal, whatever the script does.
  const std::string wrapped = "echo enter $TIDEMARK_BIZ_DATE >> $JOURNAL; " + script +
                              "; code=$?; echo exit $TIDEMARK_BIZ_DATE >> $JOURNAL; exit $code";
  std::ofstream(config) << Replace(kAgentHead, "%ADDRESS%", target()) << Replace(wrapped, "'", "''")
                        << "']\n"
                        << settings.agent_yaml;
  ProcessOptions options;
  options.argv = {TIDEMARK_BIN_DIR "/tidemark-executor",
                  "--config",
                  config,
                  "--executor-id",
                  settings.executor_id.empty() ? id : settings.executor_id,
                  "--spool-dir",
                  Path("spool-" + id)};
  options.env = env;
  options.env["JOURNAL"] = Path("journal");
  options.env["WORLD"] = dir_;
  StartExecutor(id, std::move(options));
}

void World::StartRecon(const std::string& id, std::vector<std::string> program,
                       int chunk_delay_ms) {
  if (!recon_database_.has_value()) recon_database_.emplace();
  ProcessOptions options;
  options.argv = std::move(program);
  options.argv[0] = std::string(TIDEMARK_BIN_DIR) + "/" + options.argv[0];
  for (const std::string& argument :
       {std::string("--schedulers"), target(), std::string("--executor-id"), id,
        std::string("--bills-dir"), Path("bills"), std::string("--generate-bills"),
        std::string("--spool-dir"), Path("spool-" + id), std::string("--journal"),
        Path("recon-journal"), std::string("--chunk-delay-ms"), std::to_string(chunk_delay_ms)}) {
    options.argv.push_back(argument);
  }
  options.env["RECON_DATABASE_URL"] = recon_database_->url();
  StartExecutor(id, std::move(options));
}

void World::StartProbe(const std::string& id, int capacity) {
  ProcessOptions options;
  options.argv = {TIDEMARK_BIN_DIR "/probe-executor",
                  "--scheduler",
                  target(),
                  "--executor-id",
                  id,
                  "--spool-dir",
                  Path("spool-" + id),
                  "--folder",
                  dir_,
                  "--capacity",
                  std::to_string(capacity)};
  StartExecutor(id, std::move(options));
}

void World::StartProgram(const std::string& name, std::vector<std::string> argv) {
  argv[0] = std::string(TIDEMARK_BIN_DIR) + "/" + argv[0];
  ProcessOptions options;
  options.argv = {"/bin/sh", "-c", "exec \"$@\" >\"$OUT.out\" 2>\"$OUT.err\"", "sh"};
  options.argv.insert(options.argv.end(), argv.begin(), argv.end());
  options.env = {{"OUT", Path(name)}, {"WORLD", dir_}, {"TIDEMARK_SERVER", address()}};
  absl::StatusOr<Process> process = Process::Start(options);
  ASSERT_TRUE(process.ok()) << process.status();
  programs_.insert_or_assign(name, *std::move(process));
}

Process& World::program(const std::string& name) { return programs_.at(name); }

void World::Kill(const std::string& name) { programs_.at(name).Kill(); }

void World::Pause(const std::string& name) { programs_.at(name).SignalGroup(SIGSTOP); }

void World::Continue(const std::string& name) { programs_.at(name).SignalGroup(SIGCONT); }

void World::Terminate(const std::string& name) {
  programs_.at(name).Signal(SIGTERM);
  EXPECT_TRUE(programs_.at(name).Wait(absl::Seconds(30)).has_value()) << name << " does not end";
}

World::Answer World::Cli(std::vector<std::string> arguments) {
  return CliOn("scheduler", std::move(arguments));
}

World::Answer World::CliOn(const std::string& scheduler, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "tidemark");
  std::map<std::string, std::string> env = settings.cli_env;
  env["TIDEMARK_SERVER"] = address(scheduler);
  return Run(std::move(arguments), std::move(env));
}

World::Answer World::Run(std::vector<std::string> argv, std::map<std::string, std::string> env) {
  argv[0] = std::string(TIDEMARK_BIN_DIR) + "/" + argv[0];
  const std::string output = Path("cli.out");
  unlink(output.c_str());
  ProcessOptions options;
  options.argv = std::move(argv);
  options.env = std::move(env);
  options.output_file = output;
  absl::StatusOr<Process> process = Process::Start(options);
  if (!process.ok()) return {-1, process.status().ToString()};
  const std::optional<int> code = process->Wait(absl::Seconds(30));
  return {code.value_or(-1), ReadFile(output)};
}

std::string World::RunSql(const std::string& url, const std::string& statement) {
  std::string value;
  EXPECT_TRUE(WaitFor([&] {
    DatabaseOptions options;
    options.url = url;
    absl::StatusOr<std::unique_ptr<Connection>> connection = Connection::Open(options);
    if (!connection.ok()) return false;
    const absl::StatusOr<SqlRows> rows = (*connection)->RunOne(statement);
    if (!rows.ok()) return false;
    value = rows->empty() ? "" : rows->Text(0, 0);
    return true;
  })) << statement;
  return value;
}

std::string World::Sql(const std::string& statement) { return RunSql(database_url_, statement); }

std::string World::ReconSql(const std::string& statement) {
  return RunSql(recon_database_->url(), statement);
}

std::string World::StatusOf(const std::string& job, const std::string& date) {
  return Sql("SELECT status FROM job_watermark WHERE job_name = '" + job + "' AND biz_date = '" +
             date + "'");
}

bool World::AllDone(const std::string& job, const std::vector<std::string>& dates,
                    absl::Duration timeout) {
  const std::string count = Sql("SELECT 1");  // the database answers
  return !count.empty() &&
         WaitFor(
             [&] {
               return Sql("SELECT count(*) FROM job_watermark WHERE job_name = '" + job +
                          "' AND status = 'DONE' AND biz_date >= '" + dates.front() +
                          "' AND biz_date <= '" + dates.back() + "'") ==
                      std::to_string(dates.size());
             },
             timeout);
}

void World::Apply(const std::string& yaml) {
  const std::string file = Path("jobs.yaml");
  std::ofstream(file) << yaml;
  Answer answer;
  EXPECT_TRUE(WaitFor([&] {
    answer = Cli({"job", "apply", "-f", file});
    return answer.code != 5;
  }));
  EXPECT_EQ(answer.code, 0) << answer.output;
}

std::vector<std::string> World::ApplyDaily(const std::string& job, const std::string& app,
                                           const std::string& handler, int days,
                                           const std::string& more) {
  const std::vector<std::string> dates = DueDates(days);
  Apply("jobs:\n  - name: " + job + "\n    app: " + app + "\n    handler: " + handler +
        "\n    schedule: {cron: \"0 0 1 * * ?\", zone: Asia/Shanghai}" +
        "\n    start_date: " + dates.front() + "\n" + more);
  return dates;
}

std::vector<std::string> World::Journal() const {
  std::vector<std::string> lines;
  std::ifstream agents(Path("journal"));
  for (std::string line; std::getline(agents, line);) lines.push_back(line);
  std::ifstream recon(Path("recon-journal"));
  for (std::string line; std::getline(recon, line);) {
    std::istringstream fields(line);
    std::string instant, mono, executor, event, date;
    fields >> instant >> mono >> executor >> event >> date;
    lines.push_back(event + " " + date);
  }
  return lines;
}

void World::Remove(const std::string& name) const { unlink(Path(name).c_str()); }

void World::Touch(const std::string& name) const { std::ofstream(Path(name)) << "\n"; }

}  // namespace tidemark
