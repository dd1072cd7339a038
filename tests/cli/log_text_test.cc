#include "scheduler/cli/log_text.h"

#include "gtest/gtest.h"

namespace tidemark {
namespace {

std::string Whole(std::string_view bytes) {
  LogText text;
  std::string out = text.Feed(bytes);
  return out + text.End();
}

TEST(LogText, LinesTabsAndLettersStay) {
  EXPECT_EQ(Whole("a\tb\n对账 ✓ €\n\n"), "a\tb\n对账 ✓ €\n\n");
  EXPECT_EQ(Whole(""), "");
}

TEST(LogText, NothingDrivesTheTerminal) {
  EXPECT_EQ(Whole("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(Whole("50 %\r100 %\n"), "50 %\\r100 %\n");
  EXPECT_EQ(Whole("a\u202Egnp.exe"), "a\\u202egnp.exe");
  EXPECT_EQ(Whole("\b\a\x7f"), "\\x08\\x07\\x7f");
  EXPECT_EQ(Whole("\u009b31m"), "\\xc2\\x9b31m");
}

TEST(LogText, NoByteGetsThroughThatIsNotText) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  const std::string shown = Whole(all);
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    EXPECT_TRUE(byte == '\n' || byte == '\t' || (byte >= 0x20 && byte != 0x7f)) << int{byte};
  }
  EXPECT_EQ(Whole(std::string("\0", 1)), "\uFFFD");
  EXPECT_EQ(Whole("\xff\xfe"), "\uFFFD\uFFFD");
}

TEST(LogText, TornCharactersAreJoinedWhereverTheyAreTorn) {
  const std::string bytes = "ab对\u202E🙂\x1b[1m\xf0\x9f x\n";
  const std::string whole = Whole(bytes);
  for (size_t i = 0; i <= bytes.size(); ++i) {
    for (size_t j = i; j <= bytes.size(); ++j) {
      LogText text;
      std::string out = text.Feed(bytes.substr(0, i));
      out += text.Feed(bytes.substr(i, j - i));
      out += text.Feed(bytes.substr(j));
      EXPECT_EQ(out + text.End(), whole) << i << " " << j;
    }
  }
}

TEST(LogText, ACharacterThatNeverEndsIsShownAtTheEnd) {
  LogText text;
  EXPECT_EQ(text.Feed("a\xe5\xaf"), "a");
  EXPECT_EQ(text.End(), "\uFFFD\uFFFD");
  EXPECT_EQ(text.Feed("b"), "b");
}

}  // namespace
}  // namespace tidemark
