// Dependencies by watermark (C11): which date of another job a date waits for. Pure.
#ifndef TIDEMARK_SCHEDULER_CORE_DEPENDENCY_H_
#define TIDEMARK_SCHEDULER_CORE_DEPENDENCY_H_

#include <string>
#include <string_view>

#include "absl/time/civil_time.h"
#include "scheduler/core/time/timeline.h"

namespace tidemark {

// A date of an upstream job.
struct UpstreamDate {
  std::string job;
  absl::CivilDay date;

  friend bool operator==(const UpstreamDate&, const UpstreamDate&) = default;
};
std::string Text(const UpstreamDate& date);  // "recon@2026-11-28"

// Whether dates that depend on `date` of an upstream job must wait: it is accounted for there
// (from `first` on), is or will be due, and its watermark is not settled. `status` is "" without a
// row.
bool HoldsBack(const Timeline& upstream, absl::CivilDay first, absl::CivilDay date,
               std::string_view status, std::string_view reason);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_DEPENDENCY_H_
