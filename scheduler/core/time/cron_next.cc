// The next fire of a cron expression. Local times are found from the bit sets month by month; the
// zone is asked only about those found, so a sparse expression costs as little as a dense one.
#include <algorithm>
#include <bit>

#include "scheduler/core/time/cron.h"

namespace tidemark {
namespace {

// The first set bit at or above `from`; -1: none.
int NextBit(uint64_t bits, int from) {
  if (from > 63) return -1;
  const uint64_t rest = bits & (~uint64_t{0} << from);
  return rest == 0 ? -1 : std::countr_zero(rest);
}

struct TimeOfDay {
  int hour, minute, second;
};

// Enumerates the local times that an expression names. Counts its loop steps, and gives up (as if
// nothing came any more) when they reach the bound that Cron promises.
class LocalTimes {
 public:
  explicit LocalTimes(const Cron& cron) : cron_(cron), fields_(cron.fields()) {}

  int steps() const { return steps_; }
  bool Step() { return ++steps_ < Cron::kMaxSteps; }

  // The first local time in [from, limit).
  std::optional<absl::CivilSecond> First(absl::CivilSecond from, absl::CivilSecond limit) {
    if (from >= limit) return std::nullopt;
    if (cron_.MatchesDate(absl::CivilDay(from))) {
      if (const auto time = FirstTime({from.hour(), from.minute(), from.second()})) {
        return Within(absl::CivilDay(from), *time, limit);
      }
    }
    const std::optional<absl::CivilDay> date = FirstDate(absl::CivilDay(from) + 1, limit);
    if (!date) return std::nullopt;
    return Within(*date, *FirstTime({0, 0, 0}), limit);
  }

 private:
  static std::optional<absl::CivilSecond> Within(absl::CivilDay date, TimeOfDay time,
                                                 absl::CivilSecond limit) {
    const absl::CivilSecond found(date.year(), date.month(), date.day(), time.hour, time.minute,
                                  time.second);
    if (found >= limit) return std::nullopt;
    return found;
  }

  std::optional<TimeOfDay> FirstTime(TimeOfDay from) const {
    if ((fields_.hours >> from.hour & 1) != 0) {
      if ((fields_.minutes >> from.minute & 1) != 0) {
        const int second = NextBit(fields_.seconds, from.second);
        if (second >= 0) return TimeOfDay{from.hour, from.minute, second};
      }
      const int minute = NextBit(fields_.minutes, from.minute + 1);
      if (minute >= 0) return TimeOfDay{from.hour, minute, NextBit(fields_.seconds, 0)};
    }
    const int hour = NextBit(fields_.hours, from.hour + 1);
    if (hour < 0) return std::nullopt;
    return TimeOfDay{hour, NextBit(fields_.minutes, 0), NextBit(fields_.seconds, 0)};
  }

  // The first date in [from, limit) that fits.
  std::optional<absl::CivilDay> FirstDate(absl::CivilDay from, absl::CivilSecond limit) {
    const int last_year = static_cast<int>(
        std::min<int64_t>(limit.year(), fields_.any_year ? Cron::kHorizon : Cron::kLastYear));
    int day = from.day();
    int month = from.month();
    for (int year = NextYear(static_cast<int>(from.year())); year >= 0 && year <= last_year;
         year = NextYear(year + 1)) {
      if (year != from.year()) month = day = 1;
      for (; (month = NextBit(fields_.months, month)) > 0; ++month, day = 1) {
        if (month != from.month()) day = 1;
        if (!Step()) return std::nullopt;
        const int found = NextBit(cron_.DaysOfMonth(year, month), day);
        if (found > 0) return absl::CivilDay(year, month, found);
        if (absl::CivilSecond(year, month, 1) >= limit) return std::nullopt;
      }
    }
    return std::nullopt;
  }

