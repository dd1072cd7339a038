// Cron expressions: parsing into bit sets, and the next instant that one names in a zone.
#ifndef TIDEMARK_SCHEDULER_CORE_TIME_CRON_H_
#define TIDEMARK_SCHEDULER_CORE_TIME_CRON_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/core/time/zone.h"

namespace tidemark {

enum class Dialect {
  kAuto,    // by field count: 5 → Vixie, 6 or 7 → Quartz
  kQuartz,  // sec min hour dom month dow [year]; weekdays 1 = SUN … 7 = SAT
  kSpring,  // sec min hour dom month dow; weekdays 1 = MON … 7 = SUN, 0 = SUN
  kVixie,   // min hour dom month dow; weekdays 0 or 7 = SUN … 6 = SAT
};

// "auto", "quartz", "spring", "vixie".
std::string_view DialectName(Dialect dialect);
// The dialect of that name; kInvalidArgument otherwise. "" is kAuto.
absl::StatusOr<Dialect> ParseDialect(std::string_view name);

// What an expression says, as bit sets. Bit i stands for the value i, unless said otherwise.
struct CronFields {
  uint64_t seconds = 0;             // 0–59
  uint64_t minutes = 0;             // 0–59
  uint32_t hours = 0;               // 0–23
  uint32_t days = 0;                // of the month, 1–31
  uint32_t days_from_last = 0;      // L-n: bit n, 0–30
  uint32_t nearest_weekdays = 0;    // nW: bit n, 1–31
  uint32_t last_nearest = 0;        // L-nW (LW is n = 0): bit n, 0–30
  uint16_t months = 0;              // 1–12
  uint8_t weekdays = 0;             // 0 = SUN … 6 = SAT
  int8_t nth = 0;                   // day-of-week n of the month: 1–5; -1: the last one; 0: every
  std::array<uint64_t, 4> years{};  // bit (year - 1970), 1970–2199
  bool any_year = true;             // no year field, or `*`
  bool either_day = false;          // a day of either day field counts; else it must be in both
};

// One fire: the local time that the expression names, and its instant.
struct Fire {
  absl::CivilSecond nominal;
  absl::Time instant;
  CivilKind kind;
};

// A cron expression. A small value: copy it freely; const calls are thread-safe.
class Cron {
 public:
  // Years that a year field may name.
  static constexpr int kFirstYear = 1970, kLastYear = 2199;
  // Nothing is looked for beyond this year: at least two centuries from any year above.
  static constexpr int kHorizon = 2399;
  // No call of Next takes more loop steps, whatever the expression.
  static constexpr int kMaxSteps = 20000;

  // kInvalidArgument names the field, the offset in bytes from the start of `expr`, the reason
  // and, where there is one, the likely meaning. Accepts expressions that never fire.
  static absl::StatusOr<Cron> Parse(std::string_view expr, Dialect dialect = Dialect::kAuto);

  // How fires meet the changes of a zone's offset.
  enum class Rule {
    kAsWritten,  // wildcard times skip gaps and fire on both passes of a fold; fixed times as below
    kFixed,      // a time in a gap fires at the first instant after it, a repeated one on the
                 // first pass: once a local day
  };

  // The first fire strictly after `after`; empty: never again. Several fixed times that one gap
  // moves to the same instant are one fire, with the earliest nominal. Looks to the end of the
  // year kHorizon.
  // Allocates nothing. `steps`, if given, receives the loop steps taken.
  std::optional<Fire> Next(absl::Time after, const absl::TimeZone& zone,
                           Rule rule = Rule::kAsWritten, int* steps = nullptr) const;

  // True when the day fields, months and years name that date, whatever the time.
  bool MatchesDate(absl::CivilDay date) const;
  // True when the expression names that local second.
  bool Matches(absl::CivilSecond local) const;

  // The days of a month that the day fields name: bit d for day d, 1–31. Looks at neither the
  // months nor the years field.
  uint32_t DaysOfMonth(int year, int month) const;

  // Whether the seconds, minutes or hours field has `*`, `-` or `/`.
  bool IsWildcard() const { return wildcard_; }
  // No date from 1970 on fits: refused when a job is saved.
  bool NeverFires() const;
  // Times of day that the expression names, at most 86,400. 1: at most one fire a local day.
  int TimesPerDay() const;
  // The first time of day, as an offset from midnight in seconds.
  int FirstSecondOfDay() const;
  // A day-of-week field of six or seven fields that uses numbers: easily misread.
  bool NumericWeekdays() const { return numeric_weekdays_; }
  // The dialect it was read in; never kAuto.
  Dialect dialect() const { return dialect_; }
  const CronFields& fields() const { return fields_; }

 private:
  friend class CronParser;
  CronFields fields_;
  Dialect dialect_ = Dialect::kVixie;
  bool wildcard_ = false;
  bool numeric_weekdays_ = false;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_TIME_CRON_H_
