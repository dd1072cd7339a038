#include "scheduler/core/time/schedule.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "common/status.h"
#include "scheduler/core/time/zone.h"

namespace tidemark {
namespace {

constexpr int kMaxOffset = 366;
// Fires that a calendar may turn down in a row before a schedule counts as never due again.
constexpr int kMaxRefusals = 10000;
constexpr absl::Duration kMaxEvery = absl::Hours(24 * 3660);

bool WholeSeconds(absl::Duration d) { return absl::Trunc(d, absl::Seconds(1)) == d; }
bool WholeSeconds(absl::Time t) { return WholeSeconds(t - absl::UnixEpoch()); }

std::string ClockTime(int second_of_day) {
  char text[16];
  std::snprintf(text, sizeof text, "%02d:%02d:%02d", second_of_day / 3600 % 24,
                second_of_day / 60 % 60, second_of_day % 60);
  return text;
}

// The second time of day of a cron that has one.
int SecondTimeOfDay(const Cron& cron) {
  const int first = cron.FirstSecondOfDay();
  for (int s = first + 1; s < 86400; ++s) {
    const CronFields& f = cron.fields();
    if ((f.hours >> (s / 3600) & 1) != 0 && (f.minutes >> (s / 60 % 60) & 1) != 0 &&
        (f.seconds >> (s % 60) & 1) != 0) {
      return s;
    }
  }
  return first;
}

absl::Status CheckCommon(const ScheduleSpec& spec, const Calendar* calendar) {
  if (std::abs(spec.biz_offset) > kMaxOffset) {
    return Invalid("biz_date offset " + std::to_string(spec.biz_offset) +
                   ": at most 366 either way");
  }
  if (spec.start_at && spec.end_at && *spec.end_at < *spec.start_at) {
    return Invalid("end_at is before start_at: the job would never be due");
  }
  if (!spec.calendar.empty() && (calendar == nullptr || calendar->name() != spec.calendar)) {
    return Invalid("calendar \"" + spec.calendar +
                   "\" is not known: import it first (tidemark calendar import), or correct the "
                   "name");
  }
  if (spec.biz_unit == ScheduleSpec::Unit::kBusinessDay && spec.calendar.empty()) {
    return Invalid(
        "biz_date unit business_day needs a calendar that says which days those are: "
        "name one, or use unit day");
  }
  return absl::OkStatus();
}

absl::Status CheckEvery(const ScheduleSpec& spec) {
  if (spec.every < absl::Seconds(1) || spec.every > kMaxEvery || !WholeSeconds(spec.every)) {
    return Invalid("every: whole seconds from 1s to 3660d, for example 15m");
  }
  if (!WholeSeconds(spec.anchor)) return Invalid("the anchor of every must be a whole second");
  if (spec.tracking == ScheduleSpec::Tracking::kDated) {
    return Invalid(
        "a fixed rate cannot be dated: elapsed time may fire twice or not at all on a "
        "local day; use a cron expression, or leave tracking out");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Schedule> Schedule::Compile(const ScheduleSpec& spec,
                                           std::shared_ptr<const Calendar> calendar) {
  Schedule out;
  out.spec_ = spec;
  if (absl::Status status = CheckCommon(spec, calendar.get()); !status.ok()) return status;
  if (!spec.calendar.empty()) out.calendar_ = std::move(calendar);
  absl::StatusOr<absl::TimeZone> zone = LoadZone(spec.zone);
  if (!zone.ok()) return zone.status();
  out.zone_ = *zone;
  const bool stated_dated = spec.tracking == ScheduleSpec::Tracking::kDated;
  absl::Status status;
  switch (spec.kind) {
    case ScheduleSpec::Kind::kCron:
      status = out.CompileCron();
      break;
    case ScheduleSpec::Kind::kEvery:
      status = CheckEvery(spec);
      break;
    case ScheduleSpec::Kind::kAt:
      out.dated_ = spec.tracking != ScheduleSpec::Tracking::kInterval;
      if (!WholeSeconds(spec.at)) status = Invalid("at: the instant must be a whole second");
      break;
    case ScheduleSpec::Kind::kManual:
      out.dated_ = stated_dated;
      break;
  }
  if (!status.ok()) return status;
  return out;
}

absl::Status Schedule::CompileCron() {
  absl::StatusOr<Cron> cron = Cron::Parse(spec_.cron, spec_.dialect);
  if (!cron.ok()) return cron.status();
  cron_ = *cron;
  if (cron_.NeverFires()) {
    return Invalid("cron \"" + spec_.cron + "\" can never fire: no date fits its day, month and " +
                   "year");
  }
  const int times = cron_.TimesPerDay();
  if (spec_.tracking == ScheduleSpec::Tracking::kDated && times > 1) {
    return Invalid("cron \"" + spec_.cron + "\" fires " + std::to_string(times) +
                   " times a local day (first at " + ClockTime(cron_.FirstSecondOfDay()) + " and " +
                   ClockTime(SecondTimeOfDay(cron_)) +
                   "), and a dated job has one run a date: name one time of day, or leave "
                   "tracking out");
  }
  dated_ = spec_.tracking != ScheduleSpec::Tracking::kInterval && times == 1;
  second_of_day_ = cron_.FirstSecondOfDay();
  if (!cron_.Next(absl::InfinitePast(), zone_, rule())) {
    return Invalid("cron \"" + spec_.cron + "\" can never fire in the zone " + spec_.zone +
                   ": no instant has the local times that it names");
  }
  return absl::OkStatus();
}

std::optional<Occurrence> Schedule::Next(absl::Time after) const {
  if (spec_.start_at) after = std::max(after, *spec_.start_at - absl::Nanoseconds(1));
  for (int refusals = 0; refusals < kMaxRefusals; ++refusals) {
    const std::optional<Fire> fire = NextFire(after);
    if (!fire || (spec_.end_at && fire->instant > *spec_.end_at)) return std::nullopt;
    if (const auto occurrence = Admit(fire->nominal, fire->instant)) return occurrence;
    const absl::CivilDay next_date = absl::CivilDay(fire->nominal) + 1;
    if (dated_ && fire->kind == CivilKind::kSkipped) {
      // A gap across midnight may have moved the next date's time to the same instant.
      const auto other = OccurrenceOn(next_date);
      if (other && other->fire_time == fire->instant) return other;
    }
    // What is refused is refused for the whole local date.
    const std::optional<FixedInstant> midnight = ResolveFixed(absl::CivilSecond(next_date), zone_);
    after = fire->instant;
    if (midnight) after = std::max(after, midnight->instant - absl::Nanoseconds(1));
  }
  return std::nullopt;
}

std::optional<Fire> Schedule::NextFire(absl::Time after) const {
  std::optional<absl::Time> instant;
  switch (spec_.kind) {
    case ScheduleSpec::Kind::kCron:
      return cron_.Next(after, zone_, rule());
    case ScheduleSpec::Kind::kEvery:
      instant = NextEvery(after);
      break;
    case ScheduleSpec::Kind::kAt:
      if (spec_.at > after) instant = spec_.at;
      break;
    case ScheduleSpec::Kind::kManual:
      break;
  }
  if (!instant) return std::nullopt;
  return Fire{absl::ToCivilSecond(*instant, zone_), *instant, CivilKind::kUnique};
}

std::optional<absl::Time> Schedule::NextEvery(absl::Time after) const {
  if (after < spec_.anchor) return spec_.anchor;
  if (after >= absl::FromUnixSeconds(int64_t{13569465600})) return std::nullopt;  // the year 2400
  absl::Duration since;
  absl::IDivDuration(after - spec_.anchor, spec_.every, &since);
  return after - since + spec_.every;
}

std::optional<Occurrence> Schedule::OccurrenceOn(absl::CivilDay local_date) const {
  if (!dated_) return std::nullopt;
  if (spec_.kind == ScheduleSpec::Kind::kAt) {
    const absl::CivilSecond nominal = absl::ToCivilSecond(spec_.at, zone_);
    if (absl::CivilDay(nominal) != local_date) return std::nullopt;
    return Admit(nominal, spec_.at);
  }
  if (spec_.kind != ScheduleSpec::Kind::kCron || !cron_.MatchesDate(local_date)) {
    return std::nullopt;
  }
  const absl::CivilSecond nominal = absl::CivilSecond(local_date) + second_of_day_;
  const std::optional<FixedInstant> fixed = ResolveFixed(nominal, zone_);
  if (!fixed) return std::nullopt;
  return Admit(nominal, fixed->instant);
}

std::optional<Occurrence> Schedule::OccurrenceOf(absl::CivilDay biz_date) const {
  if (!dated_) return std::nullopt;
  const std::optional<absl::CivilDay> local = LocalDateOf(biz_date);
  if (!local) return std::nullopt;
  return OccurrenceOn(*local);
}

std::optional<Occurrence> Schedule::Admit(absl::CivilSecond nominal, absl::Time fire) const {
  if (spec_.start_at && fire < *spec_.start_at) return std::nullopt;
  if (spec_.end_at && fire > *spec_.end_at) return std::nullopt;
  const std::optional<absl::CivilDay> biz_date = BizDateOf(nominal);
  if (!biz_date) return std::nullopt;
  return Occurrence{*biz_date, nominal, fire};
}

std::optional<absl::CivilDay> Schedule::BizDateOf(absl::CivilSecond nominal) const {
  const absl::CivilDay date(nominal);
  if (business_days() && !calendar_->IsBusinessDay(date)) return std::nullopt;
  const std::optional<absl::CivilDay> biz_date = Shift(date, spec_.biz_offset);
  if (biz_date && !business_days() && calendar_ && !calendar_->IsOpen(*biz_date)) {
    return std::nullopt;
  }
  return biz_date;
}

std::optional<absl::CivilDay> Schedule::LocalDateOf(absl::CivilDay biz_date) const {
  if (!DateExists(biz_date, zone_)) return std::nullopt;
  if (business_days() && !calendar_->IsBusinessDay(biz_date)) return std::nullopt;
  if (!business_days() && calendar_ && !calendar_->IsOpen(biz_date)) return std::nullopt;
  return Shift(biz_date, -spec_.biz_offset);
}

// Counts only dates that exist in the zone: Apia's 2011-12-31 follows 2011-12-29, so that the run
// of the 31st handles the 29th and no date is left without one.
std::optional<absl::CivilDay> Schedule::Shift(absl::CivilDay date, int offset) const {
  const int direction = offset > 0 ? 1 : -1;
  for (int left = std::abs(offset); left > 0; --left) {
    do {
      if (business_days()) {
        const std::optional<absl::CivilDay> next = calendar_->AddBusinessDays(date, direction);
        if (!next) return std::nullopt;
        date = *next;
      } else {
        date += direction;
      }
    } while (!DateExists(date, zone_));
  }
  return date;
}

}  // namespace tidemark
