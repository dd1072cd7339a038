#include "scheduler/core/time/cron_explain.h"

#include <bit>
#include <optional>

#include "scheduler/core/time/cron_text.h"

namespace tidemark {
namespace {

constexpr int kListedDates = 4;
constexpr int kMostChanges = 4;  // gaps and folds told one by one

std::string Instant(absl::Time time, const absl::TimeZone& zone) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%S%Ez", time, zone);
}

std::string Civil(absl::CivilSecond time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::FromCivil(time, absl::UTCTimeZone()),
                          absl::UTCTimeZone());
}

// "next: 2026-01-31, 2026-03-31, …"
std::string NextDates(const Cron& cron, const absl::TimeZone& zone, absl::Time from) {
  std::string list;
  absl::CivilDay before;
  for (int i = 0; i < kListedDates;) {
    const std::optional<Fire> fire = cron.Next(from, zone);
    if (!fire) break;
    const absl::CivilDay date(fire->nominal);
    if (i == 0 || date != before) {
      list += (i == 0 ? "" : ", ") + absl::FormatCivilTime(date);
      ++i;
    }
    before = date;
    // On to the next date, however often it fires on this one.
    from = std::max(fire->instant,
                    absl::FromCivil(absl::CivilSecond(date + 1), zone) - absl::Seconds(1));
  }
  return "; next: " + list;
}

// The first local time in [from, to) that the expression names.
std::optional<absl::CivilSecond> NamedWithin(const Cron& cron, absl::CivilSecond from,
                                             absl::CivilSecond to) {
  const absl::TimeZone utc = absl::UTCTimeZone();
  const std::optional<Fire> fire = cron.Next(absl::FromCivil(from, utc) - absl::Seconds(1), utc);
  if (!fire || fire->nominal >= to) return std::nullopt;
  return fire->nominal;
}

// What happens to an expression that meets one change of the zone's offset; empty: nothing.
std::string ChangeWarning(const Cron& cron, const absl::TimeZone& zone,
                          const absl::TimeZone::CivilTransition& change) {
  const bool gap = change.to > change.from;
  const absl::CivilSecond low = gap ? change.from : change.to;
  const absl::CivilSecond high = gap ? change.to : change.from;
  const std::optional<absl::CivilSecond> named = NamedWithin(cron, low, high);
  if (!named) return "";
  const std::string what = Civil(low) + " to " + Civil(high) + " " +
                           (gap ? "does not exist" : "comes twice") + " in " + zone.name() + ": ";
  if (cron.IsWildcard() && cron.TimesPerDay() > 1) {
    return what + (gap ? "nothing fires in it" : "it fires on both passes (a dated job: once)");
  }
  const std::optional<FixedInstant> fixed = ResolveFixed(*named, zone);
  if (!fixed) return what + "nothing fires on that date";
  return what + "the run of " + Civil(*named) + " fires at " + Instant(fixed->instant, zone) +
         (gap ? "" : ", once");
}

void WarnOfChanges(const Cron& cron, const absl::TimeZone& zone, absl::Time from,
                   std::vector<std::string>* out) {
  const absl::Time end = from + absl::Hours(24 * 366);
  absl::Time now = from;
  absl::TimeZone::CivilTransition change;
  for (int told = 0; told < kMostChanges && zone.NextTransition(now, &change);) {
    now += absl::Seconds(change.from - absl::ToCivilSecond(now, zone));
    if (now > end) break;
    const std::string warning = ChangeWarning(cron, zone, change);
    if (warning.empty()) continue;
    out->push_back(warning);
    ++told;
  }
}

// Months, over the four years from `from`, that the expression names and none of whose days fit.
uint16_t EmptyMonths(const Cron& cron, absl::CivilMonth from) {
  uint16_t empty = 0;
  for (absl::CivilMonth month = from; month < from + 48; ++month) {
    if ((cron.fields().months >> month.month() & 1) == 0) continue;
    const int year = static_cast<int>(month.year());
    if (cron.DaysOfMonth(year, month.month()) == 0) {
      empty |= static_cast<uint16_t>(1 << month.month());
    }
  }
  return empty;
}

