// Values of PostgreSQL in text form, to and from ours.
#include <charconv>
#include <cstdlib>
#include <utility>

#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/store/database.h"
#include "scheduler/store/rows_impl.h"

namespace tidemark {
namespace {

// `count` digits at the front of `text`, which loses them; -1 when they are not there.
int TakeDigits(std::string_view& text, size_t count) {
  if (text.size() < count) return -1;
  int value = 0;
  for (const char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool TakeChar(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

// "2026-11-28 01:00:00.123+00", as nearly every time is; nullopt is for any other. Rows are full of
// times, and the general parser takes longer than all else of a row.
std::optional<absl::Time> UtcTime(std::string_view text) {
  const int year = TakeDigits(text, 4);
  if (year < 0 || !TakeChar(text, '-')) return std::nullopt;
  const int month = TakeDigits(text, 2);
  if (month < 0 || !TakeChar(text, '-')) return std::nullopt;
  const int day = TakeDigits(text, 2);
  if (day < 0 || !TakeChar(text, ' ')) return std::nullopt;
  const int hour = TakeDigits(text, 2);
  if (hour < 0 || !TakeChar(text, ':')) return std::nullopt;
  const int minute = TakeDigits(text, 2);
  if (minute < 0 || !TakeChar(text, ':')) return std::nullopt;
  const int second = TakeDigits(text, 2);
  if (second < 0) return std::nullopt;
  int64_t micros = 0;
  if (TakeChar(text, '.')) {
    int64_t unit = 100000;
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; unit /= 10) {
      micros += unit * (text.front() - '0');
      text.remove_prefix(1);
    }
  }
  if (text != "+00") return std::nullopt;
  const absl::CivilSecond civil(year, month, day, hour, minute, second);
  return absl::FromUnixSeconds(civil - absl::CivilSecond()) + absl::Microseconds(micros);
}

}  // namespace

SqlParam ToParam(absl::Time time) {
  if (time == absl::InfiniteFuture()) return "infinity";
  if (time == absl::InfinitePast()) return "-infinity";
  return FormatInstant(time);
}

SqlParam ToParam(absl::CivilDay day) { return FormatDate(day); }
SqlParam ToParam(absl::CivilSecond civil) { return FormatCivil(civil); }
SqlParam ToParam(bool value) { return value ? "t" : "f"; }
SqlParam ToParam(int64_t value) { return std::to_string(value); }
SqlParam ToParam(int value) { return std::to_string(value); }

SqlParam ToParam(double value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end.ptr);
}

SqlParam NullIfEmpty(std::string_view text) {
  return text.empty() ? SqlParam() : SqlParam(std::string(text));
}

SqlRows::SqlRows() = default;
SqlRows::SqlRows(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
SqlRows::~SqlRows() = default;
SqlRows::SqlRows(const SqlRows&) = default;
SqlRows::SqlRows(SqlRows&&) noexcept = default;
SqlRows& SqlRows::operator=(const SqlRows&) = default;
SqlRows& SqlRows::operator=(SqlRows&&) noexcept = default;

int SqlRows::size() const { return impl_ == nullptr ? 0 : PQntuples(impl_->result.get()); }

int SqlRows::columns() const { return impl_ == nullptr ? 0 : PQnfields(impl_->result.get()); }

int SqlRows::affected() const {
  return impl_ == nullptr ? 0 : std::atoi(PQcmdTuples(impl_->result.get()));
}

bool SqlRows::IsNull(int row, int column) const {
  return PQgetisnull(impl_->result.get(), row, column) != 0;
}

std::string_view SqlRows::View(int row, int column) const {
  const PGresult* result = impl_->result.get();
  return {PQgetvalue(result, row, column), static_cast<size_t>(PQgetlength(result, row, column))};
}

int64_t SqlRows::Int(int row, int column) const {
  const std::string_view text = View(row, column);
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double SqlRows::Double(int row, int column) const {
  return std::strtod(Text(row, column).c_str(), nullptr);
}

bool SqlRows::Bool(int row, int column) const { return View(row, column) == "t"; }

absl::Time SqlRows::Time(int row, int column) const {
  return OptTime(row, column).value_or(absl::UnixEpoch());
}

std::optional<absl::Time> SqlRows::OptTime(int row, int column) const {
  if (IsNull(row, column)) return std::nullopt;
  const std::string_view text = View(row, column);
  if (const auto utc = UtcTime(text)) return utc;
  if (text == "infinity") return absl::InfiniteFuture();
  if (text == "-infinity") return absl::InfinitePast();
  absl::Time time;
  std::string error;  // "2026-11-28 01:00:00.123+00"
  if (!absl::ParseTime("%E4Y-%m-%d %H:%M:%E*S%Ez", ToAbsl(text), &time, &error)) {
    return std::nullopt;
  }
  return time;
}

std::optional<int64_t> SqlRows::OptInt(int row, int column) const {
  if (IsNull(row, column)) return std::nullopt;
  return Int(row, column);
}

std::optional<absl::CivilDay> SqlRows::OptDate(int row, int column) const {
  if (IsNull(row, column)) return std::nullopt;
  const auto day = ParseDate(View(row, column));
  return day.ok() ? std::optional<absl::CivilDay>(*day) : std::nullopt;
}

std::optional<absl::CivilSecond> SqlRows::OptCivil(int row, int column) const {
  if (IsNull(row, column)) return std::nullopt;
  absl::CivilSecond civil;
  std::string text = Text(row, column);  // "2026-11-28 01:00:00"
  if (text.size() > 10) text[10] = 'T';
  if (!absl::ParseCivilTime(text, &civil)) return std::nullopt;
  return civil;
}

}  // namespace tidemark
