// The bytes of a spool segment: records one behind the other.
#ifndef TIDEMARK_EXECUTOR_SRC_SPOOL_RECORD_H_
#define TIDEMARK_EXECUTOR_SRC_SPOOL_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::exec {

// A segment begins with these eight bytes. A record is, in bytes: a mark (4), a CRC-32 of all that
// follows it (4), the length of the payload (4), the kind (1), the payload; numbers little-endian.
// The mark is for finding the next whole record behind a damaged one.
inline constexpr std::string_view kSegmentHead = "TMSPOOL2";

enum class SpoolRecordKind : uint8_t {
  kResult = 1,        // payload: a RunReport with Finished
  kAcknowledged = 2,  // payload: an AttemptRef whose result, if there is one, is before it
};

struct SpoolRecord {
  SpoolRecordKind kind = SpoolRecordKind::kResult;  // another value: a later version's, whole
  size_t offset = 0;                                // of the record in the segment
  size_t size = 0;                                  // of the record, all in all
  std::string_view payload;                         // into the scanned bytes
};

struct ScannedSegment {
  std::vector<SpoolRecord> records;  // the whole ones
  size_t end = 0;                    // behind the last whole record
  bool torn = false;  // behind `end` is the beginning of a record, as a write cut short leaves it
  bool damaged = false;  // there are other bytes that are no record
};

// Appends one record. `payload` is at most kMaxSpoolPayload long.
inline constexpr size_t kMaxSpoolPayload = 16u << 20;
void AppendSpoolRecord(SpoolRecordKind kind, std::string_view payload, std::string* out);

// Never fails: what is no record is stepped over.
ScannedSegment ScanSegment(std::string_view bytes);

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_SPOOL_RECORD_H_
