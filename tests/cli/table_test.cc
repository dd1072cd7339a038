#include "scheduler/cli/table.h"

#include <sstream>

#include "gtest/gtest.h"

namespace tidemark {
namespace {

TEST(Table, AlignsByDisplayWidth) {
  Table table({"NAME", "N"});
  table.Add({"对账", "1"});
  table.Add({"recon", "22"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(), "NAME   N\n对账   1\nrecon  22\n");
}

TEST(Table, CellsCannotDriveTheTerminal) {
  Table table({"A"});
  table.Add({"x\x1b[2J\n\r\ty\x7f\u009b1m\u202Ez\xff"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(), "A\nx\\x1b[2J\\n\\r y\\x7f\\xc2\\x9b1m\\u202ez\uFFFD\n");
}

TEST(Card, LeavesOutWhatHasNoValue) {
  Card card;
  card.Add("name", "a");
  card.Add("owner", "");
  card.Add("long name", "b\nc");
  std::ostringstream out;
  card.Print(out);
  EXPECT_EQ(out.str(), "name:      a\nlong name: b\\nc\n");
}

TEST(Shorten, KeepsCharactersWhole) {
  EXPECT_EQ(Shorten("abc", 3), "abc");
  EXPECT_EQ(Shorten("abcd", 3), "ab…");
  EXPECT_EQ(Shorten("对账对账", 6), "对账…");
}

TEST(TimeText, IsUtcInWholeSeconds) {
  google::protobuf::Timestamp time;
  time.set_seconds(1764349200);
  time.set_nanos(999999999);
  EXPECT_EQ(TimeText(time), "2025-11-28T17:00:00Z");
}

}  // namespace
}  // namespace tidemark
