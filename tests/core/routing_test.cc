#include "scheduler/core/routing.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "common/id.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

constexpr RoutingStrategy kStrategies[] = {RoutingStrategy::kRoundRobin,
                                           RoutingStrategy::kRandom,
                                           RoutingStrategy::kLeastBusy,
                                           RoutingStrategy::kConsistentHash,
                                           RoutingStrategy::kLeastRecentlyUsed,
                                           RoutingStrategy::kFirst,
                                           RoutingStrategy::kLast,
                                           RoutingStrategy::kSticky};

Candidate Executor(const std::string& id, int running = 0, int capacity = 4,
                   uint64_t last_used = 0) {
  static std::set<std::string> kept;  // candidates refer to their ids only
  Candidate candidate;
  candidate.executor_id = *kept.insert(id).first;
  candidate.running = running;
  candidate.capacity = capacity;
  candidate.last_used = last_used;
  return candidate;
}

std::string Chosen(const std::vector<Candidate>& candidates, RoutingStrategy strategy,
                   const std::string& last = "", int64_t job_id = 1, uint64_t seed = 0) {
  const int index = Route(candidates, strategy, job_id, last, seed);
  return index < 0 ? "" : std::string(candidates.at(static_cast<size_t>(index)).executor_id);
}

TEST(Route, NobodyIsNobody) {
  for (const RoutingStrategy strategy : kStrategies) {
    EXPECT_EQ(Route({}, strategy, 1, "a", 7), -1);
  }
}

TEST(Route, RoundRobinGoesRoundInTheOrderOfIds) {
  const std::vector<Candidate> all = {Executor("c"), Executor("a"), Executor("b")};
  std::string last;
  std::string tour;
  for (int i = 0; i < 7; ++i) tour += last = Chosen(all, RoutingStrategy::kRoundRobin, last);
  EXPECT_EQ(tour, "abcabca");
  EXPECT_EQ(Chosen(all, RoutingStrategy::kRoundRobin, "bb"), "c");  // the last one has left
  EXPECT_EQ(Chosen({Executor("b")}, RoutingStrategy::kRoundRobin, "b"), "b");
}

TEST(Route, LeastBusyComparesSharesThenUseThenIds) {
  EXPECT_EQ(Chosen({Executor("a", 3, 4), Executor("b", 5, 10)}, RoutingStrategy::kLeastBusy), "b");
  EXPECT_EQ(Chosen({Executor("a", 1, 3, 9), Executor("b", 2, 6, 8)}, RoutingStrategy::kLeastBusy),
            "b");
  EXPECT_EQ(Chosen({Executor("b", 1, 3), Executor("a", 2, 6)}, RoutingStrategy::kLeastBusy), "a");
  EXPECT_EQ(Chosen({Executor("a", 1, 0), Executor("b", 0, 0)}, RoutingStrategy::kLeastBusy), "b");
}

TEST(Route, LeastRecentlyUsedPrefersTheNeverUsed) {
  EXPECT_EQ(Chosen({Executor("a", 0, 4, 5), Executor("b", 3, 4, 0), Executor("c", 0, 4, 2)},
                   RoutingStrategy::kLeastRecentlyUsed),
            "b");
  EXPECT_EQ(
      Chosen({Executor("b", 0, 4, 5), Executor("a", 0, 4, 5)}, RoutingStrategy::kLeastRecentlyUsed),
      "a");
}

TEST(Route, FirstAndLastGoByIdsNotByPlace) {
  const std::vector<Candidate> all = {Executor("b"), Executor("c"), Executor("a")};
  EXPECT_EQ(Chosen(all, RoutingStrategy::kFirst), "a");
  EXPECT_EQ(Chosen(all, RoutingStrategy::kLast), "c");
}

TEST(Route, StickyStaysWhileItCan) {
  EXPECT_EQ(Chosen({Executor("a", 0), Executor("b", 3)}, RoutingStrategy::kSticky, "b"), "b");
  EXPECT_EQ(Chosen({Executor("a", 2), Executor("b", 1)}, RoutingStrategy::kSticky, "gone"), "b");
  EXPECT_EQ(Chosen({Executor("a", 2), Executor("b", 1)}, RoutingStrategy::kSticky, ""), "b");
}

TEST(Route, RandomReachesAllEvenly) {
  const std::vector<Candidate> all = {Executor("a"), Executor("b"), Executor("c")};
  std::map<std::string, int> count;
  SeededRandom random(19);
  for (int i = 0; i < 9000; ++i) {
    ++count[Chosen(all, RoutingStrategy::kRandom, "", 1, random.Next())];
  }
  for (const auto& [id, times] : count) {
    EXPECT_GT(times, 2700) << id;
    EXPECT_LT(times, 3300) << id;
  }
  EXPECT_EQ(count.size(), 3u);
}

// The candidates come out of a map of sessions: their order says nothing and may change nothing.
TEST(Route, PropertyTheOrderOfCandidatesDoesNotMatter) {
  SeededRandom random(23);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Candidate> candidates;
    for (uint64_t n = 1 + random.Next() % 6; n > 0; --n) {
      candidates.push_back(Executor("e" + std::to_string(n), static_cast<int>(random.Next() % 3),
                                    1 + static_cast<int>(random.Next() % 3), random.Next() % 3));
    }
    const std::string last = "e" + std::to_string(random.Next() % 8);
    const uint64_t seed = random.Next();
    const auto job_id = static_cast<int64_t>(random.Next() >> 1);
    for (const RoutingStrategy strategy : kStrategies) {
      const std::string chosen = Chosen(candidates, strategy, last, job_id, seed);
      ASSERT_FALSE(chosen.empty());
      std::vector<Candidate> shuffled = candidates;
      for (size_t i = shuffled.size(); i > 1; --i) {
        std::swap(shuffled[i - 1], shuffled[random.Next() % i]);
      }
      ASSERT_EQ(Chosen(shuffled, strategy, last, job_id, seed), chosen)
          << static_cast<int>(strategy);
    }
  }
}

TEST(Route, ConsistentHashSpreadsJobsAndMovesOnlyThoseOfWhoLeaves) {
  std::vector<Candidate> all;
  for (int i = 0; i < 5; ++i) all.push_back(Executor("executor-" + std::to_string(i)));
  std::vector<Candidate> four = all;
  four.erase(four.begin() + 2);
  std::map<std::string, int> count;
  SeededRandom random(29);
  for (int i = 0; i < 5000; ++i) {
    const int64_t job_id = i % 2 == 0 ? i : static_cast<int64_t>(random.Next() >> 1);
    const std::string before = Chosen(all, RoutingStrategy::kConsistentHash, "", job_id);
    const std::string after = Chosen(four, RoutingStrategy::kConsistentHash, "", job_id);
    ++count[before];
    if (before != "executor-2") {
      ASSERT_EQ(after, before) << job_id;
    }
    // Neither seed nor history nor load moves it.
    std::vector<Candidate> busy = all;
    for (Candidate& candidate : busy) candidate.running = static_cast<int>(random.Next() % 4);
    ASSERT_EQ(Chosen(busy, RoutingStrategy::kConsistentHash, "executor-1", job_id, random.Next()),
              before);
  }
  for (const auto& [id, times] : count) {
    EXPECT_GT(times, 800) << id;
    EXPECT_LT(times, 1200) << id;
  }
}

}  // namespace
}  // namespace tidemark
