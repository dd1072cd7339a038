#include "common/time_text.h"

#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <optional>

#include "absl/strings/numbers.h"
#include "common/text.h"

namespace tidemark {
namespace {

absl::Status Bad(std::string_view what, std::string_view text, std::string_view form) {
  return absl::InvalidArgumentError(ToAbsl("'" + EscapeControl(text) + "' is not " +
                                           std::string(what) + " (" + std::string(form) + ")"));
}

// Reads exactly `digits` digits at the front of `text`; -1 when they are not there.
int TakeDigits(std::string_view& text, size_t digits) {
  if (text.size() < digits) return -1;
  int value = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool TakeChar(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

bool TakeDay(std::string_view& text, absl::CivilDay* day) {
  const int year = TakeDigits(text, 4);
  if (year < 1900 || year > 2399 || !TakeChar(text, '-')) return false;
  const int month = TakeDigits(text, 2);
  if (!TakeChar(text, '-')) return false;
  const int dom = TakeDigits(text, 2);
  *day = absl::CivilDay(year, month, dom);
  return day->month() == month && day->day() == dom;  // not normalised: the date exists
}

bool TakeTimeOfDay(std::string_view& text, absl::CivilDay day, absl::CivilSecond* time) {
  const int hour = TakeDigits(text, 2);
  if (hour < 0 || hour > 23 || !TakeChar(text, ':')) return false;
  const int minute = TakeDigits(text, 2);
  if (minute < 0 || minute > 59 || !TakeChar(text, ':')) return false;
  const int second = TakeDigits(text, 2);
  *time = absl::CivilSecond(day.year(), day.month(), day.day(), hour, minute, second);
  return second >= 0 && second <= 59;
}

// Up to nine digits after a point, or nothing.
bool TakeFraction(std::string_view& text, absl::Duration* fraction) {
  *fraction = absl::ZeroDuration();
  if (!TakeChar(text, '.')) return true;
  absl::Duration unit = absl::Milliseconds(100);
  size_t digits = 0;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; ++digits) {
    if (digits == 9) return false;
    *fraction += (text.front() - '0') * unit;
    unit /= 10;
    text.remove_prefix(1);
  }
  return digits > 0;
}

bool TakeOffset(std::string_view& text, absl::Duration* offset) {
  *offset = absl::ZeroDuration();
  if (TakeChar(text, 'Z')) return true;
  const bool west = TakeChar(text, '-');
  if (!west && !TakeChar(text, '+')) return false;
  const int hours = TakeDigits(text, 2);
  if (hours < 0 || hours > 23 || !TakeChar(text, ':')) return false;
  const int minutes = TakeDigits(text, 2);
  if (minutes < 0 || minutes > 59) return false;
  *offset = (west ? -1 : 1) * (absl::Hours(hours) + absl::Minutes(minutes));
  return true;
}

struct Unit {
  std::string_view name;
  absl::Duration value;
};
const Unit kUnits[] = {{"d", absl::Hours(24)},
                       {"h", absl::Hours(1)},
                       {"ms", absl::Milliseconds(1)},
                       {"m", absl::Minutes(1)},
                       {"s", absl::Seconds(1)}};

}  // namespace

absl::StatusOr<absl::CivilDay> ParseDate(std::string_view text) {
  std::string_view rest = text;
  absl::CivilDay day;
  if (!TakeDay(rest, &day) || !rest.empty()) return Bad("a date", text, "YYYY-MM-DD");
  return day;
}

std::string FormatDate(absl::CivilDay day) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%04" PRId64 "-%02d-%02d", static_cast<int64_t>(day.year()),
                day.month(), day.day());
  return buffer;
}

std::string FormatCivil(absl::CivilSecond t) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "T%02d:%02d:%02d", t.hour(), t.minute(), t.second());
  return FormatDate(absl::CivilDay(t)) + buffer;
}

absl::StatusOr<absl::CivilSecond> ParseCivil(std::string_view text) {
  std::string_view rest = text;
  absl::CivilDay day;
  absl::CivilSecond time;
  if (TakeDay(rest, &day) && (TakeChar(rest, 'T') || TakeChar(rest, ' ')) &&
      TakeTimeOfDay(rest, day, &time) && rest.empty()) {
    return time;
  }
  return Bad("a local time", text, "YYYY-MM-DDThh:mm:ss");
}

