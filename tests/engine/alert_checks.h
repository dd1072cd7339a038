// What tests of alerts ask.
#ifndef TIDEMARK_TESTS_ENGINE_ALERT_CHECKS_H_
#define TIDEMARK_TESTS_ENGINE_ALERT_CHECKS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/engine/harness.h"

namespace tidemark {

// How often an alert of that kind ended.
inline int Ended(const EngineHarness& h, const std::string& kind) {
  int ended = 0;
  for (const std::string& key : h.store.ended) {
    ended += key.compare(0, kind.size() + 1, kind + "/") == 0 ? 1 : 0;
  }
  return ended;
}

// The last alert of that kind.
inline AlertRaise LastOf(const EngineHarness& h, const std::string& kind) {
  AlertRaise last;
  for (const AlertRaise& alert : h.store.all_alerts) {
    if (alert.kind == kind) last = alert;
  }
  return last;
}

// It was told `times` times by now, the last time in words that hold all of these.
inline void ExpectTold(const EngineHarness& h, const std::string& kind, int times,
                       const std::vector<std::string>& words) {
  EXPECT_EQ(h.Told(kind), times) << kind;
  const AlertRaise last = LastOf(h, kind);
  for (const std::string& word : words) {
    EXPECT_THAT(last.summary + "\n" + last.detail, ::testing::HasSubstr(word)) << kind;
  }
}

// Succeeds in whatever comes.
inline void SucceedAlways(EngineHarness& h) {
  h.on_trigger = [&h](EngineHarness::Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kSucceeded);
  };
}

// Fails for good in whatever comes.
inline void FailAlways(EngineHarness& h) {
  h.on_trigger = [&h](EngineHarness::Executor& e, const TriggerOrder& t) {
    h.Begin(e, t);
    h.Finish(e, t, Outcome::kFailedPermanent, "no bills");
  };
}

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_ENGINE_ALERT_CHECKS_H_
