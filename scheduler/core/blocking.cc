#include "scheduler/core/blocking.h"

namespace tidemark {

BlockingDecision DecideBlocking(const BlockingRule& rule, int live) {
  using Kind = BlockingDecision::Kind;
  const int at_once = rule.policy == BlockingPolicy::kConcurrent ? rule.concurrent : 1;
  if (live < at_once) return {Kind::kOpen, ""};
  switch (rule.policy) {
    case BlockingPolicy::kDiscardLater:
      return {Kind::kSkip, "blocked"};
    case BlockingPolicy::kCoverEarly:
      return {Kind::kCover, ""};
    case BlockingPolicy::kSerial:
    case BlockingPolicy::kConcurrent:
      break;
  }
  if (live - at_once >= rule.queue) return {Kind::kSkip, "queue_full"};
  return {Kind::kOpen, ""};
}

int RunsAtOnce(const JobSpec& spec, bool dated) {
  if (dated) {
    return spec.catch_up.order == CatchUpOrder::kIndependent ? spec.catch_up.parallelism : 1;
  }
  return spec.blocking.policy == BlockingPolicy::kConcurrent ? spec.blocking.concurrent : 1;
}

}  // namespace tidemark
