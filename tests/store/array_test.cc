#include "scheduler/store/array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/id.h"
#include "tests/support/migrated_database.h"

namespace tidemark {
namespace {

TEST(SqlArrayTest, Literals) {
  EXPECT_EQ(SqlArray().Take(), "{}");
  SqlArray array;
  array.Add("a");
  array.Add(std::nullopt);
  array.Add("");
  array.Add("q\"b\\");
  EXPECT_EQ(std::move(array).Take(), R"({a,NULL,"","q\"b\\"})");
}

// Whatever the text, PostgreSQL reads back what went in: the only judge that counts.
TEST(SqlArrayTest, RoundTripThroughThePostgresOfRandomTexts) {
  MigratedDatabase database;
  const std::unique_ptr<Connection> connection = database.Connect();
  const std::vector<std::string> pieces = {"\"",   "\\",   "{",    "}",  ",",
                                           "NULL", "null", "",     " ",  "\n",
                                           "\t",   "'",    "$1",   "ä",  "\xF0\x9F\x8C\x8A",
                                           "a",    "\x01", "\x7f", "\r", "--",
                                           ";",    "E'"};
  SeededRandom random(20261128);
  for (int round = 0; round < 50; ++round) {
    std::vector<SqlParam> values;
    SqlArray array;
    for (uint64_t i = random.Next() % 40; i > 0; --i) {
      SqlParam value;
      if (random.Next() % 8 != 0) {
        value = "";
        for (uint64_t n = random.Next() % 6; n > 0; --n) {
          *value += pieces[random.Next() % pieces.size()];
        }
      }
      array.Add(value);
      values.push_back(value);
    }
    const auto rows =
        connection->RunOne("SELECT * FROM unnest($1::text[])", {std::move(array).Take()});
    ASSERT_TRUE(rows.ok()) << rows.status();
    ASSERT_EQ(rows->size(), static_cast<int>(values.size()));
    for (int i = 0; i < rows->size(); ++i) {
      const SqlParam back = rows->IsNull(i, 0) ? SqlParam() : SqlParam(rows->Text(i, 0));
      EXPECT_EQ(back, values[static_cast<size_t>(i)]) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace tidemark
