// What cron expressions are written with: fields, their bounds and names, and how an error says
// where it is. Internal to the parser and the explanation.
#ifndef TIDEMARK_SCHEDULER_CORE_TIME_CRON_TEXT_H_
#define TIDEMARK_SCHEDULER_CORE_TIME_CRON_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "scheduler/core/time/cron.h"

namespace tidemark {

// In the order in which an expression has them.
enum class FieldKind { kSeconds, kMinutes, kHours, kDays, kMonths, kWeekdays, kYears };

// One field of a dialect: numbers min…max; `*` and `/n` start at `first`; a step is at most
// `max_step`; a range that wraps around goes on after max with max − size + 1.
struct FieldRule {
  FieldKind kind;
  std::string_view name;
  int min, max, first, size, max_step;
};
FieldRule RuleOf(FieldKind kind, Dialect dialect);

// The field at a position of an expression of the dialect, counted from 0.
FieldKind FieldAt(Dialect dialect, size_t position);

// The number a three-letter name (any case) stands for in the field; -1: none.
int NameValue(std::string_view name, const FieldRule& rule, Dialect dialect);

// "SUN" … "SAT" for 0 … 6; "JAN" … "DEC" for 1 … 12.
std::string_view WeekdayName(int weekday);
std::string_view MonthName(int month);

// The text in double quotes, anything but printable ASCII as \xNN, cut after 80 bytes.
std::string Quoted(std::string_view text);

// kInvalidArgument: cron "…": <field> field, offset <n>: <reason>[; did you mean "<hint>"?].
absl::Status CronError(std::string_view expr, std::string_view field, size_t offset,
                       const std::string& reason, const std::string& hint = "");

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_TIME_CRON_TEXT_H_
