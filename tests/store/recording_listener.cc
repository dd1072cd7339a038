#include "tests/store/recording_listener.h"

#include <set>
#include <utility>

#include "tests/support/process.h"

namespace tidemark {

void RecordingListener::OnTermStarted(const TermInfo& info, Snapshot snapshot) {
  const MutexLock lock(&mutex_);
  state_.terms.push_back(info);
  state_.snapshots.push_back(std::move(snapshot));
  state_.order.push_back("start");
}

void RecordingListener::OnTermEnded(const std::string& why) {
  const MutexLock lock(&mutex_);
  state_.ends.push_back(why);
  state_.listening = false;
  state_.order.push_back("end");
}

void RecordingListener::OnFlushed(FlushResult result) {
  const MutexLock lock(&mutex_);
  state_.flushed.push_back(std::move(result));
  state_.order.push_back("flush");
}

void RecordingListener::OnLedger(LedgerResult result) {
  const MutexLock lock(&mutex_);
  state_.ledgers.push_back(std::move(result));
  state_.order.push_back("ledger");
}

void RecordingListener::OnCommands(std::vector<Command> commands) {
  const MutexLock lock(&mutex_);
  for (Command& command : commands) state_.commands.push_back(std::move(command));
  state_.order.push_back("commands");
}

void RecordingListener::OnClockSample(const ClockSample& sample) {
  const MutexLock lock(&mutex_);
  state_.clocks.push_back(sample);
}

void RecordingListener::OnShardsGained(Snapshot gained) {
  const MutexLock lock(&mutex_);
  state_.gained.push_back(std::move(gained));
  state_.order.push_back("gain");
}

void RecordingListener::OnInbox(std::vector<InboxItem> items, absl::Duration) {
  if (items.empty()) return;
  const MutexLock lock(&mutex_);
  for (InboxItem& item : items) state_.inbox.push_back(std::move(item));
  state_.order.push_back("inbox");
}

void RecordingListener::OnNodes(std::vector<std::string> addresses) {
  const MutexLock lock(&mutex_);
  state_.nodes.push_back(std::move(addresses));
}

void RecordingListener::OnDrained(std::set<std::string> executor_ids) {
  const MutexLock lock(&mutex_);
  state_.drained.push_back(std::move(executor_ids));
}

void RecordingListener::OnUpstreams(std::vector<std::string> jobs) {
  const MutexLock lock(&mutex_);
  if (jobs.empty()) {
    state_.listening = true;
    ++state_.began_to_listen;
  } else {
    state_.upstreams.push_back(std::move(jobs));
  }
}

size_t RecordingListener::Shards() const {
  const MutexLock lock(&mutex_);
  std::set<int> shards;
  size_t terms = 0;
  size_t gains = 0;
  for (const std::string& what : state_.order) {
    if (what == "end") shards.clear();
    if (what != "start" && what != "gain") continue;
    const Snapshot& snapshot = what == "start" ? state_.snapshots[terms++] : state_.gained[gains++];
    for (const auto& [shard, epoch] : snapshot.shards) shards.insert(shard);
  }
  return shards.size();
}

bool RecordingListener::WaitForShards(size_t n) const {
  return WaitFor([&] { return Shards() == n; });
}

RecordingListener::State RecordingListener::Get() const {
  const MutexLock lock(&mutex_);
  return state_;
}

bool RecordingListener::Wait(const std::function<bool(const State&)>& condition) const {
  return WaitFor([&] { return condition(Get()); });
}

TermInfo RecordingListener::WaitForTerm(size_t n) const {
  const bool came = Wait([&](const State& s) { return s.terms.size() >= n; });
  return came ? Get().terms[n - 1] : TermInfo();
}

bool RecordingListener::WaitForEnds(size_t n) const {
  return Wait([&](const State& s) { return s.ends.size() >= n; });
}

bool RecordingListener::WaitForFlush(uint64_t seq) const {
  return Wait([&](const State& s) { return !s.flushed.empty() && s.flushed.back().seq == seq; });
}

}  // namespace tidemark
