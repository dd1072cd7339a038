#include "tests/store/recording_listener.h"

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
