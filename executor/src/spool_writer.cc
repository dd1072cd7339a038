#include "executor/src/spool_writer.h"

#include <utility>

#include "common/status.h"

namespace tidemark::exec {

SpoolWriter::SpoolWriter(std::unique_ptr<Spool> spool, OnHealth on_health,
                         std::chrono::milliseconds retry_every)
    : spool_(std::move(spool)),
      on_health_(std::move(on_health)),
      retry_every_(retry_every),
      thread_([this] { Loop(); }) {}

SpoolWriter::~SpoolWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void SpoolWriter::Put(const AttemptKey& key, Job job) {
  {
    const std::lock_guard lock(mutex_);
    // Acknowledged before it was written: the file would only be renamed away.
    const auto it = pending_.find(key);
    if (it != pending_.end() && it->second.kind == Kind::kWrite && job.kind != Kind::kWrite) {
      job.kind = Kind::kDelete;
    }
    pending_[key] = std::move(job);
  }
  changed_.notify_all();
}

void SpoolWriter::Write(const AttemptKey& key, v1::RunReport report) {
  Put(key, {Kind::kWrite, std::move(report)});
}
void SpoolWriter::Acknowledge(const AttemptKey& key) { Put(key, {Kind::kAcknowledge, {}}); }
void SpoolWriter::Delete(const AttemptKey& key) { Put(key, {Kind::kDelete, {}}); }

void SpoolWriter::CarryOut(Batch* batch, std::string* problem) {
  bool wrote = false;
  for (auto it = batch->begin(); it != batch->end();) {
    absl::Status status;
    switch (it->second.kind) {
      case Kind::kWrite:
        status = spool_->Write(it->first, it->second.report);
        wrote = wrote || status.ok();
        break;
      case Kind::kAcknowledge:
        status = spool_->MarkAcknowledged(it->first);
        break;
      case Kind::kDelete:
        spool_->Delete(it->first);
        break;
    }
    if (!status.ok() && problem->empty()) *problem = Message(status);
    it = status.ok() ? batch->erase(it) : std::next(it);
  }
  if (!wrote) return;
  const absl::Status synced = spool_->Sync();
  if (!synced.ok() && problem->empty()) *problem = Message(synced);
}

void SpoolWriter::Loop() {
  bool healthy = true;
  std::unique_lock lock(mutex_);
  while (true) {
    if (healthy) {
      changed_.wait(lock, [this] { return stopping_ || !pending_.empty(); });
    } else if (!stopping_) {
      changed_.wait_for(lock, retry_every_, [this] { return stopping_; });
    }
    const bool last = stopping_;
    Batch batch = std::exchange(pending_, {});
    lock.unlock();
    std::string problem;
    CarryOut(&batch, &problem);
    if (healthy != problem.empty()) {
      healthy = problem.empty();
      on_health_(healthy, problem);
    }
    lock.lock();
    // What failed waits, unless there is a later word on it.
    for (auto& [key, job] : batch) pending_.try_emplace(key, std::move(job));
    if (last) return;
  }
}

}  // namespace tidemark::exec
