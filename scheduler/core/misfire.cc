#include "scheduler/core/misfire.h"

#include <algorithm>
#include <deque>

namespace tidemark {
namespace {

void CountSkip(std::vector<FirePlan::Skip>& skips, absl::Time fire, const std::string& reason) {
  if (!skips.empty() && skips.back().reason == reason) {
    skips.back().to = fire;
    ++skips.back().fires;
    return;
  }
  skips.push_back({fire, fire, 1, reason});
}

size_t KeptMissed(const MisfireRule& rule) {
  switch (rule.policy) {
    case MisfirePolicy::kSkip:
      return 0;
    case MisfirePolicy::kFireOnce:
      return 1;
    case MisfirePolicy::kFireAll:
      return static_cast<size_t>(rule.cap);
  }
  return 0;
}

}  // namespace

FirePlan PlanFires(const Timeline& timeline, absl::Time cursor, absl::Time now,
                   const MisfireRule& rule) {
  FirePlan plan;
  const size_t keep = KeptMissed(rule);
  const std::string beyond = rule.policy == MisfirePolicy::kFireAll ? "cap" : "misfire";
  std::deque<Occurrence> missed;  // the latest `keep` of them
  constexpr size_t kChunk = 4096;
  for (bool more = true; more;) {
    const std::vector<Occurrence> fires = timeline.DueFires(cursor, now, kChunk);
    more = fires.size() == kChunk;
    for (const Occurrence& fire : fires) {
      cursor = fire.fire_time;
      plan.cursor = cursor;
      if (now - cursor <= kTolerance) {
        plan.launch.push_back({fire, TriggerType::kSchedule});
      } else if (now - cursor > rule.window) {
        CountSkip(plan.skip, cursor, "window");
      } else {
        missed.push_back(fire);
        if (missed.size() > keep) {
          CountSkip(plan.skip, missed.front().fire_time, beyond);
          missed.pop_front();
        }
      }
    }
  }
  std::vector<FirePlan::Launch> late;
  late.reserve(missed.size());
  for (const Occurrence& fire : missed) late.push_back({fire, TriggerType::kCatchUp});
  plan.launch.insert(plan.launch.begin(), late.begin(), late.end());
  return plan;
}

}  // namespace tidemark
