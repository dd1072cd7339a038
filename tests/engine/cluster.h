// Two nodes on one store, each with shards of its own, and executors with a stream to both.
#ifndef TIDEMARK_TESTS_ENGINE_CLUSTER_H_
#define TIDEMARK_TESTS_ENGINE_CLUSTER_H_

#include <set>
#include <string>

#include "tests/engine/harness.h"

namespace tidemark {

// Node a has shard 1 with the job "of-a", node b has shard 2 with "of-b"; both are daily and have
// one due date. What the executor holds it names to both nodes.
struct TwoNodes {
  using Executor = EngineHarness::Executor;

  explicit TwoNodes(const JobSpec& like = EngineHarness::DailyJob("", "2026-11-28"))
      : a("2026-11-29T03:00:00Z"), b(a) {
    of_a = Make(like, "of-a", 1);
    of_b = Make(like, "of-b", 2);
    a.owned = std::set<int>{1};
    b.owned = std::set<int>{2};
    a.StartTerm();
    b.StartTerm();
  }

  int64_t Make(JobSpec spec, const std::string& name, int shard) {
    spec.name = name;
    const int64_t id = a.Apply(spec);
    a.store.jobs[id].shard = shard;
    return id;
  }

  EngineHarness& OtherThan(const EngineHarness& node) { return &node == &a ? b : a; }

  // The process dials both nodes.
  void Start(const std::string& id, int incarnation = 1) {
    a.Start(id, incarnation);
    b.executors[id].registration = 0;
    Dial(b, id);
  }
  // The process that the other node knows dials this one, too.
  void Dial(EngineHarness& node, const std::string& id) {
    Executor& executor = node.executors[id];
    executor.id = id;
    executor.incarnation = OtherThan(node).executors[id].incarnation;
    node.Connect(executor);
  }
  void SetCapacity(const std::string& id, int capacity) {
    a.executors[id].capacity = capacity;
    b.executors[id].capacity = capacity;
  }
  // The handler of what the node triggered last at the executor is entered.
  const TriggerOrder& Begin(EngineHarness& node, const std::string& id) {
    Executor& executor = node.executors.at(id);
    const TriggerOrder& trigger = executor.triggers.back();
    node.Begin(executor, trigger);
    OtherThan(node).executors[id].held[trigger.attempt.run_id] =
        executor.held[trigger.attempt.run_id];
    return trigger;
  }
  // Its result goes to the node that triggered it, or to `through`.
  void Finish(EngineHarness& node, const std::string& id, EngineHarness* through = nullptr) {
    const TriggerOrder trigger = node.executors.at(id).triggers.back();
    a.executors[id].held.erase(trigger.attempt.run_id);
    b.executors[id].held.erase(trigger.attempt.run_id);
    EngineHarness& to = through != nullptr ? *through : node;
    to.Finish(to.executors[id], trigger, Outcome::kSucceeded);
  }
  void Beat(const std::string& id) {
    a.Beat(a.executors.at(id));
    b.Beat(b.executors.at(id));
  }
  void Advance(absl::Duration d) {
    for (; d > absl::ZeroDuration(); d -= absl::Seconds(1)) {
      a.Advance(absl::Seconds(1));
      b.Advance(absl::Seconds(1));
    }
  }

  EngineHarness a;
  EngineHarness b;
  int64_t of_a = 0;
  int64_t of_b = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_ENGINE_CLUSTER_H_
