// The log as it is written; spool_load.cc reads it.
#include "executor/src/spool.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "common/status.h"

namespace tidemark::exec {
namespace {

// The log may hold so many segments, and so many times what is needed, before results are moved.
constexpr size_t kSegmentsKept = 4;
constexpr size_t kTimesNeeded = 3;

}  // namespace

std::string SegmentName(uint64_t number) {
  char name[40];
  std::snprintf(name, sizeof name, "%012llu.segment", static_cast<unsigned long long>(number));
  return name;
}

absl::StatusOr<std::unique_ptr<Spool>> Spool::Open(const std::string& dir, size_t segment_bytes) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return FileError("spool folder " + dir, error.value());
  chmod(dir.c_str(), 0700);
  const int dir_fd = open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir_fd < 0) return FileError("spool folder " + dir, errno);
  const int lock_fd = openat(dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_fd < 0) {
    const int failure = errno;
    close(dir_fd);
    return FileError("spool folder " + dir, failure);
  }
  if (flock(lock_fd, LOCK_EX | LOCK_NB) != 0) {
    close(lock_fd);
    close(dir_fd);
    return absl::FailedPreconditionError("spool folder " + dir +
                                         " is in use by another executor process: stop it, or "
                                         "give this one a folder and an executor id of its own");
  }
  return std::unique_ptr<Spool>(new Spool(dir, dir_fd, lock_fd, segment_bytes));
}

Spool::~Spool() {
  CloseSegment();
  close(lock_fd_);
  close(dir_fd_);
}

void Spool::Write(const AttemptKey& key, const v1::RunReport& report) {
  Place place;
  place.offset = collected_.bytes.size();
  AppendSpoolRecord(SpoolRecordKind::kResult, report.SerializeAsString(), &collected_.bytes);
  place.size = collected_.bytes.size() - place.offset;
  collected_.results.emplace_back(key, place);
}

void Spool::MarkAcknowledged(const AttemptKey& key) {
  v1::AttemptRef ref;
  SetRef(key, &ref);
  AppendSpoolRecord(SpoolRecordKind::kAcknowledged, ref.SerializeAsString(), &collected_.bytes);
  collected_.acknowledged.push_back(key);
}

void Spool::Delete(const AttemptKey& key) {
  const auto it = places_.find(key);
  if (it == places_.end()) return;
  // Its record may stay for a while, and would be taken for a result that nobody has.
  if (!it->second.acknowledged) MarkAcknowledged(key);
  Forget(it);
}

absl::Status Spool::Sync() {
  DropFront();  // first: it may make the room that is missing
  TM_RETURN_IF_ERROR(Append(std::exchange(collected_, {})));
  return Compact();
}

absl::Status Spool::Append(Batch batch) {
  if (batch.empty()) return absl::OkStatus();
  TM_RETURN_IF_ERROR(AppendBytes(batch.bytes, !batch.results.empty()));
  const auto& [number, segment] = *segments_.rbegin();
  const size_t start = segment.bytes - batch.bytes.size();
  for (auto& [key, place] : batch.results) {
    place.segment = number;
    place.offset += start;
    Put(key, place);
  }
  for (const AttemptKey& key : batch.acknowledged) {
    const auto it = places_.find(key);
    if (it != places_.end()) it->second.acknowledged = true;
  }
  return absl::OkStatus();
}

absl::Status Spool::AppendBytes(std::string_view bytes, bool durable) {
  const size_t written = fd_ >= 0 ? segments_.rbegin()->second.bytes : 0;
  if (written > kSegmentHead.size() && written + bytes.size() > segment_bytes_) CloseSegment();
  if (fd_ < 0) TM_RETURN_IF_ERROR(OpenSegment());
  auto& [number, segment] = *segments_.rbegin();
  const std::string name = SegmentName(number);
  absl::Status status = WriteAt(fd_, name, bytes, segment.bytes);
  bool lost = false;
  if (status.ok() && durable && fdatasync(fd_) != 0) {
    status = FileError("cannot sync " + name, errno);
    lost = true;  // what the disk has of it is unknown, also after a later fdatasync
  }
  if (status.ok()) {
    segment.bytes += bytes.size();
    bytes_ += bytes.size();
    return status;
  }
  // No half record may be before the next one.
  if (ftruncate(fd_, static_cast<off_t>(segment.bytes)) != 0 || lost) CloseSegment();
  return status;
}

