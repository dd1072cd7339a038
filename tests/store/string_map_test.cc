#include "scheduler/store/string_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/migrated_database.h"

namespace tidemark {
namespace {

using Map = std::map<std::string, std::string>;

TEST(StringMapTest, RoundTrip) {
  const Map values = {{"", ""}, {"a\"\\", "line\n\ttab \x01"}, {"ä", "\xF0\x9F\x8C\x8A {\"x\":1}"}};
  EXPECT_EQ(DecodeStringMap(EncodeStringMap(values)).value(), values);
  EXPECT_EQ(EncodeStringMap({}), "{}");
  EXPECT_EQ(DecodeStringMap(" { } ").value(), Map());
}

TEST(StringMapTest, ReadsWhatPostgresWritesAndPostgresReadsWhatWeWrite) {
  MigratedDatabase database;
  const Map values = {{"k\"", "v\\ \n \xF0\x9F\x8C\x8A"}};
  EXPECT_EQ(DecodeStringMap(database.Sql("SELECT json_object($1::text[], $2::text[])::text",
                                         {R"({"k\""})", "{\"v\\\\ \n \xF0\x9F\x8C\x8A\"}"}))
                .value(),
            values);
  EXPECT_EQ(database.Sql("SELECT $1::jsonb ->> 'k\"'", {EncodeStringMap(values)}),
            values.begin()->second);
}

TEST(StringMapTest, ScalarsAndEscapes) {
  EXPECT_EQ(
      DecodeStringMap(R"({"a": 1.5, "b": true, "c": null, "d": "\ud83c\udf0a\u00e4\/"})").value(),
      (Map{{"a", "1.5"}, {"b", "true"}, {"c", ""}, {"d", "\xF0\x9F\x8C\x8Aä/"}}));
}

TEST(StringMapTest, RefusesEverythingElse) {
  for (const char* bad :
       {"", "[]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":{}}", "{\"a\":[1]}", "{\"a\":\"b\",}",
        "{\"a\":\"b\"} x", "{\"a\":\"\\ud83c\"}", "{\"a\":\"\\x\"}", "{\"a\":\"b", "{a:1}"}) {
    EXPECT_FALSE(DecodeStringMap(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace tidemark
