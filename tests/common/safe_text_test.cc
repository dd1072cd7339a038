#include "common/safe_text.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(SafeTextTest, NothingMovesTheCursorOrTurnsTheLine) {
  EXPECT_EQ(SafeText("对账 a\tb"), "对账 a b");
  EXPECT_EQ(SafeText("a\x1b[31mb\nc"), "a\\x1b[31mb\\nc");
  EXPECT_EQ(SafeText("a\u202Eb\u009Bc"), "a\\u202eb\\xc2\\x9bc");
}

TEST(SafeTextTest, ANameInACommandIsOneWord) {
  EXPECT_EQ(ShellWord("recon"), "recon");
  EXPECT_EQ(ShellWord("对账"), "对账");
  EXPECT_EQ(ShellWord("a b"), "'a b'");
  EXPECT_EQ(ShellWord("x; rm -rf /"), "'x; rm -rf /'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord("--all"), "'--all'");
  EXPECT_EQ(ShellWord(""), "''");
}

}  // namespace
}  // namespace tidemark
