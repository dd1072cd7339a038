#include "common/lifecycle.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace tidemark {

StopSignals::StopSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

StopSignals::~StopSignals() { close(fd_); }

int StopSignals::Wait(absl::Duration timeout) {
  pollfd entry{fd_, POLLIN, 0};
  const int64_t millis = std::clamp<int64_t>(absl::ToInt64Milliseconds(timeout), 0, 1 << 30);
  if (poll(&entry, 1, static_cast<int>(millis)) <= 0) return 0;
  signalfd_siginfo info{};
  if (read(fd_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return 0;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace tidemark
