#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "scheduler/core/time/cron_field.h"
#include "scheduler/core/time/cron_text.h"

namespace tidemark {
namespace {

constexpr size_t kMaxLength = 1024;

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// The blank-separated fields; of more than it can hold it keeps only the count.
struct Fields {
  static constexpr size_t kMost = 8;
  std::array<std::string_view, kMost> text;
  size_t count = 0;

  std::string_view operator[](size_t i) const { return text[i]; }
};

Fields Split(std::string_view expr) {
  Fields fields;
  for (size_t i = 0; i < expr.size();) {
    while (i < expr.size() && IsBlank(expr[i])) ++i;
    const size_t begin = i;
    while (i < expr.size() && !IsBlank(expr[i])) ++i;
    if (i == begin) break;
    if (fields.count < Fields::kMost) fields.text[fields.count] = expr.substr(begin, i - begin);
    ++fields.count;
  }
  return fields;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

struct Macro {
  std::string_view name, meaning;
};
constexpr Macro kMacros[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
};

}  // namespace

// Reads a whole expression. A throw-away object on the stack.
class CronParser {
 public:
  CronParser(std::string_view expr, Dialect dialect) : expr_(expr), stated_(dialect) {}

  absl::StatusOr<Cron> Parse() {
    fields_ = Split(expr_);
    if (absl::Status status = CheckText(); !status.ok()) return status;
    if (fields_[0][0] == '@') return ParseMacro();
    if (absl::Status status = ChooseDialect(); !status.ok()) return status;
    if (absl::Status status = ParseFields(); !status.ok()) return status;
    cron_.dialect_ = dialect_;
    return cron_;
  }

 private:
  size_t OffsetOf(std::string_view part) const {
    return static_cast<size_t>(part.data() - expr_.data());
  }

  absl::Status Error(size_t offset, const std::string& reason, const std::string& hint = "") const {
    return CronError(expr_, "", offset, reason, hint);
  }

  absl::Status CheckText() const {
    if (fields_.count == 0) {
      return Error(0,
                   "the expression is empty: write five fields (min hour dom month dow) or six "
                   "with the seconds in front");
    }
    if (expr_.size() > kMaxLength) return Error(kMaxLength, "longer than 1024 bytes");
    if (StartsWith(expr_.substr(OffsetOf(fields_[0])), "TZ=") ||
        StartsWith(fields_[0], "CRON_TZ=")) {
      return Error(OffsetOf(fields_[0]),
                   "the zone is not part of the expression: state it as zone");
    }
    for (size_t i = 0; i < std::min(fields_.count, Fields::kMost); ++i) {
      for (const char& c : fields_[i]) {
        if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) continue;
        return CronError(expr_, NameOfField(i), static_cast<size_t>(&c - expr_.data()),
                         "control characters are refused");
      }
    }
    return absl::OkStatus();
  }

  // The field's name as far as the count of fields tells it.
  std::string NameOfField(size_t i) const {
    const size_t count = fields_.count;
    if (count < 5 || count > 7) return "number " + std::to_string(i + 1);
    const Dialect dialect = count == 5 ? Dialect::kVixie : Dialect::kQuartz;
    return std::string(RuleOf(FieldAt(dialect, i), dialect).name);
  }

  absl::StatusOr<Cron> ParseMacro() const {
    const size_t offset = OffsetOf(fields_[0]);
    const std::string name = Lower(fields_[0]);
    if (name == "@every") {
      return Error(offset, "a fixed rate is no cron expression: write every: 1h instead of cron");
    }
    if (name == "@reboot") {
      return Error(offset, "@reboot is no point in time: a job is due at times, not at starts");
    }
    if (fields_.count > 1) {
      return Error(OffsetOf(fields_[1]), Quoted(fields_[1]) + " after " + Quoted(fields_[0]));
    }
    for (const Macro& macro : kMacros) {
      if (name == macro.name) return CronParser(macro.meaning, Dialect::kVixie).Parse();
    }
    return Error(offset, Quoted(fields_[0]) +
                             " is none of @yearly @annually @monthly @weekly @daily @midnight "
                             "@hourly");
  }

