#include "executor/examples/recon/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/time_text.h"

namespace tidemark::recon {

Journal::~Journal() {
  if (fd_ >= 0) close(fd_);
}

absl::Status Journal::Open(const std::string& path) {
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) {
    return absl::InvalidArgumentError("--journal " + path + ": " + std::strerror(errno));
  }
  return absl::OkStatus();
}

absl::Status Journal::Append(const Clock& clock, const Entry& entry) {
  if (fd_ < 0) return absl::OkStatus();
  std::string line = FormatInstant(clock.WallNow());
  const auto add = [&line](std::string_view field) {
    line += '\t';
    line += field;
  };
  add(std::to_string(absl::ToInt64Nanoseconds(clock.Monotonic())));
  add(entry.executor);
  add(entry.event);
  add(entry.biz_date);
  add(entry.run_id);
  add(std::to_string(entry.attempt));
  add(entry.outcome);
  line += '\n';
  if (write(fd_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return absl::UnavailableError(std::string("cannot write the journal: ") + std::strerror(errno));
  }
  return absl::OkStatus();
}

}  // namespace tidemark::recon
