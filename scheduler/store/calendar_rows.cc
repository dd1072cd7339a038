#include "scheduler/store/calendar_rows.h"

#include <string_view>
#include <utility>
#include <vector>

#include "common/log.h"
#include "common/status.h"
#include "common/time_text.h"
#include "scheduler/store/array.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

constexpr size_t kDateBytes = 10;  // YYYY-MM-DD, a blank between

absl::StatusOr<std::vector<absl::CivilDay>> ReadDates(std::string_view text) {
  std::vector<absl::CivilDay> dates;
  dates.reserve(text.size() / kDateBytes);
  for (size_t at = 0; at < text.size(); at += kDateBytes + 1) {
    TM_ASSIGN_OR_RETURN(const absl::CivilDay date, ParseDate(text.substr(at, kDateBytes)));
    dates.push_back(date);
  }
  return dates;
}

absl::StatusOr<CalendarVersion> ReadVersion(const SqlRows& rows, int i) {
  Calendar::Spec spec;
  spec.name = rows.Text(i, 0);
  spec.version = static_cast<int>(rows.Int(i, 1));
  spec.mode = rows.Bool(i, 2) ? Calendar::Mode::kInclude : Calendar::Mode::kExclude;
  spec.weekend = static_cast<uint8_t>(rows.Int(i, 3));
  TM_ASSIGN_OR_RETURN(spec.dates, ReadDates(rows.View(i, 6)));
  TM_ASSIGN_OR_RETURN(Calendar calendar, Calendar::Make(std::move(spec)));
  CalendarVersion version;
  version.valid_from = rows.Time(i, 4);
  version.retroactive = rows.Bool(i, 5);
  version.calendar = std::make_shared<const Calendar>(std::move(calendar));
  return version;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CalendarSet>> LoadCalendars(
    SqlTransaction& transaction, const std::set<std::string>& names) {
  std::shared_ptr<const CalendarSet> none;
  if (names.empty()) return none;
  TM_ASSIGN_OR_RETURN(
      const SqlRows rows,
      transaction.Run(sql::kLoadCalendars,
                      {ToArray(std::vector<std::string>(names.begin(), names.end()))}));
  auto set = std::make_shared<CalendarSet>();
  for (int i = 0; i < rows.size(); ++i) {
    absl::StatusOr<CalendarVersion> version = ReadVersion(rows, i);
    if (version.ok()) {
      (*set)[rows.Text(i, 0)].push_back(*std::move(version));
    } else {
      LogError("a version of a calendar cannot be used", {{"calendar", rows.Text(i, 0)},
                                                          {"version", rows.Text(i, 1)},
                                                          {"error", Message(version.status())}});
    }
  }
  return set->empty() ? none : std::shared_ptr<const CalendarSet>(std::move(set));
}

}  // namespace tidemark
