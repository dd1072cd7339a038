#include "executor/src/options_check.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/time/time.h"
#include "common/status.h"
#include "common/text.h"
#include "executor/src/spool_files.h"

namespace tidemark::exec {
namespace {

constexpr size_t kMaxSpoolBytes = 8u << 20;

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

std::string AddressProblem(const std::string& address) {
  const size_t colon = address.rfind(':');
  const std::string port = colon == std::string::npos ? "" : address.substr(colon + 1);
  const bool digits = !port.empty() && port.size() <= 5 &&
                      port.find_first_not_of("0123456789") == std::string::npos;
  if (colon != 0 && digits && std::stoi(port) >= 1 && std::stoi(port) <= 65535) return "";
  return "scheduler address \"" + EscapeControl(address) + "\" is not \"host:port\"";
}

void CheckName(const char* what, const std::string& value, std::vector<std::string>* problems) {
  const std::string problem = NameProblem(value);
  if (!problem.empty()) problems->push_back(std::string(what) + " " + problem);
}

std::string Printable(const std::string& name) {
  std::string out = name;
  std::replace_if(out.begin(), out.end(), [](char c) { return c == '/' || c == '\0'; }, '_');
  return out;
}

}  // namespace

std::vector<std::string> OptionProblems(const ExecutorOptions& options) {
  std::vector<std::string> problems;
  if (options.schedulers.empty()) {
    problems.push_back("no scheduler address is given (\"host:port\")");
  }
  for (const std::string& address : options.schedulers) {
    const std::string problem = AddressProblem(address);
    if (!problem.empty()) problems.push_back(problem);
  }
  for (const std::string& address : options.schedulers) {
    if (!AddressProblem(address).empty()) continue;
    const auto secured = SecureFor(address, SecurityOf(options));
    if (!secured.ok()) problems.push_back(Message(secured.status()));
  }
  CheckName("app", options.app, &problems);
  CheckName("namespace", options.name_space, &problems);
  if (!options.executor_id.empty()) CheckName("executor_id", options.executor_id, &problems);
  if (options.capacity < 1 || options.capacity > 100000) {
    problems.push_back("capacity must be from 1 to 100000");
  }
  if (options.version.size() > 64 || !IsCleanUtf8(options.version)) {
    problems.push_back("version must be UTF-8 text of at most 64 bytes");
  }
  for (const auto& [name, value] : options.labels) {
    CheckName("a label's name", name, &problems);
    if (value.size() > 256 || !IsCleanUtf8(value)) {
      problems.push_back("label " + name + " must be UTF-8 text of at most 256 bytes");
    }
  }
  if (options.drain_timeout.count() < 0 || options.stop_grace.count() < 0) {
    problems.push_back("drain_timeout and stop_grace must not be negative");
  }
  if (options.spool_limit_bytes > kMaxSpoolBytes) {
    problems.push_back("spool_limit_bytes must be at most 8 MiB");
  }
  return problems;
}

ClientSecurity SecurityOf(const ExecutorOptions& options) {
  ClientSecurity security;
  security.tls = {options.tls_cert, options.tls_key, options.tls_ca};
  security.server_name = options.tls_server_name;
  security.token_file = options.token_file;
  return WithEnvironment(std::move(security));
}

std::string SpoolDir(const ExecutorOptions& options) {
  if (!options.spool_dir.empty()) return options.spool_dir;
  std::string base;
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    base = state;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    base = std::string(home) + "/.local/state";
  } else {
    base = "/var/tmp";
  }
  return base + "/tidemark/" + Printable(options.app);
}

absl::StatusOr<CoreOptions> MakeCoreOptions(const ExecutorOptions& options,
                                            const std::string& spool_dir, const Clock& clock,
                                            Random& random) {
  CoreOptions core;
  core.executor_id = options.executor_id;
  const std::string host = HostName();
  if (core.executor_id.empty()) {
    TM_ASSIGN_OR_RETURN(const std::string suffix,
                        StableText(spool_dir, "executor_id", RandomHex(4, random)));
    // App and host may be long; the suffix is what makes the id unique.
    const std::string head = CleanText(options.app, 24) + "-" + host.substr(0, 24);
    core.executor_id = head + "-" + suffix;
    const std::string problem = NameProblem(core.executor_id);
    if (!problem.empty()) {
      return absl::UnavailableError("the file executor_id in " + spool_dir +
                                    " is damaged: the executor id made from it " + problem +
                                    "; delete the file or set executor_id");
    }
  }
  core.app = options.app;
  core.incarnation = NewUuid(clock.WallNow(), random);
  core.name_space = options.name_space;
  core.version = options.version;
  core.host = host.substr(0, 100) + ":" + std::to_string(getpid());
  core.capacity = options.capacity;
  core.labels = options.labels;
  core.spool_limit_bytes = options.spool_limit_bytes;
  core.drain_timeout = absl::FromChrono(options.drain_timeout);
  core.stop_grace = absl::FromChrono(options.stop_grace);
  core.ack_wait = std::min(core.ack_wait, core.drain_timeout);
  return core;
}

}  // namespace tidemark::exec
