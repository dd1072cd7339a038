// Executors' streams from arbitrary bytes, through the decoder into an engine with due dates, a
// store and a clock. Whatever executors say: no crash, no date lost, none live or run twice at
// once.
//
// An input is a list of steps: an opcode, a length, and so many bytes. A message's run_id "#N" is
// replaced by that of the Nth trigger, so that inputs reach live runs.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/id.h"
#include "common/time_text.h"
#include "scheduler/engine/engine.h"
#include "scheduler/rpc/executor_codec.h"
#include "tests/engine/harness.h"

namespace {

using tidemark::v1::ExecutorMessage;

constexpr char kNow[] = "2026-11-29T03:00:00Z";
constexpr int kShards = 128;

tidemark::JobSpec DailyJob() {
  tidemark::JobSpec spec = tidemark::EngineHarness::DailyJob("recon", "2026-11-26");
  spec.retry.max_attempts = 3;
  return spec;
}

class World {
 public:
  World()
      : engine_({[](const std::string&) { return DailyJob(); },
                 [](const std::string&) { return std::map<std::string, std::string>(); }},
                random_) {
    const absl::Time now = *tidemark::ParseInstant(kNow);
    now_ = {absl::Seconds(1000), now, now + absl::Milliseconds(1)};
    tidemark::JobRow& row = store_.jobs[1];
    row.job_id = 1;
    row.name = "recon";
    row.ns = "default";
    row.app = "app";
    row.version = 1;
    row.created_at = now - absl::Hours(240);
    row.versions.push_back({1, row.created_at, "spec"});
    tidemark::Snapshot snapshot = store_.Load();
    for (int shard = 0; shard < kShards; ++shard) snapshot.shards[shard] = {1, 1};
    engine_.TermStarted(now_, std::move(snapshot));
    Settle();
  }

  void Say(tidemark::StreamId stream, std::string_view bytes) {
    ExecutorMessage message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
    Name(message);
    tidemark::TakeLogs(message);
    engine_.Received(now_, stream, tidemark::FromProto(message), now_.mono);
    Settle();
  }
  void Close(tidemark::StreamId stream) {
    engine_.StreamClosed(now_, stream);
    Settle();
  }
  void Congest(tidemark::StreamId stream, bool on) {
    engine_.StreamCongested(now_, stream, on);
    Settle();
  }
  void Advance(absl::Duration d) {
    now_ = {now_.mono + d, now_.lo + d, now_.hi + d};
    engine_.Tick(now_);
    Settle();
  }

 private:
  void Name(ExecutorMessage& message) {
    const auto name = [this](tidemark::v1::AttemptRef* ref) {
      if (!ref->run_id().starts_with('#') || triggers_.empty()) return;
      const size_t n = std::strtoul(ref->run_id().c_str() + 1, nullptr, 10) % triggers_.size();
      ref->set_run_id(triggers_[n]);
    };
    for (auto& report : *message.mutable_reports()) name(report.mutable_attempt());
    if (message.has_hello()) {
      for (auto& held : *message.mutable_hello()->mutable_held()) name(held.mutable_attempt());
      for (auto& r : *message.mutable_hello()->mutable_results()) name(r.mutable_attempt());
    }
    if (message.has_heartbeat()) {
      for (auto& held : *message.mutable_heartbeat()->mutable_held()) name(held.mutable_attempt());
    }
  }

  // Carries out effects as the loop does.
  void Settle() {
    for (int turn = 0;; ++turn) {
      if (turn > 10000) std::abort();  // does not come to rest
      tidemark::Effects effects = engine_.TakeEffects();
      if (effects.empty()) break;
      for (const tidemark::Outbound& message : effects.messages) {
        if (const auto* order = std::get_if<tidemark::TriggerOrder>(&message.body)) {
          if (triggers_.size() < 1000) triggers_.push_back(order->attempt.run_id);
          // Intent before action: what leaves is recorded, with its executor.
          bool recorded = false;
          for (const auto& [key, run] : store_.active) {
            recorded = recorded || (run.run_id == order->attempt.run_id &&
                                    run.attempt >= order->attempt.attempt);
          }
          if (!recorded) std::abort();
        }
      }
      for (const tidemark::StreamId stream : effects.close) engine_.StreamClosed(now_, stream);
      if (effects.flush.has_value()) {
        store_.now = now_.lo;
        engine_.Flushed(now_, store_.Apply(*effects.flush));
      }
      for (const tidemark::LedgerQuery& query : effects.queries) {
        engine_.Ledger(now_, store_.Answer(query));
      }
    }
    Check();
  }

  // One live run a date, which is the exclusion; and a DONE date has a run that completed.
  void Check() const {
    std::set<std::string> live;
    for (const auto& [key, run] : store_.active) {
      if (!live.insert(run.occurrence.key).second) std::abort();
    }
    for (const auto& [key, mark] : store_.watermarks) {
      if (mark.status != "DONE") continue;
      bool completed = false;
      for (const auto& ended : store_.history) {
        completed = completed || (ended.run.biz_date == key.second &&
                                  ended.status == tidemark::RunStatus::kCompleted);
      }
      if (!completed) std::abort();
    }
  }

  tidemark::SeededRandom random_{7};
  tidemark::MemoryStore store_;
  tidemark::Moment now_;
  tidemark::Engine engine_;
  std::vector<std::string> triggers_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  World world;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (int step = 0; step < 200 && rest.size() >= 3; ++step) {
    const auto op = static_cast<uint8_t>(rest[0]);
    const size_t length = std::min<size_t>(
        static_cast<uint8_t>(rest[1]) * 256U + static_cast<uint8_t>(rest[2]), rest.size() - 3);
    const std::string_view bytes = rest.substr(3, length);
    rest.remove_prefix(3 + length);
    const tidemark::StreamId stream = 1 + op / 16;
    switch (op % 16) {
      case 0:
        world.Close(stream);
        break;
      case 1:
        world.Advance(absl::Seconds(1 + length));
        break;
      case 2:
        world.Congest(stream, length % 2 == 1);
        break;
      default:
        world.Say(stream, bytes);
    }
  }
  return 0;
}
