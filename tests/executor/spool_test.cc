// Results on disk: torn files, full disks, acknowledgements that overtake writes.
#include "executor/src/spool.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <utility>

#include "common/status.h"
#include "executor/src/spool_writer.h"
#include "tests/executor/temp_dir.h"
#include "tidemark/digest.h"

namespace tidemark::exec {
namespace {

AttemptKey Key(int n) { return {"00000000-0000-7000-8000-00000000000" + std::to_string(n), 1}; }

v1::RunReport Report(int n) {
  v1::RunReport report;
  SetRef(Key(n), report.mutable_attempt());
  report.set_registration(5);
  report.mutable_finished()->set_message("message " + std::to_string(n));
  return report;
}

std::unique_ptr<Spool> Open(const std::string& dir) {
  auto spool = Spool::Open(dir);
  EXPECT_TRUE(spool.ok()) << spool.status();
  return spool.ok() ? *std::move(spool) : nullptr;
}

TEST(SpoolTest, KeepsResultsOverARestart) {
  TempDir dir;
  const std::string path = dir.path() + "/made/here";
  {
    auto spool = Open(path);
    ASSERT_TRUE(spool->Write(Key(1), Report(1)).ok());
    ASSERT_TRUE(spool->Write(Key(2), Report(2)).ok());
    ASSERT_TRUE(spool->Write(Key(3), Report(3)).ok());
    ASSERT_TRUE(spool->MarkAcknowledged(Key(2)).ok());
    spool->Delete(Key(3));
    ASSERT_TRUE(spool->Sync().ok());
  }
  const auto loaded = Open(path)->Load();
  ASSERT_TRUE(loaded.ok());
  ASSERT_EQ(loaded->results.size(), 2u);
  EXPECT_EQ(loaded->results[0].report.finished().message(), "message 1");
  EXPECT_FALSE(loaded->results[0].acknowledged);
  EXPECT_TRUE(loaded->results[1].acknowledged);
}

TEST(SpoolTest, IsHeldByOneProcess) {
  TempDir dir;
  const auto first = Open(dir.path());
  const auto second = Spool::Open(dir.path());
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status()));
}

TEST(SpoolTest, TornFilesAreMovedAsideAtEveryLength) {
  TempDir dir;
  {
    auto spool = Open(dir.path());
    ASSERT_TRUE(spool->Write(Key(1), Report(1)).ok());
    ASSERT_TRUE(spool->Write(Key(2), Report(2)).ok());
  }
  const std::string file = dir.path() + "/" + Key(1).run_id + ".1.result";
  std::ifstream in(file, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  for (size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, length);
    const auto loaded = Open(dir.path())->Load();
    ASSERT_TRUE(loaded.ok());
    ASSERT_EQ(loaded->results.size(), 1u) << length;
    ASSERT_EQ(loaded->torn.size(), 1u) << length;
  }
  std::string flipped = whole;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  std::ofstream(file, std::ios::binary | std::ios::trunc) << flipped;
  EXPECT_EQ(Open(dir.path())->Load()->torn.size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(file + ".torn"));
}

TEST(SpoolTest, LeftoversOfAnUnfinishedWriteAreRemoved) {
  TempDir dir;
  const std::string leftover = dir.path() + "/x.1.result.tmp";
  std::ofstream(leftover) << "half";
  EXPECT_TRUE(Open(dir.path())->Load()->results.empty());
  EXPECT_FALSE(std::filesystem::exists(leftover));
}

TEST(SpoolTest, StableTextIsMadeOnce) {
  TempDir dir;
  EXPECT_EQ(*StableText(dir.path(), "id", "first"), "first");
  EXPECT_EQ(*StableText(dir.path(), "id", "second"), "first");
}

// What the writer said of its health; waited for without polling.
class Health {
 public:
  void Set(bool writable) {
    const std::lock_guard lock(mutex_);
    history_.push_back(writable);
    changed_.notify_all();
  }
  bool Await(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20),
                             [&] { return history_.size() >= count; });
  }
  std::vector<bool> history() {
    const std::lock_guard lock(mutex_);
    return history_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> history_;
};

TEST(SpoolWriterTest, FullDiskIsToldAndTheResultIsWrittenLater) {
  TempDir dir;
  Health health;
  // A folder in the way of the temporary file fails the write as a full disk would, for root too.
  const std::string obstacle = dir.path() + "/" + Key(1).run_id + ".1.result.tmp";
  auto spool = Open(dir.path());
  std::filesystem::create_directory(obstacle);
  {
    SpoolWriter writer(
        std::move(spool), [&](bool writable, const std::string&) { health.Set(writable); },
        std::chrono::milliseconds(10));
    writer.Write(Key(1), Report(1));
    writer.Write(Key(2), Report(2));
    ASSERT_TRUE(health.Await(1));
    std::filesystem::remove(obstacle);
    ASSERT_TRUE(health.Await(2));
  }
  EXPECT_EQ(health.history(), (std::vector<bool>{false, true}));
  EXPECT_EQ(Open(dir.path())->Load()->results.size(), 2u);
}

TEST(SpoolWriterTest, EveryResultIsOnDiskWhenItEnds) {
  TempDir dir;
  {
    SpoolWriter writer(Open(dir.path()), [](bool, const std::string&) {});
    for (int n = 1; n <= 9; ++n) writer.Write(Key(n), Report(n));
    writer.Acknowledge(Key(1));
    writer.Delete(Key(2));
  }
  const auto loaded = Open(dir.path())->Load();
  int unacknowledged = 0;
  for (const SpooledResult& result : loaded->results) unacknowledged += !result.acknowledged;
  EXPECT_EQ(unacknowledged, 7);
}

TEST(DigestTest, KnownValueAndOrder) {
  const auto abc = Sha256("abc");
  EXPECT_EQ(abc[0], 0xba);
  EXPECT_EQ(abc[31], 0xad);
  Digest one, two, twice, given, other;
  one.AddRow({"a", "1"});
  one.AddRow({"b", "2"});
  two.AddRow({"b", "2"});
  two.AddRow({"a", "1"});
  EXPECT_EQ(one.Hex(), two.Hex());
  EXPECT_EQ(one.rows(), 2);
  twice.AddRow({"a", "1"});
  twice.AddRow({"a", "1"});
  EXPECT_NE(twice.Hex(), Digest().Hex());
  Digest first(Digest::Order::kGiven), second(Digest::Order::kGiven);
  first.AddRow({"a"});
  first.AddRow({"b"});
  second.AddRow({"b"});
  second.AddRow({"a"});
  EXPECT_NE(first.Hex(), second.Hex());
  given.AddRow({"ab", "c"});
  other.AddRow({"a", "bc"});
  EXPECT_NE(given.Hex(), other.Hex());
  EXPECT_EQ(given.Hex().size(), 7u + 64u);
}

}  // namespace
}  // namespace tidemark::exec
