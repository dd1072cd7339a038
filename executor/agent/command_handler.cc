#include "executor/agent/command_handler.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <utility>

#include "common/status.h"
#include "common/time_text.h"
#include "executor/agent/progress_lines.h"

namespace tidemark::agent {
namespace {

constexpr size_t kReadBytes = 65536;

// Reads what is there. False at the end of the stream.
template <typename Sink>
bool ReadAvailable(int fd, const Sink& sink) {
  char buffer[kReadBytes];
  const ssize_t n = read(fd, buffer, sizeof buffer);
  if (n > 0) sink(std::string_view(buffer, static_cast<size_t>(n)));
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

// After the end: takes what is still in the pipe, without waiting for processes that left the group
// and hold it open.
template <typename Sink>
void ReadRest(int fd, const Sink& sink) {
  char buffer[kReadBytes];
  ssize_t n = 0;
  while ((n = read(fd, buffer, sizeof buffer)) > 0) {
    sink(std::string_view(buffer, static_cast<size_t>(n)));
  }
}

int PollMillis(absl::Duration left) {
  if (left == absl::InfiniteDuration()) return -1;
  const absl::Duration clamped = std::clamp(left, absl::ZeroDuration(), absl::Hours(1));
  return static_cast<int>(absl::ToInt64Milliseconds(absl::Ceil(clamped, absl::Milliseconds(1))));
}

}  // namespace

// Why and how far the command was told to stop.
struct CommandHandler::Ending {
  bool timed_out = false;
  bool cancelled = false;
  bool killed = false;  // KILL after TERM had not helped
};

std::string ParameterVariable(const std::string& parameter) {
  std::string out = "TIDEMARK_PARAM_";
  for (const char c : parameter) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += lower ? static_cast<char>(c - 'a' + 'A') : plain ? c : '_';
  }
  return out;
}

CommandHandler::CommandHandler(CommandConfig config, std::optional<UserIds> user,
                               std::map<std::string, std::string> base_environment,
                               ProcessGuard& guard, CommandRecords& records, const Clock& clock)
    : config_(std::move(config)),
      user_(std::move(user)),
      base_environment_(std::move(base_environment)),
      guard_(guard),
      records_(records),
      clock_(clock) {}

std::vector<std::string> CommandHandler::EnvironmentFor(const Context& run) const {
  std::map<std::string, std::string> all = base_environment_;
  for (const auto& [name, value] : config_.env) all[name] = value;
  for (const auto& [name, value] : run.params()) all[ParameterVariable(name)] = value;
  all["TIDEMARK_BIZ_DATE"] = run.biz_date();
  all["TIDEMARK_FIRE_TIME"] = FormatInstant(absl::FromChrono(run.fire_time()));
  all["TIDEMARK_NOMINAL_TIME"] = run.nominal_time();
  all["TIDEMARK_ZONE"] = run.zone();
  all["TIDEMARK_JOB"] = run.job();
  all["TIDEMARK_RUN_ID"] = run.run_id();
  all["TIDEMARK_ATTEMPT"] = std::to_string(run.attempt());
  all["TIDEMARK_BATCH_ID"] = run.batch_id();
  all["TIDEMARK_CHECKPOINT"] = run.checkpoint();
  all["TIDEMARK_FENCING_TOKEN"] = run.fencing_token().ToText();
  all["TIDEMARK_PROGRESS_FD"] = std::to_string(kProgressFd);
  std::vector<std::string> out;
  out.reserve(all.size());
  for (const auto& [name, value] : all) out.push_back(name + "=" + value);
  return out;
}

Outcome CommandHandler::Run(Context& run) const {
  CommandSpec spec;
  spec.arguments = config_.command;
  spec.environment = EnvironmentFor(run);
  spec.workdir = config_.workdir;
  spec.user = user_;
  spec.run_id = run.run_id();
  const auto own_path = config_.env.find("PATH");
  const auto base_path = base_environment_.find("PATH");
  spec.search_path = own_path != config_.env.end()          ? own_path->second
                     : base_path != base_environment_.end() ? base_path->second
                                                            : "/usr/bin:/bin";
  auto process = CommandProcess::Start(spec, guard_, records_);
  if (!process.ok()) {
    const std::string text = Message(process.status());
    return absl::IsUnavailable(process.status()) ? Outcome::Retry(text) : Outcome::Fail(text);
  }
  const Ending ending = Watch(**process, run);
  return OutcomeOf((*process)->End(), ending);
}

CommandHandler::Ending CommandHandler::Watch(CommandProcess& process, Context& run) const {
  Ending ending;
  ProgressLines lines(run);
  const auto log = [&](std::string_view bytes) { run.LogBytes(bytes); };
  const auto progress = [&](std::string_view bytes) { lines.Feed(bytes); };
  // Shared: the callback may still be running when this run is over.
  const auto cancel = std::make_shared<UniqueFd>(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  run.OnCancel([cancel] { eventfd_write(cancel->get(), 1); });
  absl::Duration stop_at = clock_.Monotonic() + config_.timeout;
  absl::Duration kill_at = absl::InfiniteDuration();
  const auto stop = [&](bool* why) {
    *why = true;
    process.Signal(SIGTERM);
    process.Signal(SIGCONT);  // a stopped group would not see TERM
    stop_at = absl::InfiniteDuration();
    kill_at = clock_.Monotonic() + config_.kill_grace;
  };
  pollfd fds[4] = {{process.pidfd(), POLLIN, 0},
                   {cancel->get(), POLLIN, 0},
                   {process.output(), POLLIN, 0},
                   {process.progress(), POLLIN, 0}};
  while (true) {
    const absl::Duration next = std::min(stop_at, kill_at);
    poll(fds, 4, PollMillis(next - clock_.Monotonic()));
    if (fds[2].revents != 0 && !ReadAvailable(process.output(), log)) fds[2].fd = -1;
    if (fds[3].revents != 0 && !ReadAvailable(process.progress(), progress)) fds[3].fd = -1;
    if (fds[1].revents != 0) {
      fds[1].fd = -1;
      fds[1].revents = 0;
      if (!ending.timed_out) stop(&ending.cancelled);
    }
    const absl::Duration now = clock_.Monotonic();
    if (now >= stop_at) stop(&ending.timed_out);
    if (now >= kill_at) {
      ending.killed = true;
      process.Signal(SIGKILL);
      kill_at = absl::InfiniteDuration();
    }
    if (fds[0].revents != 0) break;
  }
  ReadRest(process.output(), log);
  ReadRest(process.progress(), progress);
  lines.End();
  return ending;
}

Outcome CommandHandler::OutcomeOf(int status, const Ending& ending) const {
  std::string how;
  if (WIFSIGNALED(status)) {
    how = "killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
          strsignal(WTERMSIG(status)) + ")";
  } else {
    how = "exit code " + std::to_string(WEXITSTATUS(status));
  }
  if (ending.killed) how += " after it had ignored TERM";
  // Told to stop: even exit code 0 does not say that all of the work is done.
  if (ending.timed_out) {
    return Outcome::Retry("over its timeout of " + FormatDuration(config_.timeout) + ": " + how);
  }
  if (ending.cancelled) return Outcome::Stopped(how);
  if (WIFSIGNALED(status)) return Outcome::Retry(how);
  const int code = WEXITSTATUS(status);
  if (code == 0) return Outcome::Ok();
  const bool retry = config_.retry_on.empty() ? !config_.no_retry_on.contains(code)
                                              : config_.retry_on.contains(code);
  return retry ? Outcome::Retry(how) : Outcome::Fail(how);
}

}  // namespace tidemark::agent
