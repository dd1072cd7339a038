// Jobs that are alike share what their texts mean, and a table that finds them.
#include "scheduler/engine/definitions.h"

#include <gtest/gtest.h>

#include <string>

#include "scheduler/engine/job_table.h"

namespace tidemark {
namespace {

constexpr char kRest[] = "\"handler\":\"work\"}";

class DefinitionsTest : public testing::Test {
 protected:
  JobRow Row(const std::string& name, const std::string& rest = kRest) {
    JobRow row;
    row.name = name;
    row.versions.push_back({1, absl::UnixEpoch(), "{\"name\":\"" + name + "\"," + rest});
    return row;
  }
  JobRow Like(const std::string& name, const std::shared_ptr<const std::string>& text) {
    JobRow row = Row(name);
    row.versions.front().spec.clear();
    row.versions.front().like = text;
    return row;
  }
  std::shared_ptr<const Definition> Compile(const JobRow& row) {
    std::shared_ptr<const Definition> definition = Definition::Empty();
    EXPECT_TRUE(definitions_.Compile(row, &definition).ok());
    return definition;
  }

  int decoded_ = 0;
  Decoders decoders_{[this](const std::string& text) -> absl::StatusOr<JobSpec> {
                       ++decoded_;
                       JobSpec spec;
                       spec.handler = text;
                       spec.schedule.kind = ScheduleSpec::Kind::kManual;
                       spec.schedule.zone = "UTC";
                       return spec;
                     },
                     nullptr};
  Definitions definitions_{decoders_};
};

TEST_F(DefinitionsTest, TextsThatDifferByTheNameAloneAreDecodedOnce) {
  const auto one = Compile(Row("one"));
  EXPECT_EQ(Compile(Row("two")), one);
  EXPECT_NE(Compile(Row("three", "\"handler\":\"other\"}")), one);
  EXPECT_EQ(decoded_, 2);
}

TEST_F(DefinitionsTest, ATextWithoutTheNameIsTheSameDefinition) {
  const auto text = std::make_shared<const std::string>(std::string("{") + kRest);
  const auto one = Compile(Like("one", text));
  EXPECT_EQ(one->spec.handler, std::string("{\"name\":\"one\",") + kRest)
      << "nobody can read a definition without its name";
  EXPECT_EQ(Compile(Like("two", text)), one);
  EXPECT_EQ(Compile(Like("three", std::make_shared<const std::string>(*text))), one);
  EXPECT_EQ(Compile(Row("four")), one) << "read alone, with its name";
  EXPECT_EQ(decoded_, 1);
}

TEST(JobTableTest, FindsByIdNameAndApp) {
  JobTable table;
  for (int64_t id = 1; id <= 5000; ++id) {
    JobState& job = *table.Make(id).first;
    table.Place(job, "job-" + std::to_string(id), "default", id % 2 == 0 ? "even" : "odd");
  }
  EXPECT_EQ(table.size(), 5000U);
  ASSERT_NE(table.Find(4711), nullptr);
  EXPECT_EQ(table.Find(4711)->name(), "job-4711");
  EXPECT_EQ(table.FindNamed("job-42"), table.Find(42));
  EXPECT_EQ(table.Find(5001), nullptr);
  EXPECT_FALSE(table.Make(42).second);
  EXPECT_EQ(table.Of("even").size(), 2500U);
  EXPECT_EQ(table.Of("none").size(), 0U);
}

TEST(JobTableTest, AFreedSlotIsUsedAgainAndNothingElseMoves) {
  JobTable table;
  for (int64_t id = 1; id <= 3; ++id) {
    table.Place(*table.Make(id).first, "job-" + std::to_string(id), "default", "app");
  }
  JobState* third = table.Find(3);
  table.Remove(*table.Find(1));
  EXPECT_EQ(table.Find(1), nullptr);
  EXPECT_EQ(table.FindNamed("job-1"), nullptr);
  EXPECT_EQ(table.Of("app").size(), 2U);
  EXPECT_EQ(table.Find(3), third);
  JobState& fourth = *table.Make(4).first;
  EXPECT_EQ(fourth.row.version, 0) << "nothing of the old one";
  EXPECT_EQ(table.slots(), 3U);
  table.Place(fourth, "job-3", "default", "other");
  EXPECT_EQ(table.FindNamed("job-3"), &fourth) << "made again under the name of a deleted one";
  table.Remove(*third);
  EXPECT_EQ(table.FindNamed("job-3"), &fourth);
  EXPECT_EQ(table.Apps(), (std::vector<std::string>{"app", "other"}));
  table.Remove(*table.Find(2));
  EXPECT_EQ(table.Apps(), std::vector<std::string>{"other"});
}

TEST(CompactTest, TimesAndDaysAreKeptToTheMicrosecondOrNotAtAll) {
  EXPECT_FALSE(CompactTime().has_value());
  const absl::Time time = absl::FromUnixMicros(1'900'000'000'000'001) + absl::Nanoseconds(7);
  EXPECT_EQ(*CompactTime(time), absl::FromUnixMicros(1'900'000'000'000'001));
  EXPECT_EQ(*CompactTime::NotBefore(time), absl::FromUnixMicros(1'900'000'000'000'002));
  EXPECT_EQ(*CompactTime(absl::InfiniteFuture()), absl::InfiniteFuture());
  EXPECT_EQ(*CompactTime(absl::InfinitePast()), absl::InfinitePast());
  EXPECT_FALSE(CompactDay().has_value());
  EXPECT_EQ(*CompactDay(absl::CivilDay(1969, 12, 31)), absl::CivilDay(1969, 12, 31));
  EXPECT_LE(sizeof(JobState), 144U) << "there may be a million";
}

}  // namespace
}  // namespace tidemark
