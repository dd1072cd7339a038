// Every row of tests/data/cron_cases.tsv.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/core/time/time_test_util.h"

namespace tidemark {
namespace {

struct Row {
  std::string id, expression, zone, from, expected;
};

std::vector<std::string> SplitAt(const std::string& line, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(line);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<Row> ReadRows() {
  std::ifstream file(TIDEMARK_TEST_DATA "/cron_cases.tsv");
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    const std::vector<std::string> parts = SplitAt(line, '\t');
    if (parts.size() >= 5) rows.push_back({parts[0], parts[1], parts[2], parts[3], parts[4]});
  }
  return rows;
}

bool Saveable(const Row& row) { return Schedule::Compile(CronSpec(row.expression, row.zone)).ok(); }

// What the row's chain of fires should be, in its own notation.
std::string Evaluate(const Row& row) {
  const absl::StatusOr<Cron> cron = Cron::Parse(row.expression);
  if (!cron.ok()) return "REJECT";
  const absl::TimeZone zone = Zone(row.zone);
  absl::Time time = At(row.from);
  std::string chain;
  for (size_t i = 0; i < SplitAt(row.expected, ',').size(); ++i) {
    if (i > 0) chain += ",";
    const std::optional<Fire> fire = cron->Next(time, zone);
    if (!fire) return chain + "NEVER";
    time = fire->instant;
    chain += Text(time, zone);
  }
  return chain;
}

class CronCases : public testing::TestWithParam<Row> {};

TEST_P(CronCases, Row) {
  const Row& row = GetParam();
  EXPECT_EQ(Evaluate(row), row.expected);
  if (row.expected == "REJECT") {
    EXPECT_FALSE(Saveable(row));
  }
}

// A server's own zone has no influence.
TEST_P(CronCases, RowUnderOtherServerZones) {
  const char* before = std::getenv("TZ");
  const std::string kept = before == nullptr ? "" : before;
  for (const char* server_zone : {"UTC", "America/New_York", "Pacific/Apia"}) {
    setenv("TZ", server_zone, 1);
    tzset();
    EXPECT_EQ(Evaluate(GetParam()), GetParam().expected) << server_zone;
  }
  before == nullptr ? unsetenv("TZ") : setenv("TZ", kept.c_str(), 1);
  tzset();
}

INSTANTIATE_TEST_SUITE_P(File, CronCases, testing::ValuesIn(ReadRows()),
                         [](const auto& info) { return info.param.id; });

TEST(CronCasesFile, IsWhole) { EXPECT_EQ(ReadRows().size(), 152u); }

// Rows whose whole answer is NEVER and that name no past year or special `from` are not saved.
TEST(CronCasesFile, WhatNeverFiresIsNotSaved) {
  for (const char* cron : {"0 0 0 30 2 ?", "0 0 0 29 2 ? 2100", "0 0 0 31 4,6,9,11 ?"}) {
    EXPECT_FALSE(Saveable({"", cron, "UTC", "", ""})) << cron;
    EXPECT_TRUE(Cron::Parse(cron).ok()) << cron;
  }
  EXPECT_FALSE(Saveable({"", "0 0 9 30 12 ? 2011", "Pacific/Apia", "", ""}));
  EXPECT_TRUE(Saveable({"", "0 0 9 30 12 ? 2011", "UTC", "", ""}));
}

}  // namespace
}  // namespace tidemark
