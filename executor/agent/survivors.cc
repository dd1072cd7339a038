#include "executor/agent/survivors.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "common/status.h"

namespace tidemark::agent {
namespace {

struct ProcessStat {
  char state = '?';
  pid_t group = 0;
  std::string start_time;
};

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// /proc/<pid>/stat: "pid (name, which may hold anything) state ppid pgrp … starttime".
bool ReadStat(pid_t pid, ProcessStat* out) {
  const std::string text = ReadAll("/proc/" + std::to_string(pid) + "/stat");
  const size_t close = text.rfind(')');
  if (close == std::string::npos) return false;
  std::istringstream rest(text.substr(close + 1));
  std::string field;
  for (int number = 3; rest >> field; ++number) {
    if (number == 3) out->state = field[0];
    if (number == 5) out->group = static_cast<pid_t>(std::stol(field));
    if (number == 22) out->start_time = field;
  }
  return !out->start_time.empty();
}

std::string BootId() {
  std::string id = ReadAll("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id.empty() ? "unknown" : id;
}

bool HasRun(pid_t pid, const std::string& run_id) {
  const std::string environment = ReadAll("/proc/" + std::to_string(pid) + "/environ");
  const std::string wanted = std::string("TIDEMARK_RUN_ID=") + run_id;
  for (size_t at = 0; at < environment.size();) {
    const size_t end = std::min(environment.find('\0', at), environment.size());
    if (environment.compare(at, end - at, wanted) == 0) return true;
    at = end + 1;
  }
  return false;
}

std::vector<pid_t> AllProcesses() {
  std::vector<pid_t> pids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos) pids.push_back(std::stoi(name));
  }
  return pids;
}

struct Recorded {
  std::string file;
  pid_t group = 0;
  std::string start_time, boot, run_id;
};

std::vector<Recorded> ReadRecords(const std::string& dir) {
  std::vector<Recorded> records;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(dir, error)) {
    if (entry.path().extension() != ".command") continue;
    Recorded record;
    record.file = entry.path();
    std::istringstream text(ReadAll(record.file));
    text >> record.group >> record.start_time >> record.boot >> record.run_id;
    records.push_back(std::move(record));
  }
  return records;
}

// A recorded group's number may belong to somebody else by now: a process counts only when it is
// the leader that was recorded, or carries the run in its environment.
std::vector<pid_t> Alive(const std::vector<Recorded>& records, const std::string& boot) {
  std::vector<pid_t> alive;
  for (const pid_t pid : AllProcesses()) {
    ProcessStat stat;
    if (!ReadStat(pid, &stat) || stat.state == 'Z' || pid == getpid()) continue;
    for (const Recorded& record : records) {
      if (record.group <= 1 || record.boot != boot || stat.group != record.group) continue;
      const bool leader = pid == record.group && stat.start_time == record.start_time;
      if (!leader && (record.run_id.empty() || !HasRun(pid, record.run_id))) continue;
      alive.push_back(pid);
      break;
    }
  }
  return alive;
}

}  // namespace

std::string StartTimeOf(pid_t pid) {
  ProcessStat stat;
  return ReadStat(pid, &stat) ? stat.start_time : "";
}

bool GroupLives(pid_t group) {
  if (kill(-group, 0) != 0) return false;
  for (const pid_t pid : AllProcesses()) {
    ProcessStat stat;
    if (ReadStat(pid, &stat) && stat.group == group && stat.state != 'Z') return true;
  }
  return false;
}

absl::StatusOr<std::unique_ptr<CommandRecords>> CommandRecords::Open(const std::string& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return absl::UnavailableError("folder " + dir + ": " + error.message());
  chmod(dir.c_str(), 0700);
  const int fd = open((dir + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return absl::UnavailableError("folder " + dir + ": " + std::strerror(errno));
  }
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    close(fd);
    return absl::FailedPreconditionError(
        dir + " is in use by another agent: stop it, or give this one a spool_dir of its own");
  }
  return std::unique_ptr<CommandRecords>(new CommandRecords(dir, fd));
}

CommandRecords::~CommandRecords() { close(lock_fd_); }

absl::Status CommandRecords::Add(pid_t group, const std::string& run_id) {
  const std::string path = dir_ + "/" + std::to_string(group) + ".command";
  std::ofstream file(path, std::ios::trunc);
  file << group << ' ' << StartTimeOf(group) << ' ' << BootId() << ' ' << run_id << '\n';
  file.close();
  if (file) return absl::OkStatus();
  return absl::UnavailableError("cannot write " + path + ": " + std::strerror(errno));
}

void CommandRecords::Remove(pid_t group) {
  unlink((dir_ + "/" + std::to_string(group) + ".command").c_str());
}

absl::StatusOr<int> CommandRecords::KillSurvivors(const Clock& clock, absl::Duration timeout) {
  const std::vector<Recorded> records = ReadRecords(dir_);
  if (records.empty()) return 0;
  const std::string boot = BootId();
  const absl::Duration until = clock.Monotonic() + timeout;
  std::set<pid_t> killed;
  for (std::vector<pid_t> alive = Alive(records, boot); !alive.empty();
       alive = Alive(records, boot)) {
    for (const pid_t pid : alive) {
      kill(pid, SIGKILL);
      killed.insert(pid);
    }
    if (clock.Monotonic() > until) {
      return absl::DeadlineExceededError(
          "process " + std::to_string(alive.front()) +
          " of an earlier agent does not die; end it before this agent may start");
    }
    poll(nullptr, 0, 10);  // a kill takes effect in its own time
  }
  for (const Recorded& record : records) unlink(record.file.c_str());
  return static_cast<int>(killed.size());
}

}  // namespace tidemark::agent