std::string MonthList(uint16_t months) {
  std::string list;
  for (int month = 1; month <= 12; ++month) {
    if ((months >> month & 1) != 0) {
      list += (list.empty() ? "" : ", ") + std::string(MonthName(month));
    }
  }
  return list;
}

void WarnOfDays(const Cron& cron, const absl::TimeZone& zone, absl::Time from,
                std::vector<std::string>* out) {
  const CronFields& f = cron.fields();
  const uint16_t empty = EmptyMonths(cron, absl::CivilMonth(absl::ToCivilDay(from, zone)));
  if (empty != 0) {
    const bool february29 = empty == 1 << 2 && f.months == 1 << 2;
    out->push_back(february29
                       ? "most years have no such day in FEB" + NextDates(cron, zone, from)
                       : "some months have no such day and are skipped (" + MonthList(empty) +
                             "; nothing is moved to another day)" + NextDates(cron, zone, from));
  } else if (std::popcount(f.days) < 20 && (f.days >> 29) != 0 && f.days != 0) {
    out->push_back("short months lack the last of these days; L is the last day of any month" +
                   NextDates(cron, zone, from));
  }
  if (f.either_day) {
    out->push_back("both day fields are set: a day of either fires" + NextDates(cron, zone, from));
  }
}

// The step of a set that is evenly spaced over the whole of 0…size-1 (or 1…size), three values
// or more; 0: none.
int StepOf(uint64_t bits, int first, int size) {
  if (std::popcount(bits) < 3) return 0;
  const int begin = std::countr_zero(bits);
  const int step = std::countr_zero(bits & (bits - 1)) - begin;
  uint64_t even = 0;
  for (int value = begin; value < first + size; value += step) even |= uint64_t{1} << value;
  return step > 1 && begin - first < step && bits == even ? step : 0;
}

void WarnOfSteps(const Cron& cron, std::vector<std::string>* out) {
  const CronFields& f = cron.fields();
  const auto warn = [out](int step, int size, const std::string& unit, const std::string& of) {
    if (step == 0 || size % step == 0) return;
    out->push_back("a step of " + std::to_string(step) + " " + unit + " starts afresh every " + of +
                   ": the last interval is shorter");
  };
  warn(StepOf(f.seconds, 0, 60), 60, "seconds", "minute");
  warn(StepOf(f.minutes, 0, 60), 60, "minutes", "hour");
  warn(StepOf(f.hours, 0, 24), 24, "hours", "day");
  if (f.days_from_last == 0 && f.nearest_weekdays == 0 && f.last_nearest == 0) {
    if (const int step = StepOf(f.days, 1, 31); step != 0) {
      out->push_back("a step of " + std::to_string(step) +
                     " days starts afresh on the 1st of every month: the last interval is shorter");
    }
  }
}

}  // namespace

std::vector<std::string> CronWarnings(const Cron& cron, Dialect stated, const absl::TimeZone& zone,
                                      absl::Time from) {
  std::vector<std::string> warnings;
  if (cron.NumericWeekdays() && stated == Dialect::kAuto) {
    warnings.push_back("weekday numbers are read as Quartz does, 1 = SUN: " + CronInWords(cron) +
                       "; write names, or state the dialect (quartz or spring)");
  }
  if (cron.NeverFires()) {
    warnings.push_back("no date fits: it never fires, and a job with it is refused");
    return warnings;
  }
  if (!cron.Next(from, zone)) {
    warnings.push_back("nothing fires after " + Instant(from, zone));
    return warnings;
  }
  WarnOfDays(cron, zone, from, &warnings);
  WarnOfSteps(cron, &warnings);
  WarnOfChanges(cron, zone, from, &warnings);
  return warnings;
}

}  // namespace tidemark
