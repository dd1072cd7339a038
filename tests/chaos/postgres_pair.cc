#include "tests/chaos/postgres_pair.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

#include "common/status.h"
#include "scheduler/store/database.h"
#include "tests/chaos/chaos_base.h"

namespace tidemark {
namespace {

std::string FindBin() {
  std::string found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", error)) {
    const std::string bin = entry.path().string() + "/bin";
    if (std::filesystem::exists(bin + "/pg_basebackup")) found = std::max(found, bin);
  }
  if (found.empty()) ChaosDie("no PostgreSQL is installed; run deploy/setup.sh");
  return found;
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    const std::string stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
    const size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) continue;
    std::istringstream fields(stat.substr(name_end + 1));
    std::string state;
    pid_t ppid = 0;
    fields >> state >> ppid;
    if (ppid == parent) children.push_back(pid);
  }
  return children;
}

void MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0755) != 0) ChaosDie("cannot make " + path);
  if (geteuid() != 0) return;
  (void)RunCommand({"/bin/chown", "postgres:", path});
}

}  // namespace

PostgresPair::PostgresPair(const std::string& folder, bool synchronous)
    : synchronous_(synchronous), bin_(FindBin()) {
  for (int site : {0, 1}) {
    sites_[site].folder = folder + "/pg" + std::to_string(site);
    MakeFolder(sites_[site].folder);
  }
  Run({bin_ + "/initdb", "-D", sites_[0].folder + "/data", "-U", "tidemark", "-A", "trust", "-E",
       "UTF8", "--locale=C", "--no-sync"});
  Start(0);
  if (Ask(0, "CREATE DATABASE chaos") != "" || Ask(0, "SELECT 1") != "1") {
    ChaosDie("the new PostgreSQL server does not answer");
  }
  Rebuild();
}

PostgresPair::~PostgresPair() {
  for (Site& site : sites_) {
    if (!site.server.has_value()) continue;
    site.server->Signal(SIGQUIT);
    site.server->Wait(absl::Seconds(10));
  }
}

std::string PostgresPair::url(int site) const {
  return "host=" + sites_[site].folder + " user=tidemark dbname=chaos";
}

std::vector<std::string> PostgresPair::AsUser(std::vector<std::string> argv) const {
  if (geteuid() == 0) {
    // A change of user forgets whose death is to be followed.
    const std::vector<std::string> prefix = {"/usr/bin/setpriv", "--reuid=postgres",
                                             "--regid=postgres", "--init-groups",
                                             "--pdeathsig=QUIT"};
    argv.insert(argv.begin(), prefix.begin(), prefix.end());
  }
  return argv;
}

void PostgresPair::Run(std::vector<std::string> argv) {
  const auto done = RunCommand(AsUser(std::move(argv)));
  if (!done.ok()) ChaosDie(Message(done.status()));
}

std::string PostgresPair::Ask(int site, const std::string& statement) const {
  // Not through Connection: CREATE DATABASE and ALTER SYSTEM run in no transaction.
  const auto answer = RunCommand(
      {bin_ + "/psql", "-X", "-q", "-A", "-t", "-h", sites_[site].folder, "-U", "tidemark", "-d",
       statement.rfind("CREATE DATABASE", 0) == 0 ? "postgres" : "chaos", "-c", statement});
  if (!answer.ok()) return "";
  std::string text = *answer;
  text.erase(std::min(text.size(), text.find_last_not_of('\n') + 1));
  return text;
}

void PostgresPair::Start(int site) {
  const std::string& folder = sites_[site].folder;
  ProcessOptions options;
  options.argv = AsUser({bin_ + "/postgres", "-D", folder + "/data", "-k", folder});
  for (const char* setting :
       {"listen_addresses=", "fsync=off", "max_connections=300", "wal_level=replica",
        "wal_keep_size=512MB", "max_wal_senders=8", "hot_standby=on", "max_wal_size=2GB",
        "TimeZone=Pacific/Chatham", "wal_receiver_status_interval=1"}) {
    options.argv.insert(options.argv.end(), {"-c", setting});
  }
  options.directory = "/";
  options.output_file = folder + ".log";
  auto started = Process::Start(options);
  ChaosCheck(started.status());
  sites_[site].server = *std::move(started);
  const std::string question = "SELECT 1";
  if (!WaitFor([&] {
        if (!sites_[site].server->Running()) ChaosDie("PostgreSQL ended, see " + folder + ".log");
        return std::filesystem::exists(folder + "/.s.PGSQL.5432") &&
               (Ask(site, question) == "1" ||
                RunCommand({bin_ + "/pg_isready", "-q", "-h", folder}).ok());
      })) {
    ChaosDie("PostgreSQL does not start, see " + folder + ".log");
  }
}

void PostgresPair::KillServer(int site) {
  const pid_t postmaster = sites_[site].server->pid();
  const std::vector<pid_t> children = ChildrenOf(postmaster);
  sites_[site].server->Signal(SIGKILL);
  for (const pid_t child : children) kill(child, SIGKILL);
  sites_[site].server->Wait(absl::Seconds(10));
  sites_[site].server.reset();
  // No backend of it may commit anything after the promotion.
  const bool gone = WaitFor([&] {
    return std::none_of(children.begin(), children.end(), [](pid_t pid) {
      return std::filesystem::exists("/proc/" + std::to_string(pid) + "/exe") &&
             ReadFile("/proc/" + std::to_string(pid) + "/comm").find("postgres") !=
                 std::string::npos &&
             ReadFile("/proc/" + std::to_string(pid) + "/stat").find(") Z") == std::string::npos;
    });
  });
  if (!gone) ChaosDie("backends of the killed primary live on");
}

void PostgresPair::FailOver() {
  const int standby = 1 - primary_;
  KillServer(primary_);
  if (Ask(standby, "SELECT pg_promote(true, 60)") != "t") ChaosDie("the standby is not promoted");
  primary_ = standby;
}

void PostgresPair::Rebuild() {
  const int site = 1 - primary_;
  const std::string& folder = sites_[site].folder;
  std::error_code error;
  std::filesystem::remove_all(folder + "/data", error);
  std::filesystem::remove(folder + "/.s.PGSQL.5432", error);
  std::filesystem::remove(folder + "/.s.PGSQL.5432.lock", error);
  Run({bin_ + "/pg_basebackup", "-D", folder + "/data", "-h", sites_[primary_].folder, "-U",
       "tidemark", "-X", "stream", "-R", "-c", "fast", "--no-sync"});
  Start(site);
  if (!WaitFor([&] {
        return Ask(primary_, "SELECT state FROM pg_stat_replication WHERE state = 'streaming'") ==
               "streaming";
      })) {
    ChaosDie("the standby does not stream, see " + folder + ".log");
  }
  if (!synchronous_) return;
  // After the copy: the standby, once promoted, waits for nobody.
  (void)Ask(primary_, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  (void)Ask(primary_, "SELECT pg_reload_conf()");
  if (!WaitFor(
          [&] { return Ask(primary_, "SELECT sync_state FROM pg_stat_replication") == "sync"; })) {
    ChaosDie("the standby does not become synchronous");
  }
}

}  // namespace tidemark
