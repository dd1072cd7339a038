#include "executor/examples/recon/bill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/status.h"

namespace tidemark::recon {
namespace {

using ::testing::HasSubstr;

// A folder that goes with the test.
class TempDir {
 public:
  TempDir() {
    std::string name = ::testing::TempDir() + "recon.XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Cents, ReadsAndWritesTwoDecimals) {
  for (const auto& [text, cents] :
       std::vector<std::pair<std::string, int64_t>>{{"0.00", 0},
                                                    {"0.05", 5},
                                                    {"12.34", 1234},
                                                    {"-0.07", -7},
                                                    {"-120.50", -12050},
                                                    {"9999999999999.99", 999999999999999}}) {
    EXPECT_EQ(ParseCents(text).value(), cents) << text;
    EXPECT_EQ(FormatCents(cents), text);
  }
}

TEST(Cents, RefusesEverythingElse) {
  for (const char* text : {"", "12", "12.3", "12.345", ".50", "1,20", "+1.00", "--1.00", "1e2.00",
                           " 1.00", "1.00 ", "12345678901234.00", "-", "0x1.00", "1.-1"}) {
    EXPECT_FALSE(ParseCents(text).ok()) << text;
  }
}

TEST(BillFile, RoundTrips) {
  const std::vector<Bill> bills = {{"P1", 1234, "2026-11-28T10:00:00"}, {"P2", -5, ""}};
  EXPECT_EQ(ParseBills(FormatBills(bills), "x").value(), bills);
}

TEST(BillFile, TakesWindowsLineEndsAndAMissingLastOne) {
  EXPECT_EQ(ParseBills("order_id,amount,paid_at\r\nP1,1.00,x\r\nP2,2.00,y", "x").value(),
            (std::vector<Bill>{{"P1", 100, "x"}, {"P2", 200, "y"}}));
}

TEST(BillFile, NamesFileAndLineOfAFault) {
  const auto message = [](const std::string& text) {
    return Message(ParseBills(text, "ours.csv").status());
  };
  EXPECT_THAT(message(""), HasSubstr("ours.csv:1: expected the header"));
  EXPECT_THAT(message("order_id,amount,paid_at\nP1,1.00,x\nP2,2,y\n"),
              HasSubstr("ours.csv:3: amount \"2\""));
  EXPECT_THAT(message("order_id,amount,paid_at\nP1,1.00\n"), HasSubstr("ours.csv:2: expected"));
  EXPECT_THAT(message("order_id,amount,paid_at\nP1,1.00,x,z\n"), HasSubstr("three fields"));
  EXPECT_THAT(message("order_id,amount,paid_at\nP 1,1.00,x\n"), HasSubstr("order_id"));
}

TEST(BillFiles, AMissingOneIsNamed) {
  const TempDir dir;
  const absl::CivilDay day(2026, 11, 28);
  ASSERT_TRUE(SaveBills(dir.path(), day, {}, {}).ok());
  std::filesystem::remove(ChannelPath(dir.path(), day));
  const absl::Status status = LoadBills(dir.path(), day).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(Message(status), HasSubstr("2026-11-28/channel.csv"));
}

TEST(BillFiles, FingerprintTellsOtherBillsApart) {
  const TempDir dir;
  const absl::CivilDay day(2026, 11, 28);
  const std::vector<Bill> some = {{"P1", 100, "x"}};
  const std::vector<Bill> other = {{"P1", 101, "x"}};
  const auto fingerprint = [&](const std::vector<Bill>& ours, const std::vector<Bill>& channel) {
    EXPECT_TRUE(SaveBills(dir.path(), day, ours, channel).ok());
    return LoadBills(dir.path(), day)->fingerprint;
  };
  const uint64_t first = fingerprint(some, other);
  EXPECT_EQ(fingerprint(some, other), first);
  EXPECT_NE(fingerprint(other, some), first);
  EXPECT_NE(fingerprint(some, some), first);
}

}  // namespace
}  // namespace tidemark::recon
