// Bills: what was paid on one date, as we saw it and as the payment channel saw it.
#ifndef TIDEMARK_EXECUTOR_EXAMPLES_RECON_BILL_H_
#define TIDEMARK_EXECUTOR_EXAMPLES_RECON_BILL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"

namespace tidemark::recon {

// One line of a bill file.
struct Bill {
  std::string order_id;  // 1–64 printable ASCII characters, no comma
  int64_t cents = 0;     // negative for a refund
  std::string paid_at;   // local time as the file has it; not compared

  bool operator==(const Bill&) const = default;
};

// Both sides of one date, in the order of their files.
struct BillPair {
  std::vector<Bill> ours;
  std::vector<Bill> channel;
  // FNV-1a of both files: tells a resumed attempt whether it still reads the same bills.
  uint64_t fingerprint = 0;
};

// "12.34" ↔ 1234. Exactly two decimals, an optional minus; up to 13 digits before the point.
absl::StatusOr<int64_t> ParseCents(std::string_view text);
std::string FormatCents(int64_t cents);

// A bill file: the header "order_id,amount,paid_at", then a line a bill. `name` is for messages:
// a fault is InvalidArgument "name:line: what".
absl::StatusOr<std::vector<Bill>> ParseBills(std::string_view text, std::string_view name);
std::string FormatBills(const std::vector<Bill>& bills);

// DIR/2026-11-28/ours.csv and …/channel.csv.
std::string OursPath(const std::string& dir, absl::CivilDay biz_date);
std::string ChannelPath(const std::string& dir, absl::CivilDay biz_date);

// Reads both files. NotFound names the bill that has not arrived.
absl::StatusOr<BillPair> LoadBills(const std::string& dir, absl::CivilDay biz_date);

// Writes both files, each by way of a temporary name, so that no reader sees half a bill. Makes
// the folders.
absl::Status SaveBills(const std::string& dir, absl::CivilDay biz_date,
                       const std::vector<Bill>& ours, const std::vector<Bill>& channel);

}  // namespace tidemark::recon

#endif  // TIDEMARK_EXECUTOR_EXAMPLES_RECON_BILL_H_
