// Rows of alerts and silences as channels read them. Only for the store.
#ifndef TIDEMARK_SCHEDULER_STORE_ALERT_ROWS_H_
#define TIDEMARK_SCHEDULER_STORE_ALERT_ROWS_H_

#include <string>

#include "scheduler/engine/alert_delivery.h"
#include "scheduler/store/database.h"

namespace tidemark {

// The columns of an AlertFact, of `alert a`.
inline const std::string kAlertFactColumns =
    "a.alert_id, a.episode, a.kind, a.severity, a.namespace, a.job_name, a.biz_date, a.run_id, "
    "a.summary, a.detail, a.dedup_key, a.raised_at, a.resolved_at, a.event";
inline constexpr int kAlertFactWidth = 14;

inline AlertFact ReadAlertFact(const SqlRows& rows, int i) {
  AlertFact fact;
  fact.alert_id = rows.Text(i, 0);
  fact.episode = static_cast<int>(rows.Int(i, 1));
  fact.kind = rows.Text(i, 2);
  fact.severity = rows.Text(i, 3);
  fact.ns = rows.Text(i, 4);
  fact.job = rows.Text(i, 5);
  fact.biz_date = rows.OptDate(i, 6);
  fact.run_id = rows.Text(i, 7);
  fact.summary = rows.Text(i, 8);
  fact.detail = rows.Text(i, 9);
  fact.dedup_key = rows.Text(i, 10);
  fact.raised_at = rows.Time(i, 11);
  fact.resolved_at = rows.OptTime(i, 12);
  fact.event = rows.Bool(i, 13);
  if (fact.event) fact.resolved_at.reset();
  return fact;
}

inline constexpr std::string_view kSilencesInForce =
    "SELECT silence_id, job_name, kind, namespace, reason, actor, created_at, until "
    "FROM alert_silence WHERE until > tidemark_now() OR $1 ORDER BY until, silence_id";

inline AlertSilence ReadSilence(const SqlRows& rows, int i) {
  return {rows.Text(i, 0), rows.Text(i, 1), rows.Text(i, 2), rows.Text(i, 3),
          rows.Text(i, 4), rows.Text(i, 5), rows.Time(i, 6), rows.Time(i, 7)};
}

inline constexpr std::string_view PhaseName(AlertPhase phase) {
  return phase == AlertPhase::kRaised     ? "raised"
         : phase == AlertPhase::kReminder ? "reminder"
                                          : "resolved";
}

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_ALERT_ROWS_H_
