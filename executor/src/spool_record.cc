#include "executor/src/spool_record.h"

#include <zlib.h>

#include <algorithm>
#include <optional>

namespace tidemark::exec {
namespace {

// The first byte occurs in no UTF-8 text.
constexpr std::string_view kMark = "\xF5TMr";
constexpr size_t kCrcAt = 4;
constexpr size_t kLengthAt = 8;
constexpr size_t kKindAt = 12;
constexpr size_t kPayloadAt = 13;

void PutNumber(uint32_t value, std::string* out) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<char>(value >> shift));
}

uint32_t GetNumber(std::string_view bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) {
    value = value << 8 | static_cast<uint8_t>(bytes[static_cast<size_t>(i)]);
  }
  return value;
}

uint32_t Crc(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

// The whole record at the beginning of `bytes`; `offset` is where that is.
std::optional<SpoolRecord> RecordAt(std::string_view bytes, size_t offset) {
  if (bytes.size() < kPayloadAt || !bytes.starts_with(kMark)) return std::nullopt;
  const size_t length = GetNumber(bytes.substr(kLengthAt));
  if (length > kMaxSpoolPayload || length > bytes.size() - kPayloadAt) return std::nullopt;
  const std::string_view record = bytes.substr(0, kPayloadAt + length);
  if (Crc(record.substr(kLengthAt)) != GetNumber(record.substr(kCrcAt))) return std::nullopt;
  return SpoolRecord{static_cast<SpoolRecordKind>(record[kKindAt]), offset, record.size(),
                     record.substr(kPayloadAt)};
}

// Whether `rest`, at the end of a segment, is a record that was being written when the process or
// the machine went: its beginning, or a length that was granted and no content.
bool IsTorn(std::string_view rest) {
  if (std::all_of(rest.begin(), rest.end(), [](char c) { return c == 0; })) return true;
  if (!rest.starts_with(kMark.substr(0, std::min(rest.size(), kMark.size())))) return false;
  if (rest.size() < kPayloadAt) return true;
  const size_t length = GetNumber(rest.substr(kLengthAt));
  return length <= kMaxSpoolPayload && length > rest.size() - kPayloadAt;
}

}  // namespace

void AppendSpoolRecord(SpoolRecordKind kind, std::string_view payload, std::string* out) {
  const size_t start = out->size();
  out->append(kMark);
  PutNumber(0, out);
  PutNumber(static_cast<uint32_t>(payload.size()), out);
  out->push_back(static_cast<char>(kind));
  out->append(payload);
  std::string crc;
  PutNumber(Crc(std::string_view(*out).substr(start + kLengthAt)), &crc);
  out->replace(start + kCrcAt, crc.size(), crc);
}

ScannedSegment ScanSegment(std::string_view bytes) {
  ScannedSegment scanned;
  size_t at = 0;
  if (bytes.starts_with(kSegmentHead)) {
    at = kSegmentHead.size();
    scanned.end = at;
  } else if (kSegmentHead.starts_with(bytes)) {  // made, and no more
    scanned.torn = !bytes.empty();
    return scanned;
  }
  while (at < bytes.size()) {
    if (auto record = RecordAt(bytes.substr(at), at)) {
      // Anything between two whole records, or before the first, should not be.
      scanned.damaged = scanned.damaged || at != scanned.end;
      at += record->size;
      scanned.end = at;
      scanned.records.push_back(*record);
      continue;
    }
    at = std::min(bytes.find(kMark, at + 1), bytes.size());
  }
  if (scanned.end == bytes.size()) return scanned;
  scanned.torn = IsTorn(bytes.substr(scanned.end));
  scanned.damaged = scanned.damaged || !scanned.torn;
  return scanned;
}

}  // namespace tidemark::exec
