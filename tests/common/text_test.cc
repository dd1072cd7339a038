#include "common/text.h"

#include <string>
#include <string_view>
#include <vector>

#include "common/id.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

constexpr std::string_view kMark = "…[cut]";
constexpr std::string_view kBad = "\xEF\xBF\xBD";

std::string Repeat(std::string_view piece, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out.append(piece);
  return out;
}

TEST(CleanText, LeavesCleanTextAlone) {
  for (const std::string_view text : {"", "a", "日終対账 ok", "\t\n\x7f", "😀"}) {
    EXPECT_EQ(CleanText(text, 32), text);
  }
  const std::string full = Repeat("x", 32);
  EXPECT_EQ(CleanText(full, 32), full);  // the limit itself still fits
}

TEST(CleanText, CutsOnACharacterBoundaryAndSaysSo) {
  EXPECT_EQ(CleanText(Repeat("x", 33), 32), Repeat("x", 24) + std::string(kMark));
  EXPECT_EQ(CleanText(Repeat("账", 11), 32), Repeat("账", 8) + std::string(kMark));
  EXPECT_EQ(CleanText("x" + Repeat("账", 11), 32), "x" + Repeat("账", 7) + std::string(kMark));
  EXPECT_EQ(CleanText(Repeat("😀", 9), 32), Repeat("😀", 6) + std::string(kMark));
}

struct Bytes {
  const char* what;
  std::string_view bytes;
  int replacements;
};

TEST(CleanText, ReplacesEachByteThatIsNoUtf8) {
  using namespace std::string_view_literals;
  const Bytes kCases[] = {
      {"NUL", "\0"sv, 1},
      {"lone continuation", "\x80"sv, 1},
      {"overlong slash", "\xC0\xAF"sv, 2},
      {"overlong in three", "\xE0\x9F\xBF"sv, 3},
      {"surrogate", "\xED\xA0\x80"sv, 3},
      {"overlong in four", "\xF0\x8F\xBF\xBF"sv, 4},
      {"beyond U+10FFFF", "\xF4\x90\x80\x80"sv, 4},
      {"no lead byte", "\xF5\xFF"sv, 2},
      {"cut short", "\xE8\xB4"sv, 2},
  };
  for (const Bytes& c : kCases) {
    const std::string around = "a" + std::string(c.bytes) + "b";
    EXPECT_EQ(CleanText(around, 64), "a" + Repeat(kBad, c.replacements) + "b") << c.what;
    EXPECT_FALSE(IsCleanUtf8(around)) << c.what;
  }
  for (const std::string_view edge : {"\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                                      "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(CleanText(edge, 64), edge);
    EXPECT_TRUE(IsCleanUtf8(edge));
  }
}

// Whatever the bytes: the result can be stored, is within the limit, and is a prefix and a mark.
TEST(CleanText, PropertyOverRandomBytes) {
  SeededRandom random(7);
  const std::vector<std::string> pieces = {"a",    "账",       "😀", "é",    std::string(1, '\0'),
                                           "\xFF", "\xE8\xB4", "\n", "\x80", "\xF0\x9F"};
  for (int round = 0; round < 20000; ++round) {
    const size_t limit = 16 + random.Next() % 40;
    std::string bytes;
    for (uint64_t n = random.Next() % 40; n > 0; --n) {
      bytes += pieces[random.Next() % pieces.size()];
    }
    const std::string whole = CleanText(bytes, 100000);
    const std::string cut = CleanText(bytes, limit);
    ASSERT_TRUE(IsCleanUtf8(whole));
    ASSERT_TRUE(IsCleanUtf8(cut));
    ASSERT_LE(cut.size(), limit);
    ASSERT_EQ(CleanText(whole, limit), cut);
    if (whole.size() <= limit) {
      ASSERT_EQ(cut, whole);
      continue;
    }
    ASSERT_GE(cut.size(), kMark.size());
    ASSERT_EQ(cut.substr(cut.size() - kMark.size()), kMark);
    const size_t kept = cut.size() - kMark.size();
    ASSERT_EQ(cut.substr(0, kept), whole.substr(0, kept));
    ASSERT_GT(kept + 4, limit - kMark.size());  // no more is lost than one character
  }
}

TEST(EscapeControl, LeavesNothingThatForgesALineOrDrivesATerminal) {
  using namespace std::string_view_literals;
  EXPECT_EQ(EscapeControl("plain 账 😀\t\\"), "plain 账 😀\t\\");
  EXPECT_EQ(EscapeControl("a\r\nb"), "a\\r\\nb");
  EXPECT_EQ(EscapeControl("\x1b[31m\x7f\0"sv), "\\x1b[31m\\x7f\\x00");
  EXPECT_EQ(EscapeControl("\xC2\x9B[31m \xC2\x85 \xC2\xA0"), "\\xc2\\x9b[31m \\xc2\\x85 \xC2\xA0");
  EXPECT_EQ(EscapeControl("end\xC2"), "end\xC2");
}

TEST(NameProblem, NamesWhatIsWrong) {
  EXPECT_EQ(NameProblem("nightly recon 账"), "");
  EXPECT_EQ(NameProblem(Repeat("x", 64)), "");
  EXPECT_EQ(NameProblem(""), "is empty");
  EXPECT_EQ(NameProblem(Repeat("x", 65)), "is longer than 64 bytes");
  EXPECT_EQ(NameProblem(Repeat("账", 22)), "is longer than 64 bytes");
  EXPECT_EQ(NameProblem("a\xFF"), "is not valid UTF-8");
  EXPECT_EQ(NameProblem(std::string(1, '\0')), "is not valid UTF-8");
  for (const std::string_view bad : {"a\nb", "a\tb", "a\x7f", "\x1b", "a\xC2\x85z"}) {
    EXPECT_EQ(NameProblem(bad), "has a control character") << EscapeControl(bad);
  }
  EXPECT_EQ(NameProblem(" a"), "begins or ends with a blank");
  EXPECT_EQ(NameProblem("a "), "begins or ends with a blank");
}

TEST(Join, KeepsEmptyValues) {
  EXPECT_EQ(Join({}, ", "), "");
  EXPECT_EQ(Join({"a"}, ", "), "a");
  EXPECT_EQ(Join({"a", "b"}, ", "), "a, b");
  EXPECT_EQ(Join({"", "a", ""}, ","), ",a,");
}

TEST(Nearest, IsWithinTwoEditsOrNothing) {
  const std::vector<std::string> words = {"schedule", "catch_up", "routing", "retry"};
  EXPECT_EQ(Nearest("shedule", words), "schedule");
  EXPECT_EQ(Nearest("catchup", words), "catch_up");
  EXPECT_EQ(Nearest("rotuing", words), "routing");  // two letters swapped: two edits
  EXPECT_EQ(Nearest("retry", words), "retry");
  EXPECT_EQ(Nearest("rooting!", words), "routing");
  EXPECT_EQ(Nearest("rooting!!", words), "");
  EXPECT_EQ(Nearest("", words), "");
  EXPECT_EQ(Nearest("x", {}), "");
  EXPECT_EQ(Nearest("abc", {"abx", "abc"}), "abc");  // the nearest, not the first
}

}  // namespace
}  // namespace tidemark
