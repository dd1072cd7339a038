#include "scheduler/dev/dev_postgres.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "common/id.h"
#include "common/log.h"
#include "common/status.h"
#include "common/text.h"
#include "scheduler/dev/run_as.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kStartTimeout = absl::Seconds(60);
constexpr absl::Duration kStopTimeout = absl::Seconds(60);

absl::Status Problem(const std::string& text) {
  return absl::FailedPreconditionError(ToAbsl(text));
}

std::string DefaultDir() {
  if (geteuid() == 0) return "/var/lib/tidemark";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : "/tmp") + "/.local/share/tidemark";
}

// The directory with initdb and postgres of the newest version installed.
absl::StatusOr<std::string> FindBinaries() {
  std::vector<std::pair<int, std::string>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", error)) {
    const fs::path bin = entry.path() / "bin";
    if (fs::exists(bin / "initdb") && fs::exists(bin / "postgres")) {
      found.emplace_back(std::atoi(entry.path().filename().c_str()), bin.string());
    }
  }
  if (found.empty()) {
    return Problem(
        "no PostgreSQL server is installed (looked in /usr/lib/postgresql): apt-get install "
        "postgresql-15, or use your own with --database-url");
  }
  return std::max_element(found.begin(), found.end())->second;
}

void Pause(absl::Duration d) { poll(nullptr, 0, static_cast<int>(absl::ToInt64Milliseconds(d))); }

// Gives up with the name of the first folder on the way to `dir` that `user` may not enter.
absl::Status CheckReachable(const std::string& dir, const UserIds& user) {
  if (geteuid() != 0) return absl::OkStatus();
  for (fs::path path = fs::path(dir).parent_path(); path != path.root_path();
       path = path.parent_path()) {
    struct stat info{};
    if (stat(path.c_str(), &info) != 0) continue;
    const bool enters = (info.st_uid == user.uid && (info.st_mode & S_IXUSR) != 0) ||
                        (info.st_gid == user.gid && (info.st_mode & S_IXGRP) != 0) ||
                        (info.st_mode & S_IXOTH) != 0;
    if (!enters) {
      return Problem("the data directory " + dir + " cannot be used: PostgreSQL runs as user " +
                     user.name + ", who may not enter " + path.string() +
                     ". Choose another --data-dir (as /var/lib/tidemark), or chmod o+x " +
                     path.string());
    }
  }
  return absl::OkStatus();
}

absl::Status MakeFolder(const std::string& path, const UserIds& user, mode_t mode) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return Problem("the data directory cannot be made: " + path + ": " + error.message() +
                   ". Choose another --data-dir");
  }
  if (geteuid() == 0 && chown(path.c_str(), user.uid, user.gid) != 0) {
    return Problem("cannot give " + path + " to user " + user.name + ": " + std::strerror(errno));
  }
  if (chmod(path.c_str(), mode) != 0 || access(path.c_str(), W_OK) != 0) {
    return Problem("the data directory " + path + " is not ours to write: " + std::strerror(errno) +
                   ". Choose another --data-dir");
  }
  return absl::OkStatus();
}

absl::Status WriteSecret(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".new";
  const mode_t before = umask(0077);
  std::ofstream out(temporary, std::ios::trunc);
  out << text << "\n";
  out.close();
  umask(before);
  std::error_code error;
  if (out) fs::rename(temporary, path, error);
  if (!out || error) return Problem("cannot write " + path);
  return absl::OkStatus();
}

std::string ReadLine(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// The running postmaster of that data folder, or 0.
pid_t RunningServer(const std::string& data) {
  const pid_t pid = std::atoi(ReadLine(data + "/postmaster.pid").c_str());
  if (pid <= 1 || kill(pid, 0) != 0) return 0;
  std::error_code error;
  const std::string exe = fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).string();
  return exe.find("postgres") == std::string::npos ? 0 : pid;
}

// Line 8 of postmaster.pid says "ready" once connections are taken.
bool IsReady(const std::string& data) {
  std::ifstream in(data + "/postmaster.pid");
  std::string line;
  for (int i = 0; i < 8 && std::getline(in, line); ++i) {
  }
  return line.rfind("ready", 0) == 0;
}

// Where the socket goes: a path of the data directory may be too long for one (107 bytes).
std::string SocketDir(const std::string& dir) {
  const std::string inside = dir + "/run";
  if (inside.size() <= 80) return inside;
  const size_t hash = std::hash<std::string>()(dir);
  return "/tmp/tidemark-" + std::to_string(geteuid()) + "-" + std::to_string(hash % 1000000007);
}

