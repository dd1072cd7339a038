// What a start makes of a spool that is torn, damaged or old.
#include <algorithm>

#include "executor/src/spool.h"
#include "executor/src/spool_record.h"
#include "tests/executor/spool_bench.h"
#include "tidemark/digest.h"

namespace tidemark::exec {
namespace {

// A folder with results 1, 2, 3 in one segment, and the bytes of that.
class SpoolDamage : public testing::Test {
 protected:
  SpoolDamage() {
    auto spool = OpenSpool(dir_.path());
    for (const int n : {1, 2, 3}) {
      spool->Write(SpoolKey(n), SpoolReport(n));
      EXPECT_TRUE(spool->Sync().ok());
    }
    whole_ = FileBytes(segment_);
    records_ = ScanSegment(whole_).records;
    EXPECT_EQ(records_.size(), 3u);
  }

  // The spool with this as its only segment.
  void Put(const std::string& bytes) {
    std::filesystem::remove_all(dir_.path());
    std::filesystem::create_directory(dir_.path());
    PutFile(segment_, bytes);
  }

  TempDir dir_;
  const std::string segment_ = dir_.path() + "/" + SegmentName(1);
  std::string whole_;
  std::vector<SpoolRecord> records_;  // into whole_
};

TEST_F(SpoolDamage, ATornTailIsCutAtEveryLength) {
  for (size_t length = records_[2].offset + 1; length < whole_.size(); ++length) {
    Put(whole_.substr(0, length));
    {
      auto spool = OpenSpool(dir_.path());
      const auto loaded = spool->Load();
      ASSERT_EQ(Summary(*loaded), "1 2") << length;
      EXPECT_EQ(loaded->torn, std::vector<std::string>{SegmentName(1)}) << length;
      EXPECT_TRUE(loaded->damaged.empty()) << length;
      EXPECT_EQ(std::filesystem::file_size(segment_), records_[2].offset) << length;
      spool->Write(SpoolKey(4), SpoolReport(4));
      ASSERT_TRUE(spool->Sync().ok());
    }
    const Spool::Loaded again = LoadSpool(dir_.path());
    EXPECT_EQ(Summary(again), "1 2 4") << length;
    EXPECT_TRUE(again.torn.empty() && again.damaged.empty()) << length;
  }
}

TEST_F(SpoolDamage, ASegmentThatWasJustMadeIsNoDamage) {
  for (size_t length = 0; length <= kSegmentHead.size(); ++length) {
    Put(whole_.substr(0, length));
    const Spool::Loaded loaded = LoadSpool(dir_.path());
    EXPECT_TRUE(loaded.results.empty() && loaded.damaged.empty()) << length;
  }
}

// A file may be longer than what of it reached the disk.
TEST_F(SpoolDamage, ZerosAtTheEndAreATornTail) {
  for (const size_t zeros : {1u, 13u, 5000u}) {
    Put(whole_ + std::string(zeros, '\0'));
    const Spool::Loaded loaded = LoadSpool(dir_.path());
    EXPECT_EQ(Summary(loaded), "1 2 3");
    EXPECT_EQ(loaded.torn.size(), 1u);
    EXPECT_EQ(FileBytes(segment_), whole_);
  }
}

TEST_F(SpoolDamage, AFlippedBitCostsOneRecordAndIsKeptAside) {
  for (const size_t hit : {0u, 1u}) {
    const size_t begin = records_[hit].offset;
    for (size_t at = begin; at < begin + records_[hit].size; ++at) {
      std::string bytes = whole_;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
      Put(bytes);
      const Spool::Loaded loaded = LoadSpool(dir_.path());
      ASSERT_EQ(Summary(loaded), hit == 0 ? "2 3" : "1 3") << at;
      ASSERT_EQ(loaded.damaged, std::vector<std::string>{SegmentName(1) + ".damaged"}) << at;
      EXPECT_EQ(loaded.problem, "");
      EXPECT_EQ(FileBytes(segment_ + ".damaged"), bytes) << at;
      const Spool::Loaded again = LoadSpool(dir_.path());
      EXPECT_EQ(Summary(again), Summary(loaded)) << at;
      EXPECT_TRUE(again.damaged.empty()) << "told once";
    }
  }
}

// Nothing goes without a word: either cut and named, or kept aside and named.
TEST_F(SpoolDamage, AFlippedBitInTheLastRecordIsToldToo) {
  for (size_t at = records_[2].offset; at < whole_.size(); ++at) {
    std::string bytes = whole_;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
    Put(bytes);
    const Spool::Loaded loaded = LoadSpool(dir_.path());
    ASSERT_EQ(Summary(loaded), "1 2") << at;
    ASSERT_EQ(loaded.damaged.size() + loaded.torn.size(), 1u) << at;
  }
}

TEST_F(SpoolDamage, AFlippedBitInTheHeadLosesNothing) {
  for (size_t at = 0; at < kSegmentHead.size(); ++at) {
    std::string bytes = whole_;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    Put(bytes);
    const Spool::Loaded loaded = LoadSpool(dir_.path());
    EXPECT_EQ(Summary(loaded), "1 2 3");
    EXPECT_EQ(loaded.damaged.size(), 1u);
  }
}

TEST_F(SpoolDamage, GarbageIsKeptAside) {
  Put("not a spool segment at all, whoever put it here");
  const Spool::Loaded loaded = LoadSpool(dir_.path());
  EXPECT_TRUE(loaded.results.empty());
  EXPECT_EQ(loaded.damaged.size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(segment_));
}

TEST_F(SpoolDamage, AnAcknowledgementInADamagedSegmentIsNotForgotten) {
  {
    auto spool = OpenSpool(dir_.path());
    ASSERT_TRUE(spool->Load().ok());
    spool->MarkAcknowledged(SpoolKey(2));
    spool->Write(SpoolKey(4), SpoolReport(4));
    ASSERT_TRUE(spool->Sync().ok());
  }
  const std::string second = dir_.path() + "/" + SegmentName(2);
  std::string bytes = FileBytes(second);
  // Of result 4, in front of the acknowledgement or behind it.
  const size_t at = bytes.find("message 4");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'M';
  PutFile(second, bytes);
  EXPECT_EQ(Summary(LoadSpool(dir_.path())), "1 2a 3");
  EXPECT_EQ(Summary(LoadSpool(dir_.path())), "1 2a 3");
}

TEST_F(SpoolDamage, StaysWhereItIsWhileNothingCanBeWritten) {
  std::string bytes = whole_;
  bytes[records_[1].offset + 20] ^= 1;
  Put(bytes);
  {
    auto spool = OpenSpool(dir_.path());
    const FullDisk full(0);
    const auto loaded = spool->Load();
    EXPECT_EQ(Summary(*loaded), "1 3");
    EXPECT_NE(loaded->problem, "");
    EXPECT_EQ(loaded->damaged, std::vector<std::string>{SegmentName(1)});
  }
  EXPECT_EQ(Summary(LoadSpool(dir_.path())), "1 3");
  EXPECT_TRUE(std::filesystem::exists(segment_ + ".damaged"));
}

// ---- the format before segments

std::string OldFile(int n) {
  const std::string payload = SpoolReport(n).SerializeAsString();
  const auto digest = Sha256(payload);
  return "TMSPOOL1" + std::string(digest.begin(), digest.end()) + payload;
}

std::string OldName(const TempDir& dir, int n, const std::string& ending) {
  return dir.path() + "/" + SpoolKey(n).run_id + ".1" + ending;
}

TEST(OldSpoolTest, FilesBecomeASegment) {
  TempDir dir;
  PutFile(OldName(dir, 1, ".result"), OldFile(1));
  PutFile(OldName(dir, 2, ".acked"), OldFile(2));
  PutFile(OldName(dir, 3, ".result.tmp"), "half");
  EXPECT_EQ(Summary(LoadSpool(dir.path())), "1 2a");
  for (const char* ending : {".result", ".acked", ".tmp"}) {
    EXPECT_TRUE(FilesEnding(dir.path(), ending).empty()) << ending;
  }
  EXPECT_EQ(FilesEnding(dir.path(), ".segment").size(), 1u);
  {
    auto spool = OpenSpool(dir.path());
    ASSERT_TRUE(spool->Load().ok());
    spool->MarkAcknowledged(SpoolKey(1));
    ASSERT_TRUE(spool->Sync().ok());
  }
  EXPECT_EQ(Summary(LoadSpool(dir.path())), "1a 2a");
}

TEST(OldSpoolTest, ADamagedFileIsMovedAsideAtEveryLength) {
  TempDir dir;
  const std::string whole = OldFile(1);
  const std::string file = OldName(dir, 1, ".result");
  for (size_t length = 0; length < whole.size(); ++length) {
    PutFile(file, whole.substr(0, length));
    const Spool::Loaded loaded = LoadSpool(dir.path());
    ASSERT_TRUE(loaded.results.empty()) << length;
    ASSERT_EQ(loaded.damaged.size(), 1u) << length;
  }
  EXPECT_TRUE(std::filesystem::exists(file + ".damaged"));
}

TEST(OldSpoolTest, AConversionThatWasInterruptedEndsAtTheNextStart) {
  TempDir dir;
  PutFile(OldName(dir, 1, ".result"), OldFile(1));
  PutFile(OldName(dir, 2, ".result"), OldFile(2));
  {  // 1 is in a segment, and was acknowledged since
    auto spool = OpenSpool(dir.path());
    spool->Write(SpoolKey(1), SpoolReport(1));
    ASSERT_TRUE(spool->Sync().ok());
    spool->MarkAcknowledged(SpoolKey(1));
    ASSERT_TRUE(spool->Sync().ok());
  }
  EXPECT_EQ(Summary(LoadSpool(dir.path())), "1a 2");
  EXPECT_TRUE(FilesEnding(dir.path(), ".result").empty());
}

TEST(OldSpoolTest, FilesStayWhileNothingCanBeWritten) {
  TempDir dir;
  PutFile(OldName(dir, 1, ".result"), OldFile(1));
  {
    auto spool = OpenSpool(dir.path());
    const FullDisk full(0);
    const auto loaded = spool->Load();
    EXPECT_EQ(Summary(*loaded), "1");
    EXPECT_NE(loaded->problem, "");
  }
  EXPECT_EQ(FilesEnding(dir.path(), ".result").size(), 1u);
  EXPECT_EQ(Summary(LoadSpool(dir.path())), "1");
  EXPECT_TRUE(FilesEnding(dir.path(), ".result").empty());
}

}  // namespace
}  // namespace tidemark::exec