  // The first year at or after `year` that fits; -1: none.
  int NextYear(int year) const {
    if (fields_.any_year) return year;
    int bit = std::max(year, Cron::kFirstYear) - Cron::kFirstYear;
    for (; bit < 256; bit = (bit / 64 + 1) * 64) {
      const int found = NextBit(fields_.years[bit / 64], bit % 64);
      if (found >= 0) return Cron::kFirstYear + bit / 64 * 64 + found;
    }
    return -1;
  }

  const Cron& cron_;
  const CronFields& fields_;
  int steps_ = 0;
};

// End of the search, exclusive.
constexpr absl::CivilSecond kEnd(Cron::kHorizon + 1, 1, 1);

// Fixed times map local times to instants without ever going back, so the first local time whose
// instant is not before `first` is the answer.
std::optional<Fire> NextFixed(LocalTimes& times, absl::Time first, const absl::TimeZone& zone) {
  // One second before `first` is on the near side of a gap that ends at `first`: the times in the
  // gap count. In the second pass of a fold this starts behind times of the first pass.
  absl::CivilSecond from = absl::ToCivilSecond(first - absl::Seconds(1), zone) + 1;
  while (times.Step()) {
    const std::optional<absl::CivilSecond> local = times.First(from, kEnd);
    if (!local) return std::nullopt;
    const absl::TimeZone::TimeInfo info = zone.At(*local);
    if (info.kind == absl::TimeZone::TimeInfo::REPEATED && info.pre < first) {
      from = *local + absl::ToInt64Seconds(info.trans - info.pre);  // the end of the fold
      continue;
    }
    const std::optional<FixedInstant> fixed = ResolveFixed(*local, zone);
    if (fixed && fixed->instant >= first) return Fire{*local, fixed->instant, fixed->kind};
    from = fixed ? *local + 1 : absl::CivilSecond(absl::CivilDay(*local) + 1);
  }
  return std::nullopt;
}

// Wildcard times: the instants whose local time fits. Goes from one change of offset to the next;
// within such a stretch local time runs as instants do.
std::optional<Fire> NextWildcard(LocalTimes& times, absl::Time first, const absl::TimeZone& zone) {
  absl::Time now = first;
  absl::CivilSecond local = absl::ToCivilSecond(now, zone);
  std::optional<absl::CivilSecond> found = times.First(local, kEnd);
  while (times.Step()) {
    absl::TimeZone::CivilTransition change;
    const bool changes = zone.NextTransition(now, &change);
    if (found && (!changes || *found < change.from)) {
      const bool repeated = zone.At(*found).kind == absl::TimeZone::TimeInfo::REPEATED;
      return Fire{*found, now + absl::Seconds(*found - local),
                  repeated ? CivilKind::kRepeated : CivilKind::kUnique};
    }
    if (!changes) return std::nullopt;
    now += absl::Seconds(change.from - local);
    local = change.to;
    if (change.to < change.from) {  // a fold: its second pass may have fires before `found`
      if (const auto again = times.First(change.to, change.from)) found = again;
    } else if (found && *found < change.to) {
      found = times.First(change.to, kEnd);
    }
    // Without a local time ahead only a fold close by can still repeat one.
    if (!found && now - first > absl::Hours(48)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fire> Cron::Next(absl::Time after, const absl::TimeZone& zone, Rule rule,
                               int* steps) const {
  if (steps != nullptr) *steps = 0;
  if (after >= absl::FromCivil(kEnd, absl::UTCTimeZone())) return std::nullopt;
  // Years of four digits; the zone data knows nothing before.
  const absl::Time begin = absl::FromCivil(absl::CivilSecond(1000, 1, 1), absl::UTCTimeZone());
  const absl::Time first =
      absl::FromUnixSeconds(absl::ToUnixSeconds(std::max(after, begin))) + absl::Seconds(1);
  LocalTimes times(*this);
  const bool as_wildcard = wildcard_ && rule == Rule::kAsWritten;
  const std::optional<Fire> fire =
      as_wildcard ? NextWildcard(times, first, zone) : NextFixed(times, first, zone);
  if (steps != nullptr) *steps = times.steps();
  return fire;
}

}  // namespace tidemark
