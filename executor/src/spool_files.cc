#include "executor/src/spool_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/status.h"

namespace tidemark::exec {
namespace {

// Makes `name` whole, or not at all.
absl::Status WriteWhole(int dir_fd, const std::string& name, std::string_view bytes) {
  const std::string temporary = name + ".tmp";
  const int fd = openat(dir_fd, temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return FileError("cannot make " + temporary, errno);
  absl::Status status = WriteAt(fd, temporary, bytes, 0);
  if (status.ok() && fsync(fd) != 0) status = FileError("cannot sync " + temporary, errno);
  if (close(fd) != 0 && status.ok()) status = FileError("cannot close " + temporary, errno);
  if (status.ok() && renameat(dir_fd, temporary.c_str(), dir_fd, name.c_str()) != 0) {
    status = FileError("cannot rename " + temporary, errno);
  }
  if (!status.ok()) unlinkat(dir_fd, temporary.c_str(), 0);
  return status;
}

}  // namespace

absl::Status FileError(const std::string& what, int error) {
  const std::string text = what + ": " + std::strerror(error);
  return absl::UnavailableError(text);
}

absl::StatusOr<std::vector<std::string>> FolderNames(const std::string& dir) {
  DIR* stream = opendir(dir.c_str());
  if (stream == nullptr) return FileError("cannot list " + dir, errno);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(stream)) names.emplace_back(entry->d_name);
  closedir(stream);
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<std::string> ReadFileIn(int dir_fd, const std::string& name) {
  const int fd = openat(dir_fd, name.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError("cannot open " + name, errno);
  std::string out;
  char buffer[65536];
  ssize_t n = 0;
  while ((n = read(fd, buffer, sizeof buffer)) != 0) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    out.append(buffer, static_cast<size_t>(n));
  }
  const int error = errno;
  close(fd);
  if (n < 0) return FileError("cannot read " + name, error);
  return out;
}

absl::Status WriteAt(int fd, const std::string& name, std::string_view bytes, size_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return FileError("cannot write " + name, n == 0 ? EIO : errno);
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

absl::Status CutFile(int dir_fd, const std::string& name, size_t size) {
  const int fd = openat(dir_fd, name.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return FileError("cannot open " + name, errno);
  absl::Status status;
  if (ftruncate(fd, static_cast<off_t>(size)) != 0 || fsync(fd) != 0) {
    status = FileError("cannot cut " + name, errno);
  }
  close(fd);
  return status;
}

absl::StatusOr<std::string> StableText(const std::string& dir, const std::string& name,
                                       const std::string& made) {
  const int dir_fd = open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir_fd < 0) return FileError("folder " + dir, errno);
  absl::StatusOr<std::string> text = ReadFileIn(dir_fd, name);
  if (!text.ok() || text->empty()) {
    const absl::Status written = WriteWhole(dir_fd, name, made);
    fsync(dir_fd);
    text = written.ok() ? absl::StatusOr<std::string>(made) : absl::StatusOr<std::string>(written);
  }
  close(dir_fd);
  return text;
}

}  // namespace tidemark::exec
