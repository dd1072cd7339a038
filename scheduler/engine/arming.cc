#include "scheduler/engine/arming.h"

#include <algorithm>
#include <utility>

#include "scheduler/core/blocking.h"
#include "scheduler/engine/gaps.h"
#include "scheduler/engine/runs.h"
#include "scheduler/engine/sessions.h"

namespace tidemark {
namespace {

// Later than this the common way is as fast.
constexpr absl::Duration kTooLate = absl::Milliseconds(2);
// A turn must not last: what is left is done in the next, which follows at once.
constexpr int kAtOnce = 256;

}  // namespace

void Arming::ArmDue() {
  if (s_.holding) return;
  for (int i = 0; i < kAtOnce && !s_.FlushFull(); ++i) {
    const auto due = s_.ahead.TakeDue(s_.now.lo);
    if (!due.has_value()) return;
    JobState* job = s_.FindJob(due->second);
    // Entries of edited or forgotten jobs are stale.
    if (job == nullptr || !job->next_fire.has_value() ||
        *job->next_fire - kArmAhead != *due->first) {
      continue;
    }
    s_.fires.Add(job->next_fire, due->second);
    Consider(*job);
  }
}

void Arming::Consider(JobState& job) {
  if (!job.opens() || job.extra().armed != nullptr || !job.next_fire.has_value() || s_.holding)
    return;
  const absl::Duration left = *job.next_fire - s_.now.lo;
  if (left > kArmAhead || left < kTooLate) return;
  // It would have to wait for its turn: whether it is run at all is decided when it is due.
  const int at_once = RunsAtOnce(job.spec(), job.timeline().dated());
  if (static_cast<int>(job.runs().size()) >= at_once) return;
  if (job.timeline().dated()) {
    ConsiderDate(job);
  } else {
    ConsiderFire(job);
  }
}

void Arming::ConsiderFire(JobState& job) {
  const std::optional<Occurrence> next = job.Next();
  if (!next.has_value()) return;
  // All before it is dealt with, so that who adopts it knows that it is the next.
  const std::vector<Occurrence> fires =
      job.timeline().DueFires(*job.row.cursor, next->fire_time, /*limit=*/2);
  if (fires.size() == 1) Arm(job, *next);
}

void Arming::ConsiderDate(JobState& job) {
  const std::optional<Occurrence> due = job.Next();
  if (!due.has_value()) return;
  s_.gap_part->WouldOpen(job, *due, [this, next = *due](JobState& job) {
    const bool still = job.opens() && job.extra().armed == nullptr && job.Next() == next &&
                       !s_.holding && job.runs().empty() && next.fire_time - s_.now.lo >= kTooLate;
    if (still) Arm(job, next);
  });
}

void Arming::Arm(JobState& job, const Occurrence& due) {
  RunRequest request;
  request.occurrence = due;
  request.key = job.timeline().dated() ? DateKey(job.row.job_id, due.biz_date)
                                       : FireKey(job.row.job_id, due.fire_time);
  auto armed = std::make_unique<ArmedRun>();
  LiveRun& run = armed->run;
  run.row = Runs::NewRow(job, request, s_.NewId(), due.fire_time);
  ExecutorSession* session = s_.session_part->Choose(run, job, /*ahead=*/true);
  if (session == nullptr) return;
  s_.run_part->WriteDown(run.row, job, *session);
  run.row.sent_at = due.fire_time;
  run.row.armed = true;
  ++session->armed;
  armed->flush = s_.next_seq;
  RunOpen open;
  open.run = run.row;
  s_.flush.opens.push_back(std::move(open));
  s_.OnCommit([this, job_id = job.row.job_id, run_id = run.row.run_id](const FlushResult& result) {
    OnRecorded(job_id, run_id, result);
  });
  s_.Extra(job).armed = std::move(armed);
  s_.armed.insert(job.row.job_id);
}

void Arming::OnRecorded(int64_t job_id, const std::string& run_id, const FlushResult& result) {
  if (s_.FindRun(run_id) != nullptr) return s_.run_part->OnOpened(run_id, result);
  JobState* job = s_.FindJob(job_id);
  if (job == nullptr || job->extra().armed == nullptr ||
      job->extra().armed->run.row.run_id != run_id)
    return;
  if (result.opened.contains(run_id)) {
    job->extra().armed->recorded = true;
  } else {
    Take(*job);  // the occurrence is live already: whoever made it so sees to it
  }
}

std::unique_ptr<ArmedRun> Arming::Take(JobState& job) {
  const ActiveRun& row = job.extra().armed->run.row;
  if (ExecutorSession* session = s_.FindSession(row.executor_id, row.registration)) {
    --session->armed;
  }
  s_.armed.erase(job.row.job_id);
  return std::move(s_.Extra(job).armed);
}

void Arming::Disarm(JobState& job) {
  if (job.extra().armed == nullptr) return;
  const std::unique_ptr<ArmedRun> armed = Take(job);
  const std::string& run_id = armed->run.row.run_id;
  if (armed->flush == s_.next_seq) {  // nobody but this flush knows of it yet
    std::erase_if(s_.flush.opens, [&](const RunOpen& open) { return open.run.run_id == run_id; });
    return;
  }
  s_.flush.disarms.push_back({job.row.job_id, run_id});
}

void Arming::DisarmAll() {
  const std::set<int64_t> armed = s_.armed;
  for (const int64_t job_id : armed) {
    if (JobState* job = s_.FindJob(job_id)) Disarm(*job);
  }
}

bool Arming::Launch(JobState& job, const Occurrence& due) {
  if (job.extra().armed == nullptr) return false;
  const ActiveRun& row = job.extra().armed->run.row;
  const bool it = row.fire_time == due.fire_time &&
                  (!row.biz_date.has_value() || *row.biz_date == due.biz_date);
  const int at_once = RunsAtOnce(job.spec(), job.timeline().dated());
  if (!it || static_cast<int>(job.runs().size()) >= at_once) {
    Disarm(job);
    return false;
  }
  std::unique_ptr<ArmedRun> armed = Take(job);
  armed->run.row.armed = false;
  s_.run_part->Launch(job, std::move(armed->run), armed->recorded);
  return true;
}

}  // namespace tidemark
