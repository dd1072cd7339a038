#include "scheduler/core/time/recurrence.h"

#include <algorithm>
#include <string>

#include "common/status.h"

namespace tidemark {
namespace {

std::string Of(std::string_view text) { return "\"" + std::string(text.substr(0, 40)) + "\""; }

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// A whole number with an optional sign, in [low, high] and not 0.
std::optional<int> Number(std::string_view text, int low, int high) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.empty() || text.size() > 6) return std::nullopt;
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  if (negative) value = -value;
  if (value == 0 || value < low || value > high) return std::nullopt;
  return value;
}

std::optional<absl::Weekday> WeekdayOf(std::string_view name) {
  constexpr std::pair<std::string_view, absl::Weekday> kNames[] = {
      {"MO", absl::Weekday::monday},    {"TU", absl::Weekday::tuesday},
      {"WE", absl::Weekday::wednesday}, {"TH", absl::Weekday::thursday},
      {"FR", absl::Weekday::friday},    {"SA", absl::Weekday::saturday},
      {"SU", absl::Weekday::sunday}};
  for (const auto& [known, weekday] : kNames) {
    if (name == known) return weekday;
  }
  return std::nullopt;
}

// Whether `day`, at position `at` of a span of `length` days (both from 1), is the n-th of its
// weekday in the span; n < 0 counts from the end.
bool IsNth(int n, int64_t at, int64_t length) {
  return n > 0 ? (at - 1) / 7 + 1 == n : (length - at) / 7 + 1 == -n;
}

int64_t DaysInMonth(absl::CivilDay day) {
  const absl::CivilMonth month(day);
  return absl::CivilDay(month + 1) - absl::CivilDay(month);
}

}  // namespace

absl::StatusOr<absl::CivilDay> ParseICalDate(std::string_view text) {
  const std::string_view date = text.substr(0, 8);
  const std::string_view rest = text.substr(date.size());
  int value = 0;
  for (const char c : date) {
    if (date.size() != 8 || c < '0' || c > '9') return Invalid(Of(text) + " is no date (YYYYMMDD)");
    value = value * 10 + (c - '0');
  }
  const absl::CivilDay day(value / 10000, value / 100 % 100, value % 100);
  const bool exists =
      day.year() == value / 10000 && day.month() == value / 100 % 100 && day.day() == value % 100;
  if (!exists || day.year() < 1900 || day.year() > 2200) {
    return Invalid(Of(text) + " is no date of the years 1900 to 2200");
  }
  if (!rest.empty() && rest != "T000000" && rest != "T000000Z") {
    return Invalid(Of(text) + " has a time of day; a calendar is made of whole days");
  }
  return day;
}

absl::StatusOr<Recurrence> Recurrence::Parse(std::string_view rule) {
  Recurrence out;
  for (const std::string_view part : Split(rule, ';')) {
    const size_t equals = part.find('=');
    if (equals == part.npos) return Invalid("RRULE: " + Of(part) + " is not KEY=VALUE");
    absl::Status status = out.ParsePart(part.substr(0, equals), part.substr(equals + 1));
    if (!status.ok()) return status;
  }
  if (!out.frequency_) return Invalid("RRULE: FREQ is missing");
  if (out.count_ && out.until_) return Invalid("RRULE: COUNT and UNTIL exclude each other");
  const bool nth = std::any_of(out.days_.begin(), out.days_.end(),
                               [](const auto& day) { return day.first != 0; });
  if (nth && (*out.frequency_ == Frequency::kDaily || *out.frequency_ == Frequency::kWeekly)) {
    return Invalid("RRULE: a numbered BYDAY needs FREQ MONTHLY or YEARLY");
  }
  if (!out.month_days_.empty() && *out.frequency_ == Frequency::kWeekly) {
    return Invalid("RRULE: BYMONTHDAY has no meaning with FREQ=WEEKLY");
  }
  return out;
}

absl::Status Recurrence::ParsePart(std::string_view key, std::string_view value) {
  const auto numbers = [&](int low, int high, std::vector<int>* out) {
    for (const std::string_view item : Split(value, ',')) {
      const std::optional<int> number = Number(item, low, high);
      if (!number) return Invalid("RRULE: " + std::string(key) + "=" + Of(value));
      out->push_back(*number);
    }
    return absl::OkStatus();
  };
  if (key == "FREQ") return ParseFrequency(value);
  if (key == "BYMONTH") return numbers(1, 12, &months_);
  if (key == "BYMONTHDAY") return numbers(-31, 31, &month_days_);
  if (key == "BYDAY") return ParseDays(value);
  if (key == "INTERVAL" || key == "COUNT") {
    const std::optional<int> number = Number(value, 1, 100000);
    if (!number) return Invalid("RRULE: " + std::string(key) + "=" + Of(value));
    if (key == "COUNT") count_ = number;
    if (key == "INTERVAL") interval_ = *number;
    return absl::OkStatus();
  }
  if (key == "WKST") {
    const std::optional<absl::Weekday> weekday = WeekdayOf(value);
    if (!weekday) return Invalid("RRULE: WKST=" + Of(value));
    week_start_ = *weekday;
    return absl::OkStatus();
  }
  if (key == "UNTIL") {
    // A time of day only says how far into that day: the day itself is still in.
    absl::StatusOr<absl::CivilDay> day = ParseICalDate(value.substr(0, 8));
    if (!day.ok()) return day.status();
    until_ = *day;
    return absl::OkStatus();
  }
  return Invalid("RRULE: " + std::string(key) + " is not understood: list the dates instead");
}

