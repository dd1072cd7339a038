// When a job is due under one version of its definition.
#ifndef TIDEMARK_SCHEDULER_CORE_TIME_SCHEDULE_H_
#define TIDEMARK_SCHEDULER_CORE_TIME_SCHEDULE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/core/time/calendar.h"
#include "scheduler/core/time/cron.h"

namespace tidemark {

// A schedule as a job definition states it.
struct ScheduleSpec {
  enum class Kind { kCron, kEvery, kAt, kManual };
  enum class Tracking { kDerived, kDated, kInterval };
  enum class Unit { kDay, kBusinessDay };

  Kind kind = Kind::kCron;
  std::string cron;                       // kCron
  Dialect dialect = Dialect::kAuto;       // kCron
  std::string zone;                       // IANA name; always needed
  absl::Duration every;                   // kEvery: whole seconds, 1 s – 10 years
  absl::Time anchor = absl::UnixEpoch();  // kEvery: the first fire; then every `every`
  absl::Time at;                          // kAt: whole seconds
  std::optional<absl::Time> start_at;     // no fire before it
  std::optional<absl::Time> end_at;       // no fire after it
  Tracking tracking = Tracking::kDerived;
  int biz_offset = -1;  // −366 … 366
  Unit biz_unit = Unit::kDay;
  std::string calendar;  // its name; "" for none
};

// One due thing. Dated jobs are tracked by biz_date, interval jobs by fire_time.
struct Occurrence {
  absl::CivilDay biz_date;
  absl::CivilSecond nominal;  // local time in the schedule's zone
  absl::Time fire_time;       // its instant

  friend bool operator==(const Occurrence& a, const Occurrence& b) {
    return a.biz_date == b.biz_date && a.nominal == b.nominal && a.fire_time == b.fire_time;
  }
};

// A compiled schedule. Immutable: share it by shared_ptr<const Schedule> between jobs that state
// the same; thread-safe. Evaluation allocates nothing and reads no file.
class Schedule {
 public:
  // `calendar` is the version to use when spec.calendar is not empty, else null. kInvalidArgument
  // says what is wrong and what to write: a bad cron or zone, an expression that never fires, a
  // dated job that can fire twice a local day, a calendar that is named but not given.
  static absl::StatusOr<Schedule> Compile(const ScheduleSpec& spec,
                                          std::shared_ptr<const Calendar> calendar = nullptr);

  // True: at most one fire a local day, tracked by biz_date, always evaluated as fixed times.
  bool dated() const { return dated_; }
  const absl::TimeZone& zone() const { return zone_; }
  const ScheduleSpec& spec() const { return spec_; }
  const std::shared_ptr<const Calendar>& calendar() const { return calendar_; }
  // Only for kCron.
  const Cron& cron() const { return cron_; }

  // The first occurrence with fire_time strictly after `after`; empty: none any more (or the
  // calendar turned down 10,000 dates in a row).
  // Two dates of a dated job may share one fire_time where a gap crosses midnight; the earlier
  // date is returned: ask Timeline::Due for all of them.
  std::optional<Occurrence> Next(absl::Time after) const;
  // Dated schedules: the one occurrence of that biz_date; empty when it is not due.
  std::optional<Occurrence> OccurrenceOf(absl::CivilDay biz_date) const;
  // Dated schedules: the occurrence whose nominal time is on that local date; empty when none.
  std::optional<Occurrence> OccurrenceOn(absl::CivilDay local_date) const;
  // The biz_date of a nominal time: its local date moved by the offset, counted in dates that
  // exist in the zone (or in business days). Empty when there is none (a fire on no business day,
  // the end of the calendar). The same function for late starts, retries, catch-up and reruns.
  std::optional<absl::CivilDay> BizDateOf(absl::CivilSecond nominal) const;
  // Inverse of BizDateOf for dates.
  std::optional<absl::CivilDay> LocalDateOf(absl::CivilDay biz_date) const;

 private:
  Schedule() = default;
  absl::Status CompileCron();
  bool business_days() const { return spec_.biz_unit == ScheduleSpec::Unit::kBusinessDay; }
  Cron::Rule rule() const { return dated_ ? Cron::Rule::kFixed : Cron::Rule::kAsWritten; }
  std::optional<absl::CivilDay> Shift(absl::CivilDay date, int offset) const;
  // The occurrence of a fire, if the window and the calendar let it be.
  std::optional<Occurrence> Admit(absl::CivilSecond nominal, absl::Time fire) const;
  // The next fire before calendar and window are asked.
  std::optional<Fire> NextFire(absl::Time after) const;
  std::optional<absl::Time> NextEvery(absl::Time after) const;

  ScheduleSpec spec_;
  absl::TimeZone zone_;
  Cron cron_;
  bool dated_ = false;
  int second_of_day_ = 0;  // dated crons
  std::shared_ptr<const Calendar> calendar_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_TIME_SCHEDULE_H_
