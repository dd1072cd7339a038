// Calendars: finding and writing them.
#include <set>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "scheduler/store/array.h"
#include "scheduler/store/audit_row.h"
#include "scheduler/store/calendar_rows.h"
#include "scheduler/store/operator_store.h"

namespace tidemark {
namespace {

constexpr std::string_view kColumns =
    "SELECT v.name, v.version, v.mode = 'include', cardinality(v.dates), v.dates[1], "
    "v.dates[cardinality(v.dates)], v.valid_from, v.retroactive, v.author, "
    "(SELECT count(*) FROM job j JOIN job_version w ON w.job_id = j.job_id "
    " AND w.version = j.version WHERE w.calendar = v.name AND w.calendar <> '' "
    " AND j.deleted_at IS NULL) FROM calendar_version v ";

constexpr std::string_view kInsertCalendar =
    "INSERT INTO calendar (name, version, created_at, updated_at) VALUES ($1, 1, $2, $2) "
    "ON CONFLICT (name) DO NOTHING";

constexpr std::string_view kUpdateCalendar =
    "UPDATE calendar SET version = $2::integer, updated_at = $3 "
    "WHERE name = $1 AND version = $2::integer - 1";

constexpr std::string_view kInsertVersion =
    "INSERT INTO calendar_version "
    "(name, version, mode, weekend, dates, valid_from, retroactive, author) "
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

constexpr std::string_view kJobs =
    "SELECT j.job_id FROM job j WHERE j.deleted_at IS NULL AND EXISTS "
    "(SELECT 1 FROM job_version v WHERE v.job_id = j.job_id AND v.calendar = $1) "
    "ORDER BY j.job_id";

constexpr std::string_view kInsertOrders =
    "INSERT INTO command (command_id, shard, job_id, kind, args, actor, created_at) "
    "SELECT gen_random_uuid(), j.shard, j.job_id, 'job_changed', '{}', $2, tidemark_now() "
    "FROM job j WHERE j.job_id = ANY($1::bigint[])";

absl::StatusOr<std::vector<OperatorCalendar>> Read(SqlTransaction& tx, const std::string& where,
                                                   const std::vector<SqlParam>& params) {
  TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(std::string(kColumns) + where, params));
  std::vector<OperatorCalendar> calendars;
  for (int i = 0; i < rows.size(); ++i) {
    OperatorCalendar calendar;
    calendar.name = rows.Text(i, 0);
    calendar.version = static_cast<int>(rows.Int(i, 1));
    calendar.mode = rows.Bool(i, 2) ? Calendar::Mode::kInclude : Calendar::Mode::kExclude;
    calendar.dates = static_cast<int>(rows.Int(i, 3));
    calendar.first = rows.OptDate(i, 4);
    calendar.last = rows.OptDate(i, 5);
    calendar.valid_from = rows.Time(i, 6);
    calendar.retroactive = rows.Bool(i, 7);
    calendar.author = rows.Text(i, 8);
    calendar.jobs = static_cast<int>(rows.Int(i, 9));
    calendars.push_back(std::move(calendar));
  }
  return calendars;
}

absl::Status AddVersion(SqlTransaction& tx, const CalendarWrite& write, const std::string& actor) {
  const Calendar& calendar = *write.calendar;
  const SqlParam from = ToParam(write.valid_from);
  TM_ASSIGN_OR_RETURN(
      const SqlRows row,
      calendar.version() == 1
          ? tx.Run(kInsertCalendar, {calendar.name(), from})
          : tx.Run(kUpdateCalendar, {calendar.name(), ToParam(calendar.version()), from}));
  if (row.affected() != 1) {
    return absl::AbortedError(
        ToAbsl("calendar '" + calendar.name() + "' was changed at the same time"));
  }
  SqlArray dates;
  for (const absl::CivilDay date : calendar.dates()) dates.Add(ToParam(date));
  const bool include = calendar.mode() == Calendar::Mode::kInclude;
  return tx
      .Run(kInsertVersion,
           {calendar.name(), ToParam(calendar.version()), include ? "include" : "exclude",
            ToParam(static_cast<int>(calendar.weekend())), std::move(dates).Take(), from,
            ToParam(write.retroactive), actor})
      .status();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CalendarSet>> OperatorStore::FindCalendars(
    const std::vector<std::string>& names) {
  std::shared_ptr<const CalendarSet> set;
  if (names.empty()) return set;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_ASSIGN_OR_RETURN(set, LoadCalendars(tx, std::set<std::string>(names.begin(), names.end())));
    return absl::OkStatus();
  }));
  return set;
}

absl::StatusOr<std::vector<OperatorCalendar>> OperatorStore::ListCalendars() {
  std::vector<OperatorCalendar> calendars;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_ASSIGN_OR_RETURN(calendars, Read(tx,
                                        "JOIN calendar c ON c.name = v.name AND c.version = "
                                        "v.version ORDER BY v.name",
                                        {}));
    return absl::OkStatus();
  }));
  return calendars;
}

absl::StatusOr<std::vector<OperatorCalendar>> OperatorStore::CalendarVersions(
    const std::string& name) {
  std::vector<OperatorCalendar> calendars;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_ASSIGN_OR_RETURN(calendars, Read(tx, "WHERE v.name = $1 ORDER BY v.version DESC", {name}));
    return absl::OkStatus();
  }));
  return calendars;
}

absl::Status OperatorStore::WriteCalendar(const CalendarWrite& write, const std::string& actor) {
  const std::string& name = write.calendar->name();
  return pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    // First, so that definitions that name it wait from here on: the jobs below are all.
    TM_RETURN_IF_ERROR(AddVersion(tx, write, actor));
    TM_ASSIGN_OR_RETURN(const SqlRows jobs, tx.Run(kJobs, {name}));
    std::vector<int64_t> ids;
    SqlArray id_list;
    for (int i = 0; i < jobs.size(); ++i) {
      ids.push_back(jobs.Int(i, 0));
      id_list.Add(ToParam(ids.back()));
    }
    if (ids != write.job_ids) {
      return absl::AbortedError(
          ToAbsl("a job with calendar '" + name + "' was made or deleted at the same time"));
    }
    TM_RETURN_IF_ERROR(tx.Run(kInsertOrders, {std::move(id_list).Take(), actor}).status());
    const int version = write.calendar->version();
    AuditRow audit{actor, "calendar_import"};
    audit.subject = name + " version " + std::to_string(version);
    if (version > 1) audit.before = "version " + std::to_string(version - 1);
    audit.after = "version " + std::to_string(version);
    audit.detail = write.detail;
    TM_RETURN_IF_ERROR(WriteAudit(tx, caller_, audit));
    return tx.Run("SELECT pg_notify('tidemark_command', '')").status();
  });
}

}  // namespace tidemark