  absl::Status ChooseDialect() {
    const size_t count = fields_.count;
    dialect_ = stated_;
    if (stated_ == Dialect::kAuto) {
      dialect_ = count == 5 ? Dialect::kVixie : Dialect::kQuartz;
    }
    const bool fits = dialect_ == Dialect::kVixie    ? count == 5
                      : dialect_ == Dialect::kSpring ? count == 6
                                                     : count == 6 || count == 7;
    if (fits) return absl::OkStatus();
    std::string reason = std::to_string(count) + (count == 1 ? " field; " : " fields; ");
    switch (stated_) {
      case Dialect::kVixie:
        reason += "the Vixie dialect has five: min hour dom month dow";
        break;
      case Dialect::kSpring:
        reason += "the Spring dialect has six: sec min hour dom month dow";
        break;
      case Dialect::kQuartz:
        reason += "the Quartz dialect has six or seven: sec min hour dom month dow [year]";
        break;
      case Dialect::kAuto:
        reason +=
            "there are five (min hour dom month dow), six (sec min hour dom month dow) or "
            "seven (with the year at the end)";
        break;
    }
    return Error(OffsetOf(fields_[std::min<size_t>(count, 8) - 1]), reason);
  }

  absl::Status ParseFields() {
    const size_t days = dialect_ == Dialect::kVixie ? 2 : 3;
    if (absl::Status status = CheckDayFields(days, days + 2); !status.ok()) return status;
    cron_.fields_.seconds = 1;
    for (size_t i = 0; i < fields_.count; ++i) {
      const FieldRule rule = RuleOf(FieldAt(dialect_, i), dialect_);
      const bool any =
          fields_[i] == "?" && (i == days || i == days + 2) && dialect_ != Dialect::kVixie;
      const std::string_view text = fields_[i];
      absl::StatusOr<FieldValues> values = any ? FieldParser("*", "*", rule, dialect_).Parse()
                                               : FieldParser(expr_, text, rule, dialect_).Parse();
      if (!values.ok()) return values.status();
      Store(rule, *values, text);
    }
    return RefuseTwoDayFields(days, days + 2);
  }

  // What the table of dialects says about the two day fields together.
  absl::Status CheckDayFields(size_t days, size_t weekdays) {
    if (dialect_ == Dialect::kVixie) {
      cron_.fields_.either_day = fields_[days][0] != '*' && fields_[weekdays][0] != '*';
      return absl::OkStatus();
    }
    if (fields_[days] == "?" && fields_[weekdays] == "?") {
      return CronError(expr_, "day-of-week", OffsetOf(fields_[weekdays]),
                       "both day fields are ?: one of them must say *", "*");
    }
    return absl::OkStatus();
  }

  // After the fields themselves, so that what is wrong inside one is told first.
  absl::Status RefuseTwoDayFields(size_t days, size_t weekdays) const {
    const auto open = [this](size_t i) { return fields_[i] == "*" || fields_[i] == "?"; };
    if (dialect_ == Dialect::kVixie || open(days) || open(weekdays)) return absl::OkStatus();
    return CronError(expr_, "day-of-week", OffsetOf(fields_[weekdays]),
                     "both day fields are set: put ? into the day-of-month or the day-of-week "
                     "field",
                     "?");
  }

  void Store(const FieldRule& rule, const FieldValues& values, std::string_view text) {
    CronFields& out = cron_.fields_;
    const uint64_t bits = values.values[0];
    const bool wild = text.find_first_of("*-/") != text.npos;
    switch (rule.kind) {
      case FieldKind::kSeconds:
        out.seconds = bits;
        cron_.wildcard_ |= wild;
        break;
      case FieldKind::kMinutes:
        out.minutes = bits;
        cron_.wildcard_ |= wild;
        break;
      case FieldKind::kHours:
        out.hours = static_cast<uint32_t>(bits);
        cron_.wildcard_ |= wild;
        break;
      case FieldKind::kDays:
        out.days = static_cast<uint32_t>(bits);
        out.days_from_last = values.days_from_last;
        out.nearest_weekdays = values.nearest_weekdays;
        out.last_nearest = values.last_nearest;
        break;
      case FieldKind::kMonths:
        out.months = static_cast<uint16_t>(bits);
        break;
      case FieldKind::kWeekdays:
        StoreWeekdays(values);
        break;
      case FieldKind::kYears:
        out.any_year = text == "*";
        out.years = values.values;
        break;
    }
  }

  void StoreWeekdays(const FieldValues& values) {
    for (int number = 0; number <= 7; ++number) {
      if ((values.values[0] >> number & 1) == 0) continue;
      const int weekday = dialect_ == Dialect::kQuartz ? number - 1 : number % 7;
      cron_.fields_.weekdays |= static_cast<uint8_t>(1 << weekday);
    }
    cron_.fields_.nth = static_cast<int8_t>(values.nth);
    cron_.numeric_weekdays_ = values.has_numbers && dialect_ != Dialect::kVixie;
  }

  const std::string_view expr_;
  const Dialect stated_;
  Fields fields_;
  Dialect dialect_ = Dialect::kAuto;
  Cron cron_;
};

absl::StatusOr<Cron> Cron::Parse(std::string_view expr, Dialect dialect) {
  return CronParser(expr, dialect).Parse();
}

}  // namespace tidemark
