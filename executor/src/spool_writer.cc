#include "executor/src/spool_writer.h"

#include <utility>

#include "common/status.h"

namespace tidemark::exec {
namespace {

// How long acknowledgements and deletions wait for a result to go to the disk with.
constexpr std::chrono::milliseconds kLinger(100);

}  // namespace

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
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    wake = pending_.empty() || job.kind == Kind::kWrite;
    const auto [it, added] = pending_.try_emplace(key);
    if (!added && it->second.kind == Kind::kWrite) {
      --writes_;
      // Acknowledged before it was written: nobody would miss it.
      if (job.kind != Kind::kWrite) job.kind = Kind::kDelete;
    }
    if (job.kind == Kind::kWrite) ++writes_;
    it->second = std::move(job);
  }
  if (wake) changed_.notify_all();
}

void SpoolWriter::Write(const AttemptKey& key, v1::RunReport report) {
  Put(key, {Kind::kWrite, std::move(report)});
}
void SpoolWriter::Acknowledge(const AttemptKey& key) { Put(key, {Kind::kAcknowledge, {}}); }
void SpoolWriter::Delete(const AttemptKey& key) { Put(key, {Kind::kDelete, {}}); }

absl::Status SpoolWriter::CarryOut(Batch* batch) {
  for (const auto& [key, job] : *batch) {
    switch (job.kind) {
      case Kind::kWrite:
        spool_->Write(key, job.report);
        break;
      case Kind::kAcknowledge:
        spool_->MarkAcknowledged(key);
        break;
      case Kind::kDelete:
        spool_->Delete(key);
        break;
    }
  }
  const absl::Status synced = spool_->Sync();
  if (synced.ok()) {
    batch->clear();
  } else {
    std::erase_if(*batch, [](const auto& entry) { return entry.second.kind == Kind::kDelete; });
  }
  return synced;
}

void SpoolWriter::Await(std::unique_lock<std::mutex>* lock, bool healthy) {
  if (!healthy) {
    if (!stopping_) changed_.wait_for(*lock, retry_every_, [this] { return stopping_; });
    return;
  }
  changed_.wait(*lock, [this] { return stopping_ || !pending_.empty(); });
  // A result is written at once. The rest can wait for one: if it is lost, a scheduler is told
  // again what it knows.
  changed_.wait_for(*lock, kLinger, [this] { return stopping_ || writes_ > 0; });
}

void SpoolWriter::Loop() {
  bool healthy = true;
  std::unique_lock lock(mutex_);
  while (true) {
    Await(&lock, healthy);
    const bool last = stopping_;
    Batch batch = std::exchange(pending_, {});
    writes_ = 0;
    lock.unlock();
    const absl::Status status = CarryOut(&batch);
    if (healthy != status.ok()) {
      healthy = status.ok();
      on_health_(healthy, Message(status));
    }
    lock.lock();
    // What failed waits, unless there is a later word on it.
    for (auto& [key, job] : batch) {
      if (pending_.try_emplace(key, job).second && job.kind == Kind::kWrite) ++writes_;
    }
    if (last) return;
  }
}

}  // namespace tidemark::exec
