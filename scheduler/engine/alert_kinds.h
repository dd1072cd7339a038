// Every kind of alert that this system raises. The README's table says what each means.
#ifndef TIDEMARK_SCHEDULER_ENGINE_ALERT_KINDS_H_
#define TIDEMARK_SCHEDULER_ENGINE_ALERT_KINDS_H_

#include <string_view>

namespace tidemark {

struct AlertKind {
  std::string_view name;
  // Its keys are kind/job_id/…: they end with the job.
  bool of_job = false;
};

inline constexpr AlertKind kAlertKinds[] = {
    // runs
    {"run_failed", true},
    {"run_long"},
    {"run_reaped"},
    {"run_held"},
    {"no_executor"},
    {"lock_refused"},
    {"late_success"},
    {"commits_lost"},
    // dates and gaps
    {"gap_blocked", true},
    {"gap_held", true},
    {"gap_expired", true},
    {"catch_up_done", true},
    {"fires_skipped", true},
    {"cursor_ahead", true},
    {"calendar_ended", true},
    {"backfill_finished", true},
    {"backfill_stopped"},
    {"job_error", true},
    {"date_missed", true},
    {"job_paused", true},
    // executors
    {"executor_lost"},
    {"app_down"},
    {"executor_id_shared"},
    // the system
    {"clock_leap"},
    {"shards_missing"},
    {"lease_damaged"},
    {"channel_failing"},
    {"check_missing", true},
    {"check_disagrees", true},
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_ALERT_KINDS_H_
