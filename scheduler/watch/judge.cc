#include "scheduler/watch/judge.h"

#include <algorithm>
#include <cstdlib>

#include "common/safe_text.h"
#include "common/time_text.h"
#include "scheduler/verify/due_plan.h"

namespace tidemark::watch {
namespace {

bool Settled(const std::string& status) {
  return status == "DONE" || status == "WAIVED" || status == "EXPIRED";
}

// Days from a date to the fire that handles it, at most.
int ReachOf(const Job& job) {
  int reach = 0;
  for (const Version& version : job.versions) {
    const ScheduleSpec& schedule = version.definition.schedule;
    const int offset = std::abs(schedule.biz_offset);
    const bool business = schedule.biz_unit == ScheduleSpec::Unit::kBusinessDay;
    reach = std::max(reach, business ? 3 * offset + 40 : offset + 2);
  }
  return reach;
}

// The latest of what the versions since it was due say, and of the edits themselves: which of them
// the check went by is none of ours.
absl::Time LatestExpected(const Job& job, const verify::DueDate& due, absl::TimeZone zone,
                          absl::Time now) {
  absl::Time expected = due.last;
  for (size_t i = 0; i < job.versions.size(); ++i) {
    const bool newest = i + 1 == job.versions.size();
    const bool replaced_before = !newest && job.versions[i + 1].definition.valid_from <= due.first;
    if (replaced_before) continue;
    expected = std::max(expected, ExpectedAt(due.last, zone, job.versions[i].expected_by));
    const absl::Time edited = job.versions[i].definition.valid_from;
    if (i > 0 && edited > due.first && edited <= now) expected = std::max(expected, edited);
  }
  return expected;
}

AlertRaise About(const Job& job, const DateToJudge& judged, const char* kind, std::string key) {
  AlertRaise alert;
  alert.kind = kind;
  alert.dedup_key = std::move(key);
  alert.severity = "critical";
  alert.ns = job.ns;
  alert.job_name = job.name;
  alert.biz_date = judged.date;
  return alert;
}

std::string Commands(const Job& job, absl::CivilDay date) {
  const std::string name = ShellWord(job.name);
  return "Look: tidemark cluster status; tidemark watermark list " + name + " --from " +
         FormatDate(date) + " --to " + FormatDate(date) + "; judge it now: tidemark check run " +
         name + " --date " + FormatDate(date);
}

AlertRaise Missing(const Job& job, const DateToJudge& judged, const WatchDate& kept) {
  AlertRaise alert = About(job, judged, "check_missing", MissingKey(job.job_id, judged.date));
  alert.summary = job.name + " " + FormatDate(judged.date) +
                  ": the daily check has given no verdict, and nobody was told how the date fares";
  alert.detail = "It was due at " + FormatInstant(judged.due) + " and expected by " +
                 FormatInstant(judged.expected) + "; its watermark says " +
                 (kept.status.empty() ? "nothing" : kept.status) +
                 ". The check should have judged it by itself: the node that owns the job may "
                 "hang. This ends with the verdict, and the ping of the dead man's switch is "
                 "withheld until then. " +
                 Commands(job, judged.date);
  return alert;
}

// Why the verdict cannot be right, or "".
std::string Contradiction(const WatchDate& kept) {
  if (kept.verdict == "ON_TIME" && !Settled(kept.status)) {
    // It was settled then, and somebody took that back.
    if (kept.undone_at.has_value() && *kept.undone_at >= kept.checked_at) return "";
    return "the verdict is ON_TIME, but its watermark says " +
           (kept.status.empty() ? std::string("nothing") : kept.status);
  }
  if (kept.verdict == "LATE" && !kept.told) return "the verdict is LATE, but nobody was told";
  return "";
}

}  // namespace

std::string MissingKey(int64_t job_id, absl::CivilDay date) {
  return "check_missing/" + std::to_string(job_id) + "/" + FormatDate(date);
}

std::string DisagreesKey(int64_t job_id, absl::CivilDay date) {
  return "check_disagrees/" + std::to_string(job_id) + "/" + FormatDate(date);
}

absl::Time ExpectedAt(absl::Time due, absl::TimeZone zone,
                      std::optional<absl::Duration> expected_by) {
  const absl::CivilSecond local = absl::ToCivilSecond(due, zone);
  const absl::CivilSecond midnight(absl::CivilDay{local});
  if (!expected_by.has_value()) {
    const absl::CivilSecond nine = midnight + 9 * 3600;
    return absl::FromCivil(std::max(nine, local + 2 * 3600), zone);
  }
  absl::CivilSecond expected = midnight + absl::ToInt64Seconds(*expected_by);
  if (expected < local) {
    expected = absl::CivilSecond(absl::CivilDay(local) + 1) + absl::ToInt64Seconds(*expected_by);
  }
  return absl::FromCivil(expected, zone);
}

std::vector<DateToJudge> DatesToJudge(const Job& job, absl::Time now, absl::Duration grace,
                                      int days, const std::vector<absl::CivilDay>& also) {
  std::vector<DateToJudge> dates;
  if (job.silent || job.versions.empty()) return dates;
  verify::History history;
  for (const Version& version : job.versions) history.definitions.push_back(version.definition);
  history.calendars = job.calendars;
  history.now = now;
  const verify::DuePlan plan(history);
  if (!plan.dated()) return dates;
  const absl::Time since = now - absl::Hours(24 * days);
  std::vector<verify::DueDate> due =
      plan.Dates(absl::ToCivilDay(since, absl::UTCTimeZone()) - ReachOf(job), now - grace);
  std::erase_if(due, [&](const verify::DueDate& d) { return d.last < since; });
  for (const absl::CivilDay date : also) {
    const bool known =
        std::any_of(due.begin(), due.end(), [&](const auto& d) { return d.date == date; });
    const std::optional<verify::DueDate> one = plan.DateOf(date);
    if (!known && one.has_value()) due.push_back(*one);
  }
  for (const verify::DueDate& d : due) {
    if (job.ledger_from.has_value() && d.date < *job.ledger_from) continue;
    const absl::Time expected = LatestExpected(job, d, plan.zone(), now);
    if (expected <= job.check_from || expected + grace > now) continue;
    dates.push_back({d.date, d.last, expected});
  }
  return dates;
}

std::optional<AlertRaise> JudgeDate(const Job& job, const DateToJudge& judged,
                                    const WatchDate& kept) {
  if (kept.verdict.empty()) return Missing(job, judged, kept);
  const std::string why = Contradiction(kept);
  if (why.empty()) return std::nullopt;
  AlertRaise alert = About(job, judged, "check_disagrees", DisagreesKey(job.job_id, judged.date));
  alert.summary = job.name + " " + FormatDate(judged.date) + ": the daily check is wrong: " + why;
  alert.detail = "It was judged at " + FormatInstant(kept.checked_at) + " (state " + kept.state +
                 "). Somebody changed the rows by hand, or the check has a fault: do not rely on "
                 "it for this date. The ping of the dead man's switch is withheld until both "
                 "agree. " +
                 Commands(job, judged.date);
  return alert;
}

}  // namespace tidemark::watch
