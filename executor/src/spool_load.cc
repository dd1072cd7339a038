// What a start finds in the spool folder.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "common/status.h"
#include "executor/src/spool.h"
#include "executor/src/spool_old.h"

namespace tidemark::exec {
namespace {

constexpr std::string_view kSegment = ".segment";
constexpr std::string_view kDamaged = ".damaged";

// The number in "<number>.segment" and "<number>.segment.damaged".
std::optional<uint64_t> NumberOf(std::string_view name) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end == name.data()) return std::nullopt;
  name.remove_prefix(static_cast<size_t>(end - name.data()));
  if (name.ends_with(kDamaged)) name.remove_suffix(kDamaged.size());
  if (name != kSegment) return std::nullopt;
  return number;
}

}  // namespace

absl::StatusOr<Spool::Loaded> Spool::Load() {
  Loaded loaded;
  Results results;
  std::vector<uint64_t> damaged;
  std::vector<std::string> old;
  TM_ASSIGN_OR_RETURN(const std::vector<std::string> names, FolderNames(dir_));
  for (const std::string& name : names) {  // segments in their order
    const std::string_view view = name;
    const std::optional<uint64_t> number = NumberOf(view);
    if (number) next_segment_ = std::max(next_segment_, *number + 1);
    if (view.ends_with(".tmp")) unlinkat(dir_fd_, name.c_str(), 0);
    if (IsOldSpoolFile(view)) old.push_back(name);
    if (!number || view.ends_with(kDamaged)) continue;
    TM_RETURN_IF_ERROR(LoadSegment(name, *number, &results, &loaded, &damaged));
  }
  std::vector<std::string> converted;
  for (const std::string& name : old) {
    TM_ASSIGN_OR_RETURN(const std::string bytes, ReadFileIn(dir_fd_, name));
    if (auto result = ParseOldSpoolFile(name, bytes)) {
      // A segment has it when a conversion was interrupted; its word is the later one.
      const auto key = KeyOf(result->report.attempt());
      results.try_emplace(key, *std::move(result));
      converted.push_back(name);
      continue;
    }
    const std::string aside = name + std::string(kDamaged);
    renameat(dir_fd_, name.c_str(), dir_fd_, aside.c_str());
    loaded.damaged.push_back(aside);
  }
  const absl::Status renewed = Renew(damaged, converted, results);
  if (!renewed.ok()) loaded.problem = Message(renewed);
  for (const uint64_t number : damaged) {
    loaded.damaged.push_back(SegmentName(number) + (renewed.ok() ? std::string(kDamaged) : ""));
  }
  for (auto& [key, result] : results) loaded.results.push_back(std::move(result));
  return loaded;
}

absl::Status Spool::LoadSegment(const std::string& name, uint64_t number, Results* results,
                                Loaded* loaded, std::vector<uint64_t>* damaged) {
  TM_ASSIGN_OR_RETURN(const std::string bytes, ReadFileIn(dir_fd_, name));
  const ScannedSegment scanned = ScanSegment(bytes);
  bool whole = !scanned.damaged;
  segments_[number].bytes = bytes.size();
  bytes_ += bytes.size();
  for (const SpoolRecord& record : scanned.records) {
    whole = TakeRecord(number, record, results) && whole;
  }
  if (!whole) {
    damaged->push_back(number);
  } else if (scanned.torn) {
    // If it cannot be cut it stays; nothing is ever appended behind it.
    loaded->torn.push_back(name);
    if (CutFile(dir_fd_, name, scanned.end).ok()) {
      segments_[number].bytes = scanned.end;
      bytes_ -= bytes.size() - scanned.end;
    }
  }
  return absl::OkStatus();
}

bool Spool::TakeRecord(uint64_t segment, const SpoolRecord& record, Results* results) {
  const int size = static_cast<int>(record.payload.size());
  if (record.kind == SpoolRecordKind::kAcknowledged) {
    v1::AttemptRef ref;
    if (!ref.ParseFromArray(record.payload.data(), size)) return false;
    const auto it = results->find(KeyOf(ref));
    if (it == results->end()) return true;
    it->second.acknowledged = true;
    places_.at(it->first).acknowledged = true;
    return true;
  }
  if (record.kind != SpoolRecordKind::kResult) return true;
  SpooledResult result;
  if (!result.report.ParseFromArray(record.payload.data(), size) || !result.report.has_finished()) {
    return false;
  }
  const AttemptKey key = KeyOf(result.report.attempt());
  // Written again when it was moved; what was said of it stays true.
  const auto before = results->find(key);
  result.acknowledged = before != results->end() && before->second.acknowledged;
  Put(key, {segment, record.offset, record.size, result.acknowledged});
  (*results)[key] = std::move(result);
  return true;
}

// Puts what damaged segments and old files hold into a new segment, and then them out of the way.
absl::Status Spool::Renew(const std::vector<uint64_t>& damaged, const std::vector<std::string>& old,
                          const Results& results) {
  if (damaged.empty() && old.empty()) return absl::OkStatus();
  Batch batch;
  for (const uint64_t segment : damaged) Collect(segment, &batch);
  for (const auto& [key, result] : results) {
    if (!places_.contains(key)) {
      Place place{0, batch.bytes.size(), 0, result.acknowledged};
      AppendSpoolRecord(SpoolRecordKind::kResult, result.report.SerializeAsString(), &batch.bytes);
      place.size = batch.bytes.size() - place.offset;
      batch.results.emplace_back(key, place);
    }
    // Said again for all: it may have been said in a segment that goes.
    if (!result.acknowledged) continue;
    AppendSpoolRecord(SpoolRecordKind::kAcknowledged, result.report.attempt().SerializeAsString(),
                      &batch.bytes);
  }
  TM_RETURN_IF_ERROR(Append(std::move(batch)));
  for (const uint64_t segment : damaged) MoveAside(segment);
  for (const std::string& name : old) unlinkat(dir_fd_, name.c_str(), 0);
  return absl::OkStatus();
}

}  // namespace tidemark::exec
