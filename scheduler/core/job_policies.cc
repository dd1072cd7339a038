// The rules between fields of a job's definition.
#include <string>

#include "scheduler/core/job.h"

namespace tidemark {
namespace {

absl::Status Refuse(const std::string& message) { return absl::InvalidArgumentError(message); }

absl::Status CheckDated(const JobSpec& spec) {
  if (spec.blocking.policy == BlockingPolicy::kConcurrent) {
    return Refuse(
        "blocking.policy: 'concurrent' is for interval jobs; a job tracked by date runs several "
        "dates at once with catch_up: {order: independent, parallelism: n}");
  }
  if (spec.catch_up.order == CatchUpOrder::kStrict &&
      spec.blocking.policy != BlockingPolicy::kSerial) {
    return Refuse(
        "blocking.policy: a job whose dates run in strict order can only be 'serial'; leave the "
        "policy out, or say catch_up: {order: independent}");
  }
  return absl::OkStatus();
}

absl::Status CheckInterval(const JobSpec& spec) {
  if (spec.start_date.has_value()) {
    return Refuse(
        "start_date: this job is tracked by fire time, not by date; say schedule.start_at instead");
  }
  if (spec.expected_by.has_value()) {
    return Refuse(
        "expected_by: this job is tracked by fire time, not by date; leave it out, or use "
        "timeouts.long_running");
  }
  if (!spec.after.empty()) {
    return Refuse(
        "after: only jobs that are tracked by date can wait for another job's date; give this one "
        "a schedule that fires at most once a day");
  }
  return absl::OkStatus();
}

absl::Status CheckTimeouts(const Timeouts& t) {
  if (t.cancel_grace >= t.lost_after) {
    return Refuse("timeouts.cancel_grace: " + absl::FormatDuration(t.cancel_grace) +
                  " must be shorter than timeouts.lost_after (" +
                  absl::FormatDuration(t.lost_after) +
                  "): a run is cancelled at lost_after less the grace");
  }
  if (t.reap_after < t.lost_after) {
    return Refuse("timeouts.reap_after: " + absl::FormatDuration(t.reap_after) +
                  " must not be shorter than timeouts.lost_after (" +
                  absl::FormatDuration(t.lost_after) + ")");
  }
  return absl::OkStatus();
}

absl::Status CheckDependencies(const JobSpec& spec) {
  for (size_t i = 0; i < spec.after.size(); ++i) {
    const Dependency& d = spec.after[i];
    if (d.job == spec.name) {
      return Refuse("after: the job cannot wait for itself; dates of one job are already in order");
    }
    for (size_t j = 0; j < i; ++j) {
      if (spec.after[j].job == d.job && spec.after[j].offset == d.offset) {
        return Refuse("after: '" + d.job + "' is listed twice; leave one out");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPolicies(const JobSpec& spec, bool dated) {
  absl::Status status = dated ? CheckDated(spec) : CheckInterval(spec);
  if (status.ok()) status = CheckTimeouts(spec.timeouts);
  if (status.ok()) status = CheckDependencies(spec);
  if (!status.ok()) return status;
  if (spec.blocking.concurrent != 1 && spec.blocking.policy != BlockingPolicy::kConcurrent) {
    return Refuse("blocking.concurrent: needs blocking.policy 'concurrent'");
  }
  if (spec.schedule.biz_unit == ScheduleSpec::Unit::kBusinessDay &&
      spec.schedule.calendar.empty()) {
    return Refuse("biz_date.unit: 'business_day' needs a calendar; name one with calendar: NAME");
  }
  return absl::OkStatus();
}

}  // namespace tidemark
