#include "scheduler/engine/job_table.h"

namespace tidemark {

void JobTable::Reserve(size_t jobs) {
  chunks_.reserve((jobs + kChunk - 1) / kChunk);
  by_id_.reserve(jobs);
  by_name_.reserve(jobs);
}

JobState* JobTable::Find(int64_t job_id) {
  const auto it = by_id_.find(job_id);
  return it == by_id_.end() ? nullptr : &Slot(*it);
}

JobState* JobTable::FindNamed(std::string_view name) {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &Slot(*it);
}

JobState* JobTable::At(size_t slot) {
  JobState& job = Slot(slot);
  return job.row.job_id == 0 ? nullptr : &job;
}

std::pair<JobState*, bool> JobTable::Make(int64_t job_id) {
  if (JobState* job = Find(job_id)) return {job, false};
  uint32_t slot = static_cast<uint32_t>(slots_);
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
  } else {
    if (slots_ % kChunk == 0) chunks_.push_back(std::make_unique<JobState[]>(kChunk));
    ++slots_;
  }
  JobState& job = Slot(slot);
  job.row.job_id = job_id;
  job.slot = slot;
  by_id_.insert(slot);
  return {&job, true};
}

void JobTable::Leave(JobState& job) {
  if (job.home == nullptr) return;
  const auto named = by_name_.find(job.text.view());
  if (named != by_name_.end() && *named == job.slot) by_name_.erase(named);
  JobHome& home = *job.home;
  const uint32_t last = home.jobs.back();
  home.jobs[job.place] = last;
  Slot(last).place = job.place;
  home.jobs.pop_back();
  job.home = nullptr;
  if (!home.jobs.empty()) return;
  const auto of = homes_.find(home.app);
  of->second.erase(std::string(home.ns));
  if (of->second.empty()) homes_.erase(of);
}

void JobTable::Place(JobState& job, const std::string& name, const std::string& ns,
                     const std::string& app) {
  Leave(job);
  job.text = CompactText(name);
  // Of two that share a name the older one is deleted already.
  if (const auto other = by_name_.find(std::string_view(name)); other != by_name_.end()) {
    by_name_.erase(other);
  }
  by_name_.insert(job.slot);
  JobHome& home = homes_[app][ns];
  if (home.jobs.empty()) {
    home.ns = ns;
    home.app = app;
  }
  job.home = &home;
  job.place = static_cast<uint32_t>(home.jobs.size());
  home.jobs.push_back(job.slot);
}

void JobTable::Remove(JobState& job) {
  Leave(job);
  by_id_.erase(job.row.job_id);
  const uint32_t slot = job.slot;
  job = JobState();
  free_.push_back(slot);
}

std::vector<JobState*> JobTable::Of(const std::string& app) {
  std::vector<JobState*> jobs;
  const auto of = homes_.find(app);
  if (of == homes_.end()) return jobs;
  for (const auto& [ns, home] : of->second) {
    for (const uint32_t slot : home.jobs) jobs.push_back(&Slot(slot));
  }
  return jobs;
}

std::vector<std::string> JobTable::Apps() const {
  std::vector<std::string> apps;
  for (const auto& [app, homes] : homes_) apps.push_back(app);
  return apps;
}

}  // namespace tidemark
