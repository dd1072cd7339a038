// Values of PostgreSQL in text form, to and from ours.
#include <charconv>
#include <cstdlib>
#include <utility>

#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/store/database.h"
#include "scheduler/store/rows_impl.h"

namespace tidemark {

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

int SqlRows::size() const { return impl_ == nullptr ? 0 : static_cast<int>(impl_->result.size()); }

int SqlRows::columns() const {
  return impl_ == nullptr ? 0 : static_cast<int>(impl_->result.columns());
}

int SqlRows::affected() const {
  return impl_ == nullptr ? 0 : static_cast<int>(impl_->result.affected_rows());
}

bool SqlRows::IsNull(int row, int column) const { return impl_->result[row][column].is_null(); }

std::string_view SqlRows::View(int row, int column) const {
  const pqxx::field field = impl_->result[row][column];
  return {field.c_str(), field.size()};
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