absl::Status Recurrence::ParseFrequency(std::string_view value) {
  if (value == "DAILY") frequency_ = Frequency::kDaily;
  if (value == "WEEKLY") frequency_ = Frequency::kWeekly;
  if (value == "MONTHLY") frequency_ = Frequency::kMonthly;
  if (value == "YEARLY") frequency_ = Frequency::kYearly;
  if (frequency_) return absl::OkStatus();
  return Invalid("RRULE: FREQ=" + Of(value) + " is none of DAILY, WEEKLY, MONTHLY, YEARLY");
}

absl::Status Recurrence::ParseDays(std::string_view value) {
  for (const std::string_view item : Split(value, ',')) {
    const size_t name_at = item.size() < 2 ? 0 : item.size() - 2;
    const std::optional<absl::Weekday> weekday = WeekdayOf(item.substr(name_at));
    const std::optional<int> n = name_at == 0 ? 0 : Number(item.substr(0, name_at), -53, 53);
    if (!weekday || !n) return Invalid("RRULE: BYDAY=" + Of(value));
    days_.emplace_back(*n, *weekday);
  }
  return absl::OkStatus();
}

std::vector<absl::CivilDay> Recurrence::Days(absl::CivilDay start, absl::CivilDay last) const {
  std::vector<absl::CivilDay> days;
  if (until_) last = std::min(last, *until_);
  for (absl::CivilDay day = start; day <= last; ++day) {
    if (count_ && days.size() >= static_cast<size_t>(*count_)) break;
    if (day == start || (InPeriod(start, day) && Fits(start, day))) days.push_back(day);
  }
  return days;
}

bool Recurrence::InPeriod(absl::CivilDay start, absl::CivilDay day) const {
  switch (*frequency_) {
    case Frequency::kDaily:
      return (day - start) % interval_ == 0;
    case Frequency::kWeekly: {
      const absl::CivilDay first_week = absl::PrevWeekday(start + 1, week_start_);
      return (day - first_week) / 7 % interval_ == 0;
    }
    case Frequency::kMonthly:
      return (absl::CivilMonth(day) - absl::CivilMonth(start)) % interval_ == 0;
    case Frequency::kYearly:
      return (day.year() - start.year()) % interval_ == 0;
  }
  return false;
}

bool Recurrence::Fits(absl::CivilDay start, absl::CivilDay day) const {
  if (!months_.empty() && std::find(months_.begin(), months_.end(), day.month()) == months_.end()) {
    return false;
  }
  if (!days_.empty() || !month_days_.empty()) return FitsWeekday(day) && FitsMonthDay(day);
  switch (*frequency_) {
    case Frequency::kDaily:
      return true;
    case Frequency::kWeekly:
      return absl::GetWeekday(day) == absl::GetWeekday(start);
    case Frequency::kMonthly:
      return day.day() == start.day();
    case Frequency::kYearly:
      return day.day() == start.day() && (!months_.empty() || day.month() == start.month());
  }
  return false;
}

bool Recurrence::FitsWeekday(absl::CivilDay day) const {
  if (days_.empty()) return true;
  const bool in_year = *frequency_ == Frequency::kYearly && months_.empty();
  const int64_t at = in_year ? absl::GetYearDay(day) : day.day();
  const absl::CivilYear year(day);
  const int64_t length =
      in_year ? absl::CivilDay(year + 1) - absl::CivilDay(year) : DaysInMonth(day);
  return std::any_of(days_.begin(), days_.end(), [&](const auto& item) {
    return item.second == absl::GetWeekday(day) &&
           (item.first == 0 || IsNth(item.first, at, length));
  });
}

bool Recurrence::FitsMonthDay(absl::CivilDay day) const {
  if (month_days_.empty()) return true;
  const int64_t from_end = day.day() - DaysInMonth(day) - 1;
  return std::any_of(month_days_.begin(), month_days_.end(),
                     [&](int n) { return n == day.day() || n == from_end; });
}

}  // namespace tidemark
