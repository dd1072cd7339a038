// Fingerprints of what a run left.
#include "tidemark/digest.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(DigestTest, KnownValueAndOrder) {
  const auto abc = Sha256("abc");
  EXPECT_EQ(abc[0], 0xba);
  EXPECT_EQ(abc[31], 0xad);
  Digest one, two, twice, given, other;
  one.AddRow({"a", "1"});
  one.AddRow({"b", "2"});
  two.AddRow({"b", "2"});
  two.AddRow({"a", "1"});
  EXPECT_EQ(one.Hex(), two.Hex());
  EXPECT_EQ(one.rows(), 2);
  twice.AddRow({"a", "1"});
  twice.AddRow({"a", "1"});
  EXPECT_NE(twice.Hex(), Digest().Hex());
  Digest first(Digest::Order::kGiven), second(Digest::Order::kGiven);
  first.AddRow({"a"});
  first.AddRow({"b"});
  second.AddRow({"b"});
  second.AddRow({"a"});
  EXPECT_NE(first.Hex(), second.Hex());
  given.AddRow({"ab", "c"});
  other.AddRow({"a", "bc"});
  EXPECT_NE(given.Hex(), other.Hex());
  EXPECT_EQ(given.Hex().size(), 7u + 64u);
}

}  // namespace
}  // namespace tidemark