absl::Status Spool::OpenSegment() {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  std::string name;
  int fd = -1;
  do {
    name = SegmentName(next_segment_++);
    fd = openat(dir_fd_, name.c_str(), kFlags, 0600);
  } while (fd < 0 && errno == EEXIST);
  if (fd < 0) return FileError("cannot make " + name, errno);
  absl::Status status = WriteAt(fd, name, kSegmentHead, 0);
  if (status.ok() && fsync(dir_fd_) != 0) status = FileError("cannot sync " + dir_, errno);
  if (!status.ok()) {
    close(fd);
    unlinkat(dir_fd_, name.c_str(), 0);
    return status;
  }
  fd_ = fd;
  segments_[next_segment_ - 1].bytes = kSegmentHead.size();
  bytes_ += kSegmentHead.size();
  return status;
}

void Spool::CloseSegment() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

void Spool::Put(const AttemptKey& key, const Place& place) {
  const auto it = places_.find(key);
  if (it != places_.end()) Forget(it);
  places_[key] = place;
  ++segments_[place.segment].needed;
  needed_bytes_ += place.size;
}

void Spool::Forget(std::map<AttemptKey, Place>::iterator it) {
  --segments_[it->second.segment].needed;
  needed_bytes_ -= it->second.size;
  places_.erase(it);
}

// Only from the front: an acknowledgement must not vanish before the result that it is of.
void Spool::DropFront() {
  while (!segments_.empty()) {
    const auto front = segments_.begin();
    if (front->second.needed > 0 || IsOpen(front->first)) return;
    unlinkat(dir_fd_, SegmentName(front->first).c_str(), 0);
    bytes_ -= front->second.bytes;
    segments_.erase(front);
  }
}

// A result that nobody acknowledges must not keep all that came after it. At most one segment a
// call: what is moved is less than half of what was written meanwhile.
absl::Status Spool::Compact() {
  if (bytes_ <= kSegmentsKept * segment_bytes_ || bytes_ <= kTimesNeeded * needed_bytes_) {
    return absl::OkStatus();
  }
  const uint64_t front = segments_.begin()->first;
  if (IsOpen(front)) return absl::OkStatus();
  Batch batch;
  const bool whole = Collect(front, &batch);
  TM_RETURN_IF_ERROR(Append(std::move(batch)));
  if (!whole) {
    MoveAside(front);
    return absl::UnavailableError(SegmentName(front) +
                                  " is damaged and was moved aside; its results are in memory");
  }
  DropFront();
  return absl::OkStatus();
}

bool Spool::Collect(uint64_t segment, Batch* batch) const {
  const absl::StatusOr<std::string> bytes = ReadFileIn(dir_fd_, SegmentName(segment));
  if (!bytes.ok()) return false;
  size_t found = 0;
  for (const SpoolRecord& record : ScanSegment(*bytes).records) {
    v1::RunReport report;
    if (record.kind != SpoolRecordKind::kResult ||
        !report.ParseFromArray(record.payload.data(), static_cast<int>(record.payload.size()))) {
      continue;
    }
    const AttemptKey key = KeyOf(report.attempt());
    const auto it = places_.find(key);
    if (it == places_.end() || it->second.segment != segment ||
        it->second.offset != record.offset) {
      continue;
    }
    ++found;
    Place place = it->second;
    place.offset = batch->bytes.size();
    AppendSpoolRecord(SpoolRecordKind::kResult, record.payload, &batch->bytes);
    batch->results.emplace_back(key, place);
    if (!place.acknowledged) continue;
    AppendSpoolRecord(SpoolRecordKind::kAcknowledged, report.attempt().SerializeAsString(),
                      &batch->bytes);
  }
  return found == segments_.at(segment).needed;
}

void Spool::MoveAside(uint64_t segment) {
  const std::string name = SegmentName(segment);
  renameat(dir_fd_, name.c_str(), dir_fd_, (name + ".damaged").c_str());
  for (auto it = places_.begin(); it != places_.end();) {
    const auto current = it++;
    if (current->second.segment == segment) Forget(current);
  }
  bytes_ -= segments_.at(segment).bytes;
  segments_.erase(segment);
}

}  // namespace tidemark::exec
