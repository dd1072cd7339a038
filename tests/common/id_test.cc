#include "common/id.h"

#include <set>
#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

const absl::Time kNow = absl::FromUnixMillis(1795885200123);

// The worst that randomness can do.
class ConstantRandom : public Random {
 public:
  explicit ConstantRandom(uint64_t value) : value_(value) {}
  uint64_t Next() override { return value_; }

 private:
  uint64_t value_;
};

void ExpectVersion7(const std::string& id) {
  EXPECT_TRUE(IsUuid(id)) << id;
  EXPECT_EQ(id[14], '7') << id;
  EXPECT_NE(std::string("89ab").find(id[19]), std::string::npos) << id;
}

TEST(RunIdSource, HasTheFormOfVersion7AndTheTimeInFront) {
  for (const uint64_t bits : {uint64_t{0}, ~uint64_t{0}, uint64_t{0x123456789abcdef0}}) {
    ConstantRandom random(bits);
    const std::string id = RunIdSource(random).Next(kNow);
    ExpectVersion7(id);
    EXPECT_EQ(std::stoull(id.substr(0, 8) + id.substr(9, 4), nullptr, 16),
              static_cast<uint64_t>(absl::ToUnixMillis(kNow)));
  }
}

TEST(RunIdSource, EachIsGreaterThanTheOneBefore) {
  for (const uint64_t bits : {uint64_t{0}, ~uint64_t{0}}) {
    ConstantRandom random(bits);
    RunIdSource source(random);
    std::string last;
    // A flood within one millisecond, more than the 4096 that it can count.
    for (int i = 0; i < 20000; ++i) {
      const std::string id = source.Next(kNow);
      ASSERT_GT(id, last);
      last = id;
    }
    ExpectVersion7(last);
  }
}

TEST(RunIdSource, AlsoWhenTheTimeGoesBackOrIsWrong) {
  SeededRandom random(3);
  RunIdSource source(random);
  std::string last;
  absl::Time now = kNow;
  for (int i = 0; i < 20000; ++i) {
    now += absl::Microseconds(static_cast<int64_t>(random.Next() % 4000) - 2000);
    if (i % 1000 == 0) now -= absl::Hours(1);
    const std::string id = source.Next(i % 777 == 0 ? absl::InfinitePast() : now);
    ASSERT_GT(id, last) << i;
    last = id;
  }
  ExpectVersion7(last);
}

TEST(RunIdSource, AnotherProcessGoesOnBehindWhatItFinds) {
  SeededRandom random(4);
  const std::string found = RunIdSource(random).Next(kNow + absl::Hours(1));
  RunIdSource source(random);
  source.StartAfter("no id");
  source.StartAfter(found);
  std::string last = found;
  for (int i = 0; i < 5000; ++i) {  // over the end of a millisecond
    const std::string id = source.Next(kNow);
    ASSERT_GT(id, last);
    last = id;
  }
  ExpectVersion7(last);
  source.StartAfter(RunIdSource(random).Next(kNow));  // an older one changes nothing
  EXPECT_GT(source.Next(kNow), last);
}

TEST(RunIdSource, ATimeBefore1970DoesNotSpoilTheLaterOnes) {
  SeededRandom random(3);
  RunIdSource source(random);
  source.Next(absl::FromUnixMillis(-1));
  EXPECT_EQ(source.Next(kNow).substr(0, 13), RunIdSource(random).Next(kNow).substr(0, 13));
}

TEST(NewUuid, IsUniqueWithoutAnOrder) {
  std::set<std::string> seen;
  SeededRandom random(5);
  for (int i = 0; i < 10000; ++i) seen.insert(NewUuid(kNow, random));
  EXPECT_EQ(seen.size(), 10000u);
}

TEST(IsUuid, ChecksTheForm) {
  EXPECT_TRUE(IsUuid("01920000-0000-7000-8000-00000000000f"));
  EXPECT_FALSE(IsUuid(""));
  EXPECT_FALSE(IsUuid("01920000-0000-7000-8000-00000000000F"));
  EXPECT_FALSE(IsUuid("01920000-0000-7000-8000-00000000000"));
  EXPECT_FALSE(IsUuid("01920000-0000-7000-8000-00000000000ff"));
  EXPECT_FALSE(IsUuid("0192000000000-7000-8000-00000000000f"));
  EXPECT_FALSE(IsUuid("01920000-0000-7000-8000-0000000000-f"));
  EXPECT_FALSE(IsUuid("g1920000-0000-7000-8000-00000000000f"));
}

TEST(NewJobId, IsPositiveAndOrderedByTime) {
  const absl::Time start = absl::FromUnixMillis(1577836800000);  // 2020
  ConstantRandom zero(0);
  ConstantRandom ones(~uint64_t{0});
  EXPECT_GT(NewJobId(start, zero), 0);
  EXPECT_GT(NewJobId(start - absl::Hours(1), ones), 0);
  EXPECT_LT(NewJobId(kNow, ones), NewJobId(kNow + absl::Milliseconds(1), zero));
}

TEST(RandomHex, HasTwoDigitsAByte) {
  ConstantRandom random(0xa7);
  EXPECT_EQ(RandomHex(3, random), "a7a7a7");
  EXPECT_EQ(RandomHex(0, random), "");
}

TEST(Random, UniformStaysBelowOne) {
  ConstantRandom ones(~uint64_t{0});
  ConstantRandom zero(0);
  EXPECT_LT(ones.Uniform(), 1.0);
  EXPECT_EQ(zero.Uniform(), 0.0);
}

TEST(SeededRandom, RepeatsItselfByItsSeed) {
  SeededRandom a(1);
  SeededRandom b(1);
  SeededRandom c(2);
  const uint64_t first = a.Next();
  EXPECT_EQ(first, b.Next());
  EXPECT_NE(first, c.Next());
}

TEST(SystemRandom, IsNotConstant) { EXPECT_NE(SystemRandom().Next(), SystemRandom().Next()); }

}  // namespace
}  // namespace tidemark
