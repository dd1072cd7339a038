#include "executor/src/spool.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/status.h"
#include "tidemark/digest.h"

namespace tidemark::exec {
namespace {

constexpr std::string_view kMagic = "TMSPOOL1";
constexpr size_t kDigestBytes = 32;
constexpr std::string_view kResult = ".result";
constexpr std::string_view kAcked = ".acked";

absl::Status Failed(const std::string& what, int error) {
  const std::string text = what + ": " + std::strerror(error);
  return absl::UnavailableError(text);
}

std::string FileName(const AttemptKey& key, std::string_view ending) {
  return key.run_id + "." + std::to_string(key.attempt) + std::string(ending);
}

std::string Encode(const v1::RunReport& report) {
  const std::string payload = report.SerializeAsString();
  const auto digest = Sha256(payload);
  std::string out(kMagic);
  out.append(reinterpret_cast<const char*>(digest.data()), digest.size());
  return out + payload;
}

bool Decode(std::string_view bytes, v1::RunReport* report) {
  if (bytes.size() < kMagic.size() + kDigestBytes || bytes.substr(0, kMagic.size()) != kMagic) {
    return false;
  }
  const std::string_view digest = bytes.substr(kMagic.size(), kDigestBytes);
  const std::string_view payload = bytes.substr(kMagic.size() + kDigestBytes);
  const auto right = Sha256(payload);
  if (std::memcmp(digest.data(), right.data(), kDigestBytes) != 0) return false;
  return report->ParseFromArray(payload.data(), static_cast<int>(payload.size())) &&
         report->has_finished();
}

// Writes and syncs `name` in the folder; on failure the file is gone.
absl::Status WriteFile(int dir_fd, const std::string& name, std::string_view bytes) {
  const int fd = openat(dir_fd, name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return Failed("cannot make " + name, errno);
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
    if (n < 0 && errno != EINTR) error = errno;
    if (n == 0) error = EIO;
  }
  if (error == 0 && fsync(fd) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0) return absl::OkStatus();
  unlinkat(dir_fd, name.c_str(), 0);
  return Failed("cannot write " + name, error);
}

absl::Status WriteWhole(int dir_fd, const std::string& name, std::string_view bytes) {
  const std::string temporary = name + ".tmp";
  TM_RETURN_IF_ERROR(WriteFile(dir_fd, temporary, bytes));
  if (renameat(dir_fd, temporary.c_str(), dir_fd, name.c_str()) == 0) return absl::OkStatus();
  const int error = errno;
  unlinkat(dir_fd, temporary.c_str(), 0);
  return Failed("cannot rename " + temporary, error);
}

absl::StatusOr<std::string> ReadFile(int dir_fd, const std::string& name) {
  const int fd = openat(dir_fd, name.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Failed("cannot open " + name, errno);
  std::string out;
  char buffer[16384];
  ssize_t n = 0;
  while ((n = read(fd, buffer, sizeof buffer)) != 0) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    out.append(buffer, static_cast<size_t>(n));
  }
  const int error = errno;
  close(fd);
  if (n < 0) return Failed("cannot read " + name, error);
  return out;
}

absl::StatusOr<std::vector<std::string>> Names(const std::string& dir) {
  DIR* stream = opendir(dir.c_str());
  if (stream == nullptr) return Failed("cannot list " + dir, errno);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(stream)) names.emplace_back(entry->d_name);
  closedir(stream);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Spool>> Spool::Open(const std::string& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return Failed("spool folder " + dir, error.value());
  chmod(dir.c_str(), 0700);
  const int dir_fd = open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir_fd < 0) return Failed("spool folder " + dir, errno);
  const int lock_fd = openat(dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_fd < 0) {
    const int failure = errno;
    close(dir_fd);
    return Failed("spool folder " + dir, failure);
  }
  if (flock(lock_fd, LOCK_EX | LOCK_NB) != 0) {
    close(lock_fd);
    close(dir_fd);
    return absl::FailedPreconditionError("spool folder " + dir +
                                         " is in use by another executor process: stop it, or "
                                         "give this one a folder and an executor id of its own");
  }
  return std::unique_ptr<Spool>(new Spool(dir, dir_fd, lock_fd));
}

Spool::~Spool() {
  close(lock_fd_);
  close(dir_fd_);
}

absl::StatusOr<Spool::Loaded> Spool::Load() {
  Loaded loaded;
  TM_ASSIGN_OR_RETURN(const std::vector<std::string> names, Names(dir_));
  for (const std::string& name : names) {
    const std::string_view view = name;
    if (view.ends_with(".tmp")) unlinkat(dir_fd_, name.c_str(), 0);
    const bool acknowledged = view.ends_with(kAcked);
    if (!acknowledged && !view.ends_with(kResult)) continue;
    TM_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(dir_fd_, name));
    SpooledResult result;
    result.acknowledged = acknowledged;
    if (Decode(bytes, &result.report)) {
      loaded.results.push_back(std::move(result));
      continue;
    }
    const std::string aside = name + ".torn";
    renameat(dir_fd_, name.c_str(), dir_fd_, aside.c_str());
    loaded.torn.push_back(aside);
  }
  return loaded;
}

absl::Status Spool::Write(const AttemptKey& key, const v1::RunReport& report) {
  return WriteWhole(dir_fd_, FileName(key, kResult), Encode(report));
}

absl::Status Spool::MarkAcknowledged(const AttemptKey& key) {
  const std::string from = FileName(key, kResult);
  const std::string to = FileName(key, kAcked);
  if (renameat(dir_fd_, from.c_str(), dir_fd_, to.c_str()) == 0 || errno == ENOENT) {
    return absl::OkStatus();
  }
  return Failed("cannot rename " + from, errno);
}

void Spool::Delete(const AttemptKey& key) {
  unlinkat(dir_fd_, FileName(key, kResult).c_str(), 0);
  unlinkat(dir_fd_, FileName(key, kAcked).c_str(), 0);
}

absl::Status Spool::Sync() {
  if (fsync(dir_fd_) != 0) return Failed("cannot sync " + dir_, errno);
  return absl::OkStatus();
}

absl::StatusOr<std::string> StableText(const std::string& dir, const std::string& name,
                                       const std::string& made) {
  const int dir_fd = open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir_fd < 0) return Failed("folder " + dir, errno);
  absl::StatusOr<std::string> text = ReadFile(dir_fd, name);
  if (!text.ok() || text->empty()) {
    const absl::Status written = WriteWhole(dir_fd, name, made);
    fsync(dir_fd);
    text = written.ok() ? absl::StatusOr<std::string>(made) : absl::StatusOr<std::string>(written);
  }
  close(dir_fd);
  return text;
}

}  // namespace tidemark::exec
