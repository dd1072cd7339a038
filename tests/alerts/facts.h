// Alerts for tests.
#ifndef TIDEMARK_TESTS_ALERTS_FACTS_H_
#define TIDEMARK_TESTS_ALERTS_FACTS_H_

#include <string>

#include "scheduler/engine/alert_delivery.h"

namespace tidemark {

// run_failed of recon 2026-11-27, critical, raised at 2026-11-28T01:00:00Z.
inline AlertFact FailedRecon() {
  AlertFact fact;
  fact.alert_id = "0198e7a2-0000-7000-8000-000000000001";
  fact.kind = "run_failed";
  fact.severity = "critical";
  fact.ns = "default";
  fact.job = "recon";
  fact.biz_date = absl::CivilDay(2026, 11, 27);
  fact.run_id = "0198e7a2-0000-7000-8000-0000000000aa";
  fact.summary = "recon 2026-11-27 FAILED (exit 3) after 4 failed and 0 lost attempts";
  fact.detail = "At once: tidemark run rerun 0198e7a2-0000-7000-8000-0000000000aa";
  fact.dedup_key = "run_failed/" + fact.run_id;
  fact.raised_at = absl::FromCivil(absl::CivilSecond(2026, 11, 28, 1, 0, 0), absl::UTCTimeZone());
  return fact;
}

inline AlertMessage MessageOf(const AlertFact& fact, AlertPhase phase = AlertPhase::kRaised) {
  AlertMessage message;
  message.message_id = "0198e7a2-0000-7000-8000-0000000000ff";
  AlertItem item;
  item.alert = fact;
  item.phase = phase;
  item.number = phase == AlertPhase::kReminder ? 2 : 0;
  message.items.push_back(item);
  return message;
}

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_ALERTS_FACTS_H_
