#include "scheduler/engine/job_state.h"

#include <algorithm>

#include "scheduler/engine/state.h"

namespace tidemark {
namespace {

// Extras that are looked at in a second: a tenth, but no fewer than these.
constexpr size_t kAtLeast = 1000;

}  // namespace

JobExtra::JobExtra() = default;
JobExtra::~JobExtra() = default;

bool JobExtra::empty() const {
  return runs.empty() && armed == nullptr && last_executor.empty() && !ask_again.has_value() &&
         just_failed.empty() && when_quiet.empty() && writes == 0 && after_run.empty() &&
         backfills.empty() && noting.empty() && caught_up.empty() && told_blocked.empty() &&
         told_held.empty() && error.empty() && known_error.empty() && pause == nullptr;
}

std::optional<Occurrence> JobState::Next() const {
  if (!next_fire.has_value()) return std::nullopt;
  return timeline().Next(*next_fire - absl::Microseconds(1));
}

const JobExtra& JobState::None() {
  static const auto* none = new JobExtra();
  return *none;
}

JobExtra& State::Extra(JobState& job) {
  if (job.rest == nullptr) {
    job.rest = std::make_unique<JobExtra>();
    extras.push_back(job.row.job_id);
  }
  return *job.rest;
}

void State::DropExtras() {
  for (size_t left = std::min(extras.size(), std::max(extras.size() / 10, kAtLeast)); left > 0;
       --left) {
    const int64_t id = extras.front();
    extras.pop_front();
    JobState* job = FindJob(id);
    if (job == nullptr || job->rest == nullptr) continue;
    if (job->rest->empty()) {
      job->rest.reset();
    } else {
      extras.push_back(id);
    }
  }
}

}  // namespace tidemark
