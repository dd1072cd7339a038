#include "executor/src/outbox.h"

#include <algorithm>

namespace tidemark::exec {

void Outbox::Add(const AttemptKey& key, Record record) {
  record.bytes = record.report.ByteSizeLong();
  const auto [it, inserted] = records_.emplace(key, std::move(record));
  if (!inserted) return;  // the first word on an attempt is the one that counts
  const Record& added = it->second;
  sends_.emplace(added.next_send, key);
  if (added.refused()) {
    expiries_.emplace(added.keep_until, key);
  } else {
    unacknowledged_bytes_ += added.bytes;
  }
}

void Outbox::AddResult(const AttemptKey& key, v1::RunReport report, std::string owner_node,
                       absl::Duration now) {
  Record record;
  record.report = std::move(report);
  record.owner_node = std::move(owner_node);
  record.next_send = now;
  record.keep_until = absl::InfiniteDuration();
  Add(key, std::move(record));
}

void Outbox::AddRefusal(const AttemptKey& key, v1::RunReport report, std::string owner_node,
                        absl::Duration now, absl::Duration keep_until) {
  Record record;
  record.report = std::move(report);
  record.owner_node = std::move(owner_node);
  record.next_send = now;
  record.keep_until = keep_until;
  Add(key, std::move(record));
}

const Outbox::Record* Outbox::Find(const AttemptKey& key) const {
  const auto it = records_.find(key);
  return it == records_.end() ? nullptr : &it->second;
}

const Outbox::Record* Outbox::Acknowledge(const AttemptKey& key, absl::Duration now) {
  const auto it = records_.find(key);
  if (it == records_.end() || it->second.acknowledged) return nullptr;
  Record& record = it->second;
  record.acknowledged = true;
  sends_.erase({record.next_send, key});
  if (!record.refused()) {
    unacknowledged_bytes_ -= record.bytes;
    acknowledged_bytes_ += record.bytes;
    record.keep_until = now + keep_acknowledged_;
    expiries_.emplace(record.keep_until, key);
  }
  return &record;
}

void Outbox::MarkSent(const AttemptKey& key, absl::Duration now) {
  const auto it = records_.find(key);
  if (it == records_.end() || it->second.acknowledged) return;
  sends_.erase({it->second.next_send, key});
  ++it->second.tries;
  it->second.next_send = now + resend_every_;
  sends_.emplace(it->second.next_send, key);
}

void Outbox::Hurry(const std::string& owner_node, absl::Duration now) {
  std::set<std::pair<absl::Duration, AttemptKey>> sends;
  for (const auto& [at, key] : sends_) {
    Record& record = records_.at(key);
    if (record.owner_node == owner_node) record.next_send = std::min(at, now);
    sends.emplace(record.next_send, key);
  }
  sends_ = std::move(sends);
}

void Outbox::OfferAgain(absl::Duration now) {
  for (auto& [key, record] : records_) {
    if (record.refused() || !record.acknowledged) continue;
    record.acknowledged = false;
    expiries_.erase({record.keep_until, key});
    record.keep_until = absl::InfiniteDuration();
    record.next_send = now;
    record.tries = 0;
    sends_.emplace(now, key);
    acknowledged_bytes_ -= record.bytes;
    unacknowledged_bytes_ += record.bytes;
  }
}

std::vector<AttemptKey> Outbox::Due(absl::Duration now) const {
  std::vector<AttemptKey> due;
  for (const auto& [at, key] : sends_) {
    if (at > now) break;
    due.push_back(key);
  }
  return due;
}

std::vector<AttemptKey> Outbox::Expire(absl::Duration now) {
  std::vector<AttemptKey> results;
  auto it = expiries_.begin();
  while (it != expiries_.end() && (it->first <= now || acknowledged_bytes_ > limit_)) {
    const AttemptKey key = it->second;
    const Record& record = records_.at(key);
    // Over the limit only results make room; a tombstone stays as long as it was promised.
    if (it->first > now && record.refused()) {
      ++it;
      continue;
    }
    if (record.refused()) {
      sends_.erase({record.next_send, key});
    } else {
      acknowledged_bytes_ -= record.bytes;
      results.push_back(key);
    }
    it = expiries_.erase(it);
    records_.erase(key);
  }
  return results;
}

std::vector<const Outbox::Record*> Outbox::UnacknowledgedResults() const {
  std::vector<const Record*> out;
  for (const auto& [at, key] : sends_) {
    const Record& record = records_.at(key);
    if (!record.refused()) out.push_back(&record);
  }
  return out;
}

absl::Duration Outbox::NextSend() const {
  return sends_.empty() ? absl::InfiniteDuration() : sends_.begin()->first;
}

absl::Duration Outbox::NextExpiry() const {
  return expiries_.empty() ? absl::InfiniteDuration() : expiries_.begin()->first;
}

}  // namespace tidemark::exec
