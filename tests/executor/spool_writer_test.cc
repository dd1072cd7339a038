// The thread that keeps the spool: full disks, acknowledgements that overtake writes.
#include "executor/src/spool_writer.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "tests/executor/spool_bench.h"

namespace tidemark::exec {
namespace {

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
  std::optional<FullDisk> full(0);
  {
    SpoolWriter writer(
        OpenSpool(dir.path()), [&](bool writable, const std::string&) { health.Set(writable); },
        std::chrono::milliseconds(10));
    writer.Write(SpoolKey(1), SpoolReport(1));
    writer.Write(SpoolKey(2), SpoolReport(2));
    ASSERT_TRUE(health.Await(1));
    full.reset();
    ASSERT_TRUE(health.Await(2));
  }
  EXPECT_EQ(health.history(), (std::vector<bool>{false, true}));
  EXPECT_EQ(Summary(LoadSpool(dir.path())), "1 2");
}

TEST(SpoolWriterTest, WhatIsAcknowledgedBeforeItWasWrittenIsNot) {
  TempDir dir;
  Health health;
  std::optional<FullDisk> full(0);
  {
    SpoolWriter writer(
        OpenSpool(dir.path()), [&](bool writable, const std::string&) { health.Set(writable); },
        std::chrono::milliseconds(10));
    writer.Write(SpoolKey(1), SpoolReport(1));
    writer.Write(SpoolKey(2), SpoolReport(2));
    ASSERT_TRUE(health.Await(1));
    writer.Acknowledge(SpoolKey(1));
    writer.Delete(SpoolKey(1));
    full.reset();
    ASSERT_TRUE(health.Await(2));
  }
  EXPECT_EQ(Summary(LoadSpool(dir.path())), "2");
}

TEST(SpoolWriterTest, EveryResultIsOnDiskWhenItEnds) {
  TempDir dir;
  {
    SpoolWriter writer(OpenSpool(dir.path()), [](bool, const std::string&) {});
    for (int n = 1; n <= 9; ++n) writer.Write(SpoolKey(n), SpoolReport(n));
    writer.Acknowledge(SpoolKey(1));
    writer.Delete(SpoolKey(2));
  }
  int unacknowledged = 0;
  for (const SpooledResult& result : LoadSpool(dir.path()).results) {
    unacknowledged += !result.acknowledged;
  }
  EXPECT_EQ(unacknowledged, 7);
}

TEST(SpoolWriterTest, AcknowledgementsAloneReachTheDisk) {
  TempDir dir;
  {
    auto spool = OpenSpool(dir.path());
    spool->Write(SpoolKey(1), SpoolReport(1));
    ASSERT_TRUE(spool->Sync().ok());
  }
  {
    auto spool = OpenSpool(dir.path());
    ASSERT_TRUE(spool->Load().ok());
    SpoolWriter writer(std::move(spool), [](bool, const std::string&) {});
    writer.Acknowledge(SpoolKey(1));
  }
  EXPECT_EQ(Summary(LoadSpool(dir.path())), "1a");
}

}  // namespace
}  // namespace tidemark::exec
