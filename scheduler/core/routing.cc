#include "scheduler/core/routing.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <tuple>

namespace tidemark {
namespace {

// FNV-1a with a final mix. Not std::hash: the choice must be the same on every node.
uint64_t Hash(int64_t job_id, std::string_view executor_id) {
  uint64_t h = 0xcbf29ce484222325ULL;
  const auto add = [&h](unsigned char byte) { h = (h ^ byte) * 0x100000001b3ULL; };
  for (int shift = 0; shift < 64; shift += 8) {
    add(static_cast<unsigned char>(static_cast<uint64_t>(job_id) >> shift));
  }
  for (const char c : executor_id) add(static_cast<unsigned char>(c));
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdULL;
  return h ^ (h >> 33);
}

template <typename Key>
int Least(const std::vector<Candidate>& candidates, Key key) {
  const auto it =
      std::min_element(candidates.begin(), candidates.end(),
                       [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
  return static_cast<int>(it - candidates.begin());
}

int LeastBusy(const std::vector<Candidate>& candidates) {
  return Least(candidates, [](const Candidate& c) {
    return std::make_tuple(static_cast<double>(c.running) / std::max(c.capacity, 1), c.last_used,
                           c.executor_id);
  });
}

// The next one after the last in the order of ids, round the end.
int RoundRobin(const std::vector<Candidate>& candidates, const std::string& last) {
  return Least(candidates, [&](const Candidate& c) {
    return std::make_tuple(c.executor_id <= last, c.executor_id);
  });
}

// By rank of the id, so that equal seeds choose the same one whatever the order of candidates.
int AnyOne(const std::vector<Candidate>& candidates, uint64_t seed) {
  std::vector<int> order(candidates.size());
  std::iota(order.begin(), order.end(), 0);
  const auto nth = order.begin() + static_cast<std::ptrdiff_t>(seed % order.size());
  std::nth_element(order.begin(), nth, order.end(), [&](int a, int b) {
    return candidates[a].executor_id < candidates[b].executor_id;
  });
  return *nth;
}

int Sticky(const std::vector<Candidate>& candidates, const std::string& last) {
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].executor_id == last) return static_cast<int>(i);
  }
  return LeastBusy(candidates);
}

}  // namespace

int Route(const std::vector<Candidate>& candidates, RoutingStrategy strategy, int64_t job_id,
          const std::string& last_executor, uint64_t seed) {
  if (candidates.empty()) return -1;
  const auto id = [](const Candidate& c) { return c.executor_id; };
  switch (strategy) {
    case RoutingStrategy::kRoundRobin:
      return RoundRobin(candidates, last_executor);
    case RoutingStrategy::kRandom:
      return AnyOne(candidates, seed);
    case RoutingStrategy::kLeastBusy:
      return LeastBusy(candidates);
    case RoutingStrategy::kConsistentHash:
      return Least(candidates, [&](const Candidate& c) {
        return std::make_tuple(~Hash(job_id, c.executor_id), id(c));
      });
    case RoutingStrategy::kLeastRecentlyUsed:
      return Least(candidates,
                   [&](const Candidate& c) { return std::make_tuple(c.last_used, id(c)); });
    case RoutingStrategy::kFirst:
      return Least(candidates, id);
    case RoutingStrategy::kLast:
      return static_cast<int>(
          std::max_element(candidates.begin(), candidates.end(),
                           [&](const Candidate& a, const Candidate& b) { return id(a) < id(b); }) -
          candidates.begin());
    case RoutingStrategy::kSticky:
      return Sticky(candidates, last_executor);
  }
  return 0;
}

}  // namespace tidemark
