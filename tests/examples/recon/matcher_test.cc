#include "executor/examples/recon/matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "executor/examples/recon/bill_generator.h"

namespace tidemark::recon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Bill B(std::string id, int64_t cents) { return {std::move(id), cents, "t"}; }

Difference D(std::string id, DifferenceKind kind, std::optional<int64_t> ours,
             std::optional<int64_t> channel, int copies = 1) {
  return {std::move(id), kind, ours, channel, copies};
}

std::vector<Difference> MatchAll(Matcher matcher, size_t chunk) {
  std::vector<Difference> all;
  while (!matcher.done()) {
    Matcher::Chunk part = matcher.Next(chunk);
    EXPECT_GT(part.orders, 0u);
    EXPECT_LE(part.orders, chunk);
    for (Difference& d : part.differences) all.push_back(std::move(d));
  }
  return all;
}

TEST(Matcher, EqualSidesHaveNoDifferences) {
  EXPECT_THAT(MatchAll(Matcher({B("a", 1), B("b", 2)}, {B("b", 2), B("a", 1)}), 10), IsEmpty());
  EXPECT_TRUE(Matcher({}, {}).done());
  EXPECT_EQ(Matcher({}, {}).percent(), 100);
}

TEST(Matcher, FindsEachKind) {
  EXPECT_THAT(
      MatchAll(Matcher({B("both", 1), B("differs", 5), B("ours", 2), B("twice", 3), B("twice", 3)},
                       {B("both", 1), B("channel", 9), B("differs", 6), B("thrice", 4),
                        B("thrice", 4), B("thrice", 4), B("twice", 3)}),
               100),
      ElementsAre(D("channel", DifferenceKind::kMissingOurs, std::nullopt, 9),
                  D("differs", DifferenceKind::kAmountDiffers, 5, 6),
                  D("ours", DifferenceKind::kMissingChannel, 2, std::nullopt),
                  D("thrice", DifferenceKind::kMissingOurs, std::nullopt, 4),
                  D("thrice", DifferenceKind::kDuplicateChannel, std::nullopt, 4, 3),
                  D("twice", DifferenceKind::kDuplicateOurs, 3, 3, 2)));
}

TEST(Matcher, FindsWhatTheGeneratorPlanted) {
  const absl::CivilDay day(2026, 11, 28);
  GeneratedBills bills = GenerateBills(day, DefaultOrders(day));
  EXPECT_GT(bills.ours.size(), 1500u);
  std::map<DifferenceKind, int> found;
  for (const Difference& d : MatchAll(Matcher(bills.ours, bills.channel), 100)) ++found[d.kind];
  EXPECT_EQ(found, bills.planted);
  for (DifferenceKind kind : kAllKinds) EXPECT_GE(found[kind], 3) << KindName(kind);
}

TEST(Matcher, ChunksAndResumptionChangeNothing) {
  const GeneratedBills bills = GenerateBills(absl::CivilDay(2026, 2, 28), 500);
  const std::vector<Difference> whole = MatchAll(Matcher(bills.ours, bills.channel), 100000);
  for (size_t chunk : {1u, 7u, 250u}) {
    EXPECT_EQ(MatchAll(Matcher(bills.ours, bills.channel), chunk), whole) << chunk;
  }
  // Another matcher goes on after any order.
  Matcher first(bills.ours, bills.channel);
  std::vector<Difference> seen;
  while (!first.done()) {
    const Matcher::Chunk part = first.Next(37);
    seen.insert(seen.end(), part.differences.begin(), part.differences.end());
    Matcher second(bills.ours, bills.channel);
    second.SkipThrough(part.last_order_id);
    EXPECT_EQ(second.percent(), first.percent());
    std::vector<Difference> all = seen;
    for (const Difference& d : MatchAll(second, 1000)) all.push_back(d);
    EXPECT_EQ(all, whole) << part.last_order_id;
  }
}

TEST(Generator, EqualDatesGiveEqualBillsAndOthersDiffer) {
  const absl::CivilDay day(2026, 11, 28);
  const GeneratedBills once = GenerateBills(day, 300);
  const GeneratedBills again = GenerateBills(day, 300);
  EXPECT_EQ(once.ours, again.ours);
  EXPECT_EQ(once.channel, again.channel);
  EXPECT_NE(GenerateBills(day + 1, 300).ours, once.ours);
}

}  // namespace
}  // namespace tidemark::recon
