#include "scheduler/core/time/cron.h"

#include <algorithm>
#include <bit>
#include <string>

namespace tidemark {
namespace {

int DaysIn(int year, int month) {
  return static_cast<int>(absl::CivilDay(absl::CivilMonth(year, month) + 1) -
                          absl::CivilDay(year, month, 1));
}

// 0 = SUN … 6 = SAT.
int WeekdayOf(absl::CivilDay day) {
  return (static_cast<int>(absl::GetWeekday(day)) + 1) % 7;  // absl counts from Monday
}

constexpr uint32_t DayRange(int first, int last) {
  return static_cast<uint32_t>((uint64_t{2} << last) - (uint64_t{1} << first));
}

// The days of a month that fall on `weekdays`, when day 1 is on weekday `first`.
uint32_t DaysOnWeekdays(uint8_t weekdays, int first) {
  const uint64_t rotated = ((weekdays >> first) | (weekdays << (7 - first))) & 0x7f;
  const uint64_t weeks = rotated | rotated << 7 | rotated << 14 | rotated << 21 | rotated << 28;
  return static_cast<uint32_t>(weeks << 1);
}

// The weekday (Monday to Friday) nearest to `day` in the same month.
int NearestWeekday(int day, int last, int first_weekday) {
  switch ((first_weekday + day - 1) % 7) {
    case 6:
      return day > 1 ? day - 1 : day + 2;
    case 0:
      return day < last ? day + 1 : day - 2;
    default:
      return day;
  }
}

template <typename Visit>
void ForEachBit(uint32_t bits, Visit visit) {
  for (; bits != 0; bits &= bits - 1) visit(std::countr_zero(bits));
}

uint32_t DaysByDate(const CronFields& fields, int last, int first_weekday) {
  uint32_t days = fields.days;
  ForEachBit(fields.days_from_last, [&](int n) {
    if (n < last) days |= uint32_t{1} << (last - n);
  });
  ForEachBit(fields.nearest_weekdays, [&](int day) {
    if (day <= last) days |= uint32_t{1} << NearestWeekday(day, last, first_weekday);
  });
  ForEachBit(fields.last_nearest, [&](int n) {
    if (n < last) days |= uint32_t{1} << NearestWeekday(last - n, last, first_weekday);
  });
  return days;
}

uint32_t DaysByWeekday(const CronFields& fields, int last, int first_weekday) {
  const uint32_t days = DaysOnWeekdays(fields.weekdays, first_weekday);
  if (fields.nth == 0) return days;
  if (fields.nth < 0) return days & DayRange(last - 6, last);
  return days & DayRange(7 * fields.nth - 6, std::min(7 * fields.nth, 31));
}

bool YearFits(const CronFields& fields, int64_t year) {
  if (fields.any_year) return true;
  if (year < Cron::kFirstYear || year > Cron::kLastYear) return false;
  const int bit = static_cast<int>(year - Cron::kFirstYear);
  return (fields.years[bit / 64] >> (bit % 64) & 1) != 0;
}

}  // namespace

std::string_view DialectName(Dialect dialect) {
  switch (dialect) {
    case Dialect::kAuto:
      return "auto";
    case Dialect::kQuartz:
      return "quartz";
    case Dialect::kSpring:
      return "spring";
    case Dialect::kVixie:
      return "vixie";
  }
  return "";
}

absl::StatusOr<Dialect> ParseDialect(std::string_view name) {
  if (name.empty()) return Dialect::kAuto;
  for (const Dialect dialect :
       {Dialect::kAuto, Dialect::kQuartz, Dialect::kSpring, Dialect::kVixie}) {
    if (name == DialectName(dialect)) return dialect;
  }
  return absl::InvalidArgumentError("unknown cron dialect \"" + std::string(name) +
                                    "\": write quartz, spring or vixie, or leave it out");
}

uint32_t Cron::DaysOfMonth(int year, int month) const {
  const int last = DaysIn(year, month);
  const int first_weekday = WeekdayOf(absl::CivilDay(year, month, 1));
  const uint32_t by_date = DaysByDate(fields_, last, first_weekday);
  const uint32_t by_weekday = DaysByWeekday(fields_, last, first_weekday);
  const uint32_t days = fields_.either_day ? by_date | by_weekday : by_date & by_weekday;
  return days & DayRange(1, last);
}

bool Cron::MatchesDate(absl::CivilDay date) const {
  if (!YearFits(fields_, date.year()) || (fields_.months >> date.month() & 1) == 0) return false;
  return (DaysOfMonth(static_cast<int>(date.year()), date.month()) >> date.day() & 1) != 0;
}

bool Cron::Matches(absl::CivilSecond local) const {
  return (fields_.seconds >> local.second() & 1) != 0 &&
         (fields_.minutes >> local.minute() & 1) != 0 && (fields_.hours >> local.hour() & 1) != 0 &&
         MatchesDate(absl::CivilDay(local));
}

bool Cron::NeverFires() const {
  // The calendar repeats every 400 years.
  const int first = fields_.any_year ? 2000 : kFirstYear;
  const int last = fields_.any_year ? 2399 : kLastYear;
  for (int year = first; year <= last; ++year) {
    if (!YearFits(fields_, year)) continue;
    for (int month = 1; month <= 12; ++month) {
      if ((fields_.months >> month & 1) != 0 && DaysOfMonth(year, month) != 0) return false;
    }
  }
  return true;
}

int Cron::TimesPerDay() const {
  return std::popcount(fields_.seconds) * std::popcount(fields_.minutes) *
         std::popcount(fields_.hours);
}

int Cron::FirstSecondOfDay() const {
  return std::countr_zero(fields_.hours) * 3600 + std::countr_zero(fields_.minutes) * 60 +
         std::countr_zero(fields_.seconds);
}

}  // namespace tidemark
