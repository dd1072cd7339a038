// Which gaps are looked at although nothing happened.
#include <algorithm>
#include <set>
#include <vector>

#include "scheduler/engine/checks.h"
#include "scheduler/engine/gaps.h"
#include "scheduler/engine/jobs.h"

namespace tidemark {

void Gaps::SetLate(JobState& job, bool late) {
  if (job.late == late) return;
  job.late = late;
  if (late) {
    s_.late.insert(job.row.job_id);
  } else {
    s_.late.erase(job.row.job_id);
  }
}

void Gaps::Scan() {
  const std::set<int64_t> late = s_.late;
  for (const int64_t id : late) {
    JobState* job = s_.FindJob(id);
    if (job == nullptr) {
      s_.late.erase(id);
      continue;
    }
    Look(*job, TriggerPoint::kScan, /*whole=*/false);
  }
  s_.job_part->WatchCursors();
}

void Gaps::EvaluateWaiting() {
  const std::set<int64_t> late = s_.late;
  for (const int64_t id : late) {
    JobState* job = s_.FindJob(id);
    if (job == nullptr) continue;
    const std::vector<Dependency>& after = job->spec().after;
    const bool foreign = std::any_of(after.begin(), after.end(), [&](const Dependency& d) {
      return s_.FindJobNamed(d.job) == nullptr;
    });
    if (foreign) Evaluate(*job, TriggerPoint::kContinue);
  }
}

void Gaps::ScanShare() {
  constexpr size_t kShares = 60;
  const size_t of_minute = (s_.jobs.size() + kShares - 1) / kShares;
  const auto upto = [&](size_t second) { return of_minute * second / kShares; };
  const size_t second = static_cast<size_t>(s_.scan_share);
  s_.scan_share = static_cast<int>((second + 1) % kShares);
  for (size_t left = upto(second + 1) - upto(second); left > 0 && s_.jobs.size() > 0;) {
    s_.scan_at %= s_.jobs.slots();
    JobState* job = s_.jobs.At(s_.scan_at++);
    if (job == nullptr) continue;
    --left;
    LookAround(*job);
  }
}

void Gaps::LookAround(JobState& job) {
  // Once an hour a job is looked at as a whole, whatever was noted of it.
  const auto now = static_cast<int32_t>(absl::ToInt64Seconds(s_.now.mono));
  if (job.whole_at < 0) job.whole_at = now;
  const bool whole = now - job.whole_at >= 3600;
  if (whole) job.whole_at = now;
  Look(job, TriggerPoint::kScan, whole);
  if (whole) s_.check_part->CheckAll(job);
  s_.job_part->WatchCursor(job);
}

}  // namespace tidemark
