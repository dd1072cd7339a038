#include "scheduler/store/standing.h"

#include "common/status.h"

namespace tidemark {
namespace {

constexpr std::string_view kStanding =
    "SELECT d.dates, d.age, (SELECT count(*) FROM alert WHERE resolved_at IS NULL), p.messages, "
    "p.age FROM "
    "(SELECT count(*) AS dates, "
    "  coalesce(extract(epoch FROM tidemark_now() - min(u.fire_time)), 0)::float8 AS age "
    " FROM due_date u JOIN job j USING (job_id) "
    " WHERE NOT u.settled AND NOT j.paused AND j.deleted_at IS NULL) d, "
    "(SELECT count(*) AS messages, "
    "  coalesce(extract(epoch FROM tidemark_now() - min(created_at)), 0)::float8 AS age "
    " FROM alert_delivery WHERE state = 'pending') p";

absl::Duration Age(double seconds) { return absl::Seconds(seconds < 0 ? 0 : seconds); }

}  // namespace

absl::StatusOr<Standing> StandingReader::Read() {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  TM_ASSIGN_OR_RETURN(const SqlRows rows, connection->RunOne(kStanding));
  Standing standing;
  if (rows.empty()) return standing;
  standing.unsettled_dates = rows.Int(0, 0);
  standing.oldest_unsettled_age = Age(rows.Double(0, 1));
  standing.open_alerts = rows.Int(0, 2);
  standing.pending_alerts = rows.Int(0, 3);
  standing.oldest_pending_alert_age = Age(rows.Double(0, 4));
  return standing;
}

}  // namespace tidemark
