// A cron expression in words, and what may surprise its author.
#ifndef TIDEMARK_SCHEDULER_CORE_TIME_CRON_EXPLAIN_H_
#define TIDEMARK_SCHEDULER_CORE_TIME_CRON_EXPLAIN_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/core/time/cron.h"

namespace tidemark {

// "at 01:00:00 on every day", weekdays by name.
std::string CronInWords(const Cron& cron);

// Warnings, each one sentence: short months and dates that never come, with the next fires; gaps
// and folds that meet the expression in the year after `from`; numeric weekdays in six or seven
// fields when `stated` is kAuto; nothing left to fire after `from`.
std::vector<std::string> CronWarnings(const Cron& cron, Dialect stated, const absl::TimeZone& zone,
                                      absl::Time from);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_TIME_CRON_EXPLAIN_H_