absl::StatusOr<absl::Time> ParseInstant(std::string_view text) {
  std::string_view rest = text;
  absl::CivilDay day;
  absl::CivilSecond civil;
  absl::Duration fraction;
  absl::Duration offset;
  if (TakeDay(rest, &day) && TakeChar(rest, 'T') && TakeTimeOfDay(rest, day, &civil) &&
      TakeFraction(rest, &fraction) && TakeOffset(rest, &offset) && rest.empty()) {
    return absl::FromCivil(civil, absl::UTCTimeZone()) + fraction - offset;
  }
  return Bad("a time", text, "RFC 3339 with an offset, as 2026-11-28T01:00:00+08:00");
}

namespace {

// `width` digits of `value` at `at`.
void PutDigits(char* at, int64_t value, int width) {
  for (int i = width - 1; i >= 0; --i, value /= 10) at[i] = static_cast<char>('0' + value % 10);
}

// As FormatTime writes it, for the times that rows are full of: nullopt is for any other.
std::optional<std::string> UtcText(absl::Time time) {
  constexpr int64_t kNanos = 1'000'000'000;
  const int64_t nanos = absl::ToUnixNanos(time);
  if (absl::FromUnixNanos(nanos) != time) return std::nullopt;
  const int64_t fraction = (nanos % kNanos + kNanos) % kNanos;
  const absl::CivilSecond civil = absl::ToCivilSecond(time, absl::UTCTimeZone());
  if (civil.year() < 1000 || civil.year() > 9999) return std::nullopt;
  char text[] = "0000-00-00T00:00:00.000000000";
  PutDigits(text, civil.year(), 4);
  PutDigits(text + 5, civil.month(), 2);
  PutDigits(text + 8, civil.day(), 2);
  PutDigits(text + 11, civil.hour(), 2);
  PutDigits(text + 14, civil.minute(), 2);
  PutDigits(text + 17, civil.second(), 2);
  size_t length = 19;
  if (fraction != 0) {
    PutDigits(text + 20, fraction, 9);
    length = 29;
    while (text[length - 1] == '0') --length;
  }
  std::string out(text, length);
  out += 'Z';
  return out;
}

}  // namespace

std::string FormatInstant(absl::Time time, absl::TimeZone zone) {
  if (zone == absl::UTCTimeZone()) {
    if (std::optional<std::string> text = UtcText(time)) return *std::move(text);
  }
  std::string text = absl::FormatTime("%Y-%m-%dT%H:%M:%E*S%Ez", time, zone);
  if (text.size() > 6 && text.compare(text.size() - 6, 6, "+00:00") == 0 &&
      zone == absl::UTCTimeZone()) {
    text.replace(text.size() - 6, 6, "Z");
  }
  return text;
}

absl::StatusOr<absl::Duration> ParseDuration(std::string_view text) {
  constexpr std::string_view kForm = "a number with ms, s, m, h or d, as 90s, 5m or 1h30m";
  absl::Duration total;
  std::string_view rest = text;
  if (rest.empty()) return Bad("a duration", text, kForm);
  while (!rest.empty()) {
    size_t digits = 0;
    while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') ++digits;
    int64_t number = 0;
    if (digits == 0 || digits > 12 || !absl::SimpleAtoi(ToAbsl(rest.substr(0, digits)), &number)) {
      return Bad("a duration", text, kForm);
    }
    rest.remove_prefix(digits);
    const Unit* found = nullptr;
    for (const Unit& unit : kUnits) {
      if (rest.substr(0, unit.name.size()) == unit.name) {
        found = &unit;
        break;
      }
    }
    if (found == nullptr) return Bad("a duration", text, kForm);
    rest.remove_prefix(found->name.size());
    total += number * found->value;
  }
  if (total > absl::Hours(24 * 36500)) return Bad("a duration", text, "at most 36500d");
  return total;
}

std::string DurationText(absl::Duration d) {
  if (d <= absl::ZeroDuration()) return "0s";
  if (d == absl::InfiniteDuration()) return "unlimited";
  std::string out;
  const auto take = [&](absl::Duration unit, const char* name) {
    const int64_t n = absl::IDivDuration(d, unit, &d);
    if (n > 0) out += std::to_string(n) + name;
  };
  take(absl::Hours(24), "d");
  take(absl::Hours(1), "h");
  take(absl::Minutes(1), "m");
  take(absl::Seconds(1), "s");
  take(absl::Milliseconds(1), "ms");
  return out.empty() ? "0s" : out;
}

}  // namespace tidemark
