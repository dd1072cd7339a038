// The words that job definitions use for the core's enumerations: one table for both directions.
#ifndef TIDEMARK_SCHEDULER_RPC_JOB_WORDS_H_
#define TIDEMARK_SCHEDULER_RPC_JOB_WORDS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/core/job.h"

namespace tidemark {

// The words of one enumeration, the default first.
template <typename Enum>
struct Word {
  std::string_view text;
  Enum value;
};

inline constexpr Word<CatchUpOrder> kOrderWords[] = {{"strict", CatchUpOrder::kStrict},
                                                     {"independent", CatchUpOrder::kIndependent}};
inline constexpr Word<MisfirePolicy> kMisfireWords[] = {{"fire_once", MisfirePolicy::kFireOnce},
                                                        {"skip", MisfirePolicy::kSkip},
                                                        {"fire_all", MisfirePolicy::kFireAll}};
inline constexpr Word<BlockingPolicy> kBlockingWords[] = {
    {"serial", BlockingPolicy::kSerial},
    {"discard_later", BlockingPolicy::kDiscardLater},
    {"cover_early", BlockingPolicy::kCoverEarly},
    {"concurrent", BlockingPolicy::kConcurrent}};
inline constexpr Word<RoutingStrategy> kRoutingWords[] = {
    {"least_busy", RoutingStrategy::kLeastBusy},
    {"round_robin", RoutingStrategy::kRoundRobin},
    {"random", RoutingStrategy::kRandom},
    {"consistent_hash", RoutingStrategy::kConsistentHash},
    {"least_recently_used", RoutingStrategy::kLeastRecentlyUsed},
    {"first", RoutingStrategy::kFirst},
    {"last", RoutingStrategy::kLast},
    {"sticky", RoutingStrategy::kSticky}};
inline constexpr Word<ScheduleSpec::Tracking> kTrackingWords[] = {
    {"", ScheduleSpec::Tracking::kDerived},
    {"dated", ScheduleSpec::Tracking::kDated},
    {"interval", ScheduleSpec::Tracking::kInterval}};
inline constexpr Word<ScheduleSpec::Unit> kUnitWords[] = {
    {"day", ScheduleSpec::Unit::kDay}, {"business_day", ScheduleSpec::Unit::kBusinessDay}};
inline constexpr Word<Dialect> kDialectWords[] = {{"", Dialect::kAuto},
                                                  {"quartz", Dialect::kQuartz},
                                                  {"spring", Dialect::kSpring},
                                                  {"vixie", Dialect::kVixie}};

// The value of `text`; "" is the default; empty when there is no such word.
template <typename Enum, size_t n>
std::optional<Enum> FindWord(const Word<Enum> (&words)[n], std::string_view text) {
  if (text.empty()) return words[0].value;
  for (const Word<Enum>& word : words) {
    if (word.text == text) return word.value;
  }
  return std::nullopt;
}

// The word of `value`, or "" when it is the default.
template <typename Enum, size_t n>
std::string WordOf(const Word<Enum> (&words)[n], Enum value) {
  for (const Word<Enum>& word : words) {
    if (word.value == value && &word != &words[0]) return std::string(word.text);
  }
  return "";
}

template <typename Enum, size_t n>
std::vector<std::string> AllWords(const Word<Enum> (&words)[n]) {
  std::vector<std::string> all;
  for (const Word<Enum>& word : words) {
    if (!word.text.empty()) all.emplace_back(word.text);
  }
  return all;
}

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_JOB_WORDS_H_
