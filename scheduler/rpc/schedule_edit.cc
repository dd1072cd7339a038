#include "scheduler/rpc/schedule_edit.h"

#include <memory>

#include "common/text.h"
#include "common/time_text.h"

namespace tidemark {
namespace {

constexpr size_t kListed = 5;

absl::Status Refused(const std::string& message) {
  return absl::FailedPreconditionError(ToAbsl(message));
}

absl::Status Never(const std::string& message) {
  return absl::InvalidArgumentError(ToAbsl("schedule: is never due from now on: " + message));
}

std::string WouldDo(const EditVerdict& verdict) {
  std::string text;
  if (!verdict.lost.empty()) text = "lose the date " + DateList(verdict.lost);
  if (!verdict.repeated.empty()) {
    text += (text.empty() ? "" : " and ") + std::string("make due a second time ") +
            DateList(verdict.repeated);
  }
  return text;
}

// A job that is no longer tracked by date: dates without a verdict would be forgotten.
absl::StatusOr<ScheduleEdit> LeaveDates(const LoadedJob& current, absl::Time now,
                                        GapChoice choice) {
  ScheduleEdit edit;
  edit.waived = UnsettledDates(current, now);
  if (edit.waived.empty() || choice == GapChoice::kWaive) return edit;
  return Refused("this edit makes it a job that is tracked by fire time, and these dates, which " +
                 std::string("are due and not done, would be forgotten: ") + DateList(edit.waived) +
                 ". Let them end first, or give them up with tidemark job apply --waive-gap (they "
                 "become WAIVED, with your name)");
}

}  // namespace

std::string DateList(const std::vector<absl::CivilDay>& dates) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < dates.size() && i < kListed; ++i) texts.push_back(FormatDate(dates[i]));
  const std::string list = Join(texts, ", ");
  if (dates.size() <= kListed) return list;
  return list + " and " + std::to_string(dates.size() - kListed) + " more";
}

absl::StatusOr<ScheduleEdit> JudgeScheduleEdit(const LoadedJob& current, const Schedule& after,
                                               absl::Time now, GapChoice choice) {
  ScheduleEdit edit;
  if (current.timeline.empty()) return edit;
  if (current.dated() && !after.dated()) return LeaveDates(current, now, choice);
  const EditVerdict verdict = JudgeEdit(current.timeline.current(), after, now);
  if (choice == GapChoice::kRefuse && !verdict.ok()) {
    return Refused(
        "this edit of the schedule's zone, biz_date or calendar would " + WouldDo(verdict) +
        ". Apply it at another time of the day, or say what is meant: tidemark job apply with "
        "--fill-gap (a lost date is run, at its old time) or with --waive-gap (it becomes WAIVED, "
        "with your name); a date that would be due twice runs once either way, at its old time");
  }
  edit.kept = verdict.repeated;
  (choice == GapChoice::kWaive ? edit.waived : edit.filled) = verdict.lost;
  return edit;
}

absl::Status CheckDueSomewhere(const JobSpec& spec, const Schedule& schedule, absl::Time now) {
  const ScheduleSpec& s = spec.schedule;
  if (s.kind == ScheduleSpec::Kind::kManual || schedule.Next(now).has_value()) {
    return absl::OkStatus();
  }
  const absl::TimeZone zone = schedule.zone();
  if (s.kind == ScheduleSpec::Kind::kAt && s.at <= now) {
    return Never("at " + FormatInstant(s.at, zone) + " has passed (now is " +
                 FormatInstant(absl::FromUnixSeconds(absl::ToUnixSeconds(now)), zone) +
                 "); name a later time, or say manual: true and trigger it");
  }
  if (spec.start_date.has_value() && schedule.dated()) {
    const Timeline alone({{now, std::make_shared<const Schedule>(schedule)}});
    if (!alone.Due(*spec.start_date, now, /*limit=*/1).empty()) return absl::OkStatus();
  }
  if (s.end_at.has_value() && *s.end_at <= now) {
    return Never("end_at " + FormatInstant(*s.end_at, zone) +
                 " has passed; name a later one, or say enabled: false to stop a job");
  }
  if (schedule.calendar() != nullptr && schedule.calendar()->mode() == Calendar::Mode::kInclude) {
    return Never("calendar '" + s.calendar + "' ends on " +
                 FormatDate(schedule.calendar()->dates().back()) +
                 " and no date up to then is left for it; import later dates (tidemark calendar "
                 "import), or leave the calendar out");
  }
  return Never(s.end_at.has_value()
                   ? "no fire lies before end_at " + FormatInstant(*s.end_at, zone)
                   : "all its times have passed, or its calendar lets none of them through");
}

}  // namespace tidemark
