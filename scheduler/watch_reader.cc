#include "scheduler/watch_reader.h"

#include <algorithm>

#include "scheduler/rpc/job_codec.h"
#include "scheduler/rpc/verify_codec.h"

namespace tidemark {

watch::Job ReadWatchJob(const WatchJob& job) {
  watch::Job out;
  out.job_id = job.row.job_id;
  out.name = job.row.name;
  out.ns = job.row.ns;
  out.check_from = std::max(job.check_from, job.row.created_at);
  out.ledger_from = job.row.ledger_from;
  bool enabled = true;
  for (const JobRow::Version& version : job.row.versions) {
    const absl::StatusOr<JobSpec> spec = DecodeJobSpec(version.spec);
    if (!spec.ok()) continue;
    out.versions.push_back(
        {ToVerify(version.version, version.valid_from, *spec), spec->expected_by});
    enabled = spec->enabled;
  }
  out.calendars = ToVerify(job.row.calendars.get());
  // One that never opened anything has no ledger that could be checked.
  const bool opens = !job.row.paused && enabled;
  out.silent = !job.row.error.empty() || (!opens && !job.row.ledger_from.has_value());
  return out;
}

}  // namespace tidemark
