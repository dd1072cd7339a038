#include "executor/examples/recon/bill.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"

namespace tidemark::recon {
namespace {

constexpr std::string_view kHeader = "order_id,amount,paid_at";

absl::Status Fault(std::string_view name, size_t line, const std::string& what) {
  return absl::InvalidArgumentError(std::string(name) + ":" + std::to_string(line) + ": " + what);
}

bool IsOrderId(std::string_view text) {
  if (text.empty() || text.size() > 64) return false;
  for (char c : text) {
    if (c <= ' ' || c >= 0x7f || c == ',') return false;
  }
  return true;
}

// The next line of `text`, which shrinks; a CR before the LF is dropped.
std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

absl::StatusOr<Bill> ParseLine(std::string_view line) {
  const size_t first = line.find(',');
  const size_t second = first == std::string_view::npos ? first : line.find(',', first + 1);
  if (second == std::string_view::npos || line.find(',', second + 1) != std::string_view::npos) {
    return absl::InvalidArgumentError("expected three fields: " + std::string(kHeader));
  }
  Bill bill;
  bill.order_id = std::string(line.substr(0, first));
  if (!IsOrderId(bill.order_id)) {
    return absl::InvalidArgumentError("order_id must be 1 to 64 printable ASCII characters");
  }
  TM_ASSIGN_OR_RETURN(bill.cents, ParseCents(line.substr(first + 1, second - first - 1)));
  bill.paid_at = std::string(line.substr(second + 1));
  return bill;
}

uint64_t Fnv1a(std::string_view bytes, uint64_t hash) {
  for (unsigned char c : bytes) hash = (hash ^ c) * 0x100000001b3U;
  return hash;
}

std::string DateDir(const std::string& dir, absl::CivilDay biz_date) {
  return dir + "/" + FormatDate(biz_date);
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return absl::NotFoundError("the bill " + path +
                               " is not there; put it in place, the date is then tried again");
  }
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) return absl::UnavailableError("cannot read " + path);
  return std::move(text).str();
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  const std::string partial = path + ".part." + std::to_string(getpid());
  {
    std::ofstream out(partial, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out) return absl::UnavailableError("cannot write " + partial);
  }
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  if (error) return absl::UnavailableError("cannot write " + path + ": " + error.message());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> ParseCents(std::string_view text) {
  const absl::Status fault = absl::InvalidArgumentError(
      "amount \"" + CleanText(text, 40) + "\" is not a number with two decimals, like 12.34");
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  const size_t point = digits.find('.');
  if (point == std::string_view::npos || point == 0 || point > 13 || digits.size() != point + 3) {
    return fault;
  }
  int64_t cents = 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i == point) continue;
    if (digits[i] < '0' || digits[i] > '9') return fault;
    cents = cents * 10 + (digits[i] - '0');
  }
  return negative ? -cents : cents;
}

std::string FormatCents(int64_t cents) {
  const int64_t absolute = std::abs(cents);
  const std::string fraction = std::to_string(absolute % 100);
  return (cents < 0 ? "-" : "") + std::to_string(absolute / 100) +
         (fraction.size() == 1 ? ".0" : ".") + fraction;
}

absl::StatusOr<std::vector<Bill>> ParseBills(std::string_view text, std::string_view name) {
  if (TakeLine(text) != kHeader) {
    return Fault(name, 1, "expected the header \"" + std::string(kHeader) + "\"");
  }
  std::vector<Bill> bills;
  for (size_t number = 2; !text.empty(); ++number) {
    const std::string_view line = TakeLine(text);
    if (line.empty()) continue;
    absl::StatusOr<Bill> bill = ParseLine(line);
    if (!bill.ok()) return Fault(name, number, Message(bill.status()));
    bills.push_back(*std::move(bill));
  }
  return bills;
}

std::string FormatBills(const std::vector<Bill>& bills) {
  std::string text(kHeader);
  text += '\n';
  for (const Bill& bill : bills) {
    text += bill.order_id + ',' + FormatCents(bill.cents) + ',' + bill.paid_at + '\n';
  }
  return text;
}

std::string OursPath(const std::string& dir, absl::CivilDay biz_date) {
  return DateDir(dir, biz_date) + "/ours.csv";
}

std::string ChannelPath(const std::string& dir, absl::CivilDay biz_date) {
  return DateDir(dir, biz_date) + "/channel.csv";
}

absl::StatusOr<BillPair> LoadBills(const std::string& dir, absl::CivilDay biz_date) {
  const std::string ours_path = OursPath(dir, biz_date);
  const std::string channel_path = ChannelPath(dir, biz_date);
  TM_ASSIGN_OR_RETURN(const std::string ours_text, ReadFile(ours_path));
  TM_ASSIGN_OR_RETURN(const std::string channel_text, ReadFile(channel_path));
  BillPair pair;
  TM_ASSIGN_OR_RETURN(pair.ours, ParseBills(ours_text, ours_path));
  TM_ASSIGN_OR_RETURN(pair.channel, ParseBills(channel_text, channel_path));
  // The zero byte keeps "a" + "bc" and "ab" + "c" apart.
  pair.fingerprint = Fnv1a(channel_text, Fnv1a({"\0", 1}, Fnv1a(ours_text, 0xcbf29ce484222325U)));
  return pair;
}

absl::Status SaveBills(const std::string& dir, absl::CivilDay biz_date,
                       const std::vector<Bill>& ours, const std::vector<Bill>& channel) {
  const std::string folder = DateDir(dir, biz_date);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::UnavailableError("cannot make " + folder + ": " + error.message());
  TM_RETURN_IF_ERROR(WriteFile(OursPath(dir, biz_date), FormatBills(ours)));
  return WriteFile(ChannelPath(dir, biz_date), FormatBills(channel));
}

}  // namespace tidemark::recon