absl::Status InitData(const std::string& bin, const std::string& dir, const std::string& data,
                      const UserIds& user, const std::string& password) {
  LogInfo("making a private PostgreSQL", {{"dir", data}});
  const std::string password_file = data + ".password";
  TM_RETURN_IF_ERROR(WriteSecret(password_file, password));
  if (geteuid() == 0 && chown(password_file.c_str(), user.uid, user.gid) != 0) {
    return Problem("cannot give " + password_file + " to user " + user.name);
  }
  const absl::Status made =
      RunToEnd(user,
               {bin + "/initdb", "-D", data, "-U", "tidemark", "-A", "scram-sha-256", "-E", "UTF8",
                "--locale=C.UTF-8", "--pwfile=" + password_file},
               dir + "/initdb.log");
  unlink(password_file.c_str());
  return Annotate(made, "the private PostgreSQL could not be made in " + data);
}

std::string UrlOf(const std::string& sockets, const std::string& password) {
  std::string host;
  for (const char c : sockets) host += c == '/' ? std::string("%2F") : std::string(1, c);
  return "postgresql://tidemark:" + password + "@/postgres?host=" + host;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DevPostgres>> DevPostgres::Start(const std::string& data_dir,
                                                                Clock& clock) {
  TM_ASSIGN_OR_RETURN(const std::string bin, FindBinaries());
  TM_ASSIGN_OR_RETURN(const UserIds user, UnprivilegedUser());
  std::unique_ptr<DevPostgres> server(new DevPostgres(clock));
  std::error_code error;
  server->dir_ = fs::absolute(data_dir.empty() ? DefaultDir() : data_dir, error).string();
  const std::string& dir = server->dir_;
  const std::string data = dir + "/postgres";
  const std::string sockets = SocketDir(dir);
  TM_RETURN_IF_ERROR(CheckReachable(dir, user));
  TM_RETURN_IF_ERROR(MakeFolder(dir, user, 0755));
  TM_RETURN_IF_ERROR(MakeFolder(sockets, user, 0700));
  std::string password = ReadLine(dir + "/password");
  if (!fs::exists(data + "/PG_VERSION")) {
    password = RandomHex(24, SystemRandom());
    TM_RETURN_IF_ERROR(WriteSecret(dir + "/password", password));
    TM_RETURN_IF_ERROR(InitData(bin, dir, data, user, password));
  }
  if (password.empty()) {
    return Problem(dir + "/password is missing, so the database in " + data +
                   " cannot be opened. Remove " + dir +
                   " to start anew, or choose another "
                   "--data-dir");
  }
  server->pid_ = RunningServer(data);
  if (server->pid_ == 0) {
    TM_ASSIGN_OR_RETURN(server->pid_, Spawn(user,
                                            {bin + "/postgres", "-D", data, "-k", sockets, "-c",
                                             "listen_addresses=", "-c", "log_min_messages=warning",
                                             "-c", "max_connections=60"},
                                            dir + "/postgres.log"));
    server->child_ = true;
  }
  for (const absl::Duration end = clock.Monotonic() + kStartTimeout; !IsReady(data);) {
    const bool died = server->child_ && waitpid(server->pid_, nullptr, WNOHANG) == server->pid_;
    if (died || clock.Monotonic() > end) {
      if (died) server->pid_ = 0;
      return Problem("the private PostgreSQL did not start: see " + dir + "/postgres.log");
    }
    Pause(absl::Milliseconds(20));
  }
  server->url_ = UrlOf(sockets, password);
  TM_RETURN_IF_ERROR(WriteSecret(dir + "/database.url", server->url_));
  return server;
}

DevPostgres::~DevPostgres() { Stop(); }

void DevPostgres::Stop() {
  if (pid_ == 0) return;
  kill(pid_, SIGINT);  // fast shutdown: sessions are ended, everything committed is kept
  for (const absl::Duration end = clock_.Monotonic() + kStopTimeout; clock_.Monotonic() < end;) {
    const bool gone = child_ ? waitpid(pid_, nullptr, WNOHANG) == pid_ : kill(pid_, 0) != 0;
    if (gone) break;
    Pause(absl::Milliseconds(20));
  }
  pid_ = 0;
}

}  // namespace tidemark
