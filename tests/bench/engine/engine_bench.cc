// engine_bench [JOBS [EXECUTORS [CAPACITY]]]: what a run costs the engine alone, from its fire to
// its end, when all jobs are due at one instant. The store and the executors answer at once. Prints
// a table; gates nothing. See tests/bench/hot for the whole.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/id.h"
#include "scheduler/engine/engine.h"

namespace tidemark {
namespace {

class EngineBench {
 public:
  EngineBench(int jobs, int executors, int capacity)
      : jobs_(jobs), executors_(executors), capacity_(capacity) {}

  void Run() {
    std::printf("%-34s %10s %12s %10s\n", "step", "ms", "us a run", "messages");
    Step("start", [&] { Start(); });
    Step("executors register", [&] { Connect(); });
    for (int round = 1; round <= 3; ++round) {
      const absl::Time due = start_ + absl::Minutes(round);
      AdvanceTo(due - absl::Milliseconds(1001));
      messages_ = 0;
      triggers_.clear();
      Step("armed, a second ahead", [&] { AdvanceTo(due - absl::Milliseconds(900)); });
      Step("launched at the instant", [&] { AdvanceTo(due); });
      const size_t at_once = triggers_.size();
      while (done_ < static_cast<size_t>(jobs_)) {
        const std::vector<std::pair<StreamId, TriggerOrder>> batch = std::exchange(triggers_, {});
        if (batch.empty()) break;
        Step("started and finished", [&] { Finish(batch); });
        done_ += batch.size();
      }
      std::printf("round %d: %zu launched at once, %zu done\n", round, at_once, done_);
      done_ = 0;
    }
  }

 private:
  template <typename Work>
  void Step(const char* what, const Work& work) {
    const absl::Duration begin = SystemClock().Monotonic();
    const size_t before = messages_;
    work();
    const double us = absl::ToDoubleMicroseconds(SystemClock().Monotonic() - begin);
    std::printf("%-34s %10.1f %12.2f %10zu\n", what, us / 1000, us / jobs_, messages_ - before);
  }

  Decoders MakeDecoders() {
    return {[](const std::string& text) -> absl::StatusOr<JobSpec> {
              JobSpec spec;
              spec.name = text;
              spec.app = "app";
              spec.handler = "work";
              spec.schedule.kind = ScheduleSpec::Kind::kCron;
              spec.schedule.cron = "0 * * * * ?";
              spec.schedule.zone = "UTC";
              spec.schedule.tracking = ScheduleSpec::Tracking::kInterval;
              return spec;
            },
            [](const std::string&) { return std::map<std::string, std::string>{}; }};
  }

  void Start() {
    engine_ = std::make_unique<Engine>(MakeDecoders(), random_);
    Snapshot snapshot;
    for (int shard = 0; shard < kShards; ++shard) snapshot.shards[shard] = {1, 1};
    for (int i = 1; i <= jobs_; ++i) {
      JobRow row;
      row.job_id = i;
      row.name = "job-" + std::to_string(i);
      row.ns = "default";
      row.app = "app";
      row.shard = ShardOf(i);
      row.version = 1;
      row.created_at = start_;
      row.cursor = start_;
      row.versions.push_back({1, start_, row.name});
      snapshot.jobs.push_back(std::move(row));
    }
    engine_->TermStarted(now_, std::move(snapshot));
    Pump();
  }

  void Connect() {
    for (int i = 1; i <= executors_; ++i) {
      ExecutorMessage message;
      Hello hello;
      hello.executor_id = "executor-" + std::to_string(i);
      hello.app = "app";
      hello.ns = "default";
      hello.incarnation = NewUuid(start_, random_);
      hello.handlers = {{"work", true, 0}};
      hello.capacity = capacity_;
      hello.host = "host";
      message.hello = std::move(hello);
      engine_->Received(now_, static_cast<StreamId>(i), message, now_.mono);
      Pump();
    }
  }

  void AdvanceTo(absl::Time time) {
    while (now_.lo < time) {
      const absl::Duration step = std::min(time - now_.lo, absl::Seconds(1));
      now_.lo += step;
      now_.hi += step;
      now_.mono += step;
      for (int i = 1; i <= executors_; ++i) {
        ExecutorMessage message;
        message.heartbeat = Heartbeat{++beat_, {}, false};
        engine_->Received(now_, static_cast<StreamId>(i), message, now_.mono);
      }
      do {
        engine_->Tick(now_);
        Pump();
      } while (engine_->NextWake(now_) <= now_.mono);
    }
  }

  void Finish(const std::vector<std::pair<StreamId, TriggerOrder>>& batch) {
    for (const auto& [stream, trigger] : batch) {
      ExecutorMessage message;
      message.reports.push_back({trigger.attempt, trigger.registration, StartedReport{}});
      message.reports.push_back({trigger.attempt, trigger.registration, FinishedReport{}});
      engine_->Received(now_, stream, message, now_.mono);
    }
    Pump();
  }

  void Pump() {
    for (Effects effects = engine_->TakeEffects(); !effects.empty();
         effects = engine_->TakeEffects()) {
      messages_ += effects.messages.size();
      for (Outbound& message : effects.messages) {
        if (auto* trigger = std::get_if<TriggerOrder>(&message.body)) {
          triggers_.emplace_back(message.stream, std::move(*trigger));
        }
      }
      if (effects.flush.has_value()) engine_->Flushed(now_, Committed(*effects.flush));
    }
  }

  FlushResult Committed(const Flush& flush) {
    FlushResult result;
    result.seq = flush.seq;
    for (const RunOpen& open : flush.opens) result.opened.insert(open.run.run_id);
    for (const RunUpdate& update : flush.updates) result.updated.insert(update.run.run_id);
    for (const RunClose& close : flush.closes) result.closed.insert(close.run_id);
    for (const ExecutorRegister& row : flush.registers) {
      ExecutorRegistered registered;
      registered.session = row.session;
      registered.registration = 1;
      result.registered.push_back(registered);
    }
    return result;
  }

  const int jobs_;
  const int executors_;
  const int capacity_;
  const absl::Time start_ = absl::FromUnixSeconds(1'900'000'020);
  SeededRandom random_{1};
  Moment now_{absl::Seconds(1000), start_, start_};
  std::unique_ptr<Engine> engine_;
  uint64_t beat_ = 0;
  std::vector<std::pair<StreamId, TriggerOrder>> triggers_;
  size_t messages_ = 0;
  size_t done_ = 0;
};

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  const auto arg = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  tidemark::EngineBench(arg(1, 10000), arg(2, 2), arg(3, 20000)).Run();
  return 0;
}
