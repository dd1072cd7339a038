#include "scheduler/core/time/cron_text.h"

#include <cctype>

namespace tidemark {
namespace {

constexpr std::string_view kWeekdays[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};
constexpr std::string_view kMonths[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                        "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};

bool SameLetters(std::string_view text, std::string_view upper) {
  if (text.size() != upper.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::toupper(static_cast<unsigned char>(text[i])) != upper[i]) return false;
  }
  return true;
}

}  // namespace

FieldRule RuleOf(FieldKind kind, Dialect dialect) {
  switch (kind) {
    case FieldKind::kSeconds:
      return {kind, "seconds", 0, 59, 0, 60, 59};
    case FieldKind::kMinutes:
      return {kind, "minutes", 0, 59, 0, 60, 59};
    case FieldKind::kHours:
      return {kind, "hours", 0, 23, 0, 24, 23};
    case FieldKind::kDays:
      return {kind, "day-of-month", 1, 31, 1, 31, 31};
    case FieldKind::kMonths:
      return {kind, "month", 1, 12, 1, 12, 12};
    case FieldKind::kWeekdays:
      if (dialect == Dialect::kQuartz) return {kind, "day-of-week", 1, 7, 1, 7, 7};
      return {kind, "day-of-week", 0, 7, dialect == Dialect::kSpring ? 1 : 0, 7, 7};
    case FieldKind::kYears:
      return {kind, "year", Cron::kFirstYear, Cron::kLastYear, Cron::kFirstYear, 230, 229};
  }
  return {};
}

FieldKind FieldAt(Dialect dialect, size_t position) {
  return static_cast<FieldKind>(position + (dialect == Dialect::kVixie ? 1 : 0));
}

int NameValue(std::string_view name, const FieldRule& rule, Dialect dialect) {
  if (rule.kind == FieldKind::kMonths) {
    for (int month = 1; month <= 12; ++month) {
      if (SameLetters(name, MonthName(month))) return month;
    }
  }
  if (rule.kind == FieldKind::kWeekdays) {
    for (int day = 0; day <= 6; ++day) {
      if (!SameLetters(name, WeekdayName(day))) continue;
      if (dialect == Dialect::kQuartz) return day + 1;
      return dialect == Dialect::kSpring && day == 0 ? 7 : day;
    }
  }
  return -1;
}

std::string_view WeekdayName(int weekday) { return kWeekdays[weekday]; }
std::string_view MonthName(int month) { return kMonths[month - 1]; }

std::string Quoted(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const unsigned char c : text.substr(0, 80)) {
    if (c >= 0x20 && c < 0x7f) {
      out += static_cast<char>(c);
    } else {
      out += "\\x";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    }
  }
  out += text.size() > 80 ? "…\"" : "\"";
  return out;
}

absl::Status CronError(std::string_view expr, std::string_view field, size_t offset,
                       const std::string& reason, const std::string& hint) {
  std::string message = "cron " + Quoted(expr) + ": ";
  if (!field.empty()) message += std::string(field) + " field, ";
  message += "offset " + std::to_string(offset) + ": " + reason;
  if (!hint.empty()) message += "; did you mean " + Quoted(hint) + "?";
  return absl::InvalidArgumentError(message);
}

}  // namespace tidemark
