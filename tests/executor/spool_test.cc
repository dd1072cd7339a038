// Results on disk: restarts, full disks, segments that come and go. Damage is in
// spool_damage_test.cc.
#include "executor/src/spool.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/executor/spool_bench.h"

namespace tidemark::exec {
namespace {

TEST(SpoolTest, KeepsResultsOverARestart) {
  TempDir dir;
  const std::string path = dir.path() + "/made/here";
  {
    auto spool = OpenSpool(path);
    for (const int n : {1, 2, 3}) spool->Write(SpoolKey(n), SpoolReport(n));
    ASSERT_TRUE(spool->Sync().ok());
    spool->MarkAcknowledged(SpoolKey(2));
    spool->MarkAcknowledged(SpoolKey(7));  // nobody knows it
    ASSERT_TRUE(spool->Sync().ok());
  }
  EXPECT_EQ(Summary(LoadSpool(path)), "1 2a 3");
  EXPECT_EQ(Summary(LoadSpool(path)), "1 2a 3");
}

TEST(SpoolTest, WhatWasNotSyncedIsNotThere) {
  TempDir dir;
  OpenSpool(dir.path())->Write(SpoolKey(1), SpoolReport(1));
  EXPECT_EQ(Summary(LoadSpool(dir.path())), "");
}

TEST(SpoolTest, AnAcknowledgementReachesAResultOfAnEarlierProcess) {
  TempDir dir;
  for (const int n : {1, 2}) {
    auto spool = OpenSpool(dir.path());
    ASSERT_TRUE(spool->Load().ok());
    spool->Write(SpoolKey(n), SpoolReport(n));
    if (n == 2) spool->MarkAcknowledged(SpoolKey(1));
    ASSERT_TRUE(spool->Sync().ok());
  }
  EXPECT_EQ(FilesEnding(dir.path(), ".segment").size(), 2u) << "one a process";
  EXPECT_EQ(Summary(LoadSpool(dir.path())), "1a 2");
}

TEST(SpoolTest, ADeletedResultIsNotOfferedAgain) {
  TempDir dir;
  {
    auto spool = OpenSpool(dir.path());
    for (const int n : {1, 2}) spool->Write(SpoolKey(n), SpoolReport(n));
    ASSERT_TRUE(spool->Sync().ok());
    spool->Delete(SpoolKey(1));  // never marked as acknowledged before
    ASSERT_TRUE(spool->Sync().ok());
  }
  EXPECT_EQ(Summary(LoadSpool(dir.path())), "1a 2");
}

TEST(SpoolTest, IsHeldByOneProcess) {
  TempDir dir;
  const auto first = OpenSpool(dir.path());
  const auto second = Spool::Open(dir.path());
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status()));
}

TEST(SpoolTest, IsForItsOwnerAlone) {
  TempDir dir;
  auto spool = OpenSpool(dir.path() + "/s");
  spool->Write(SpoolKey(1), SpoolReport(1));
  ASSERT_TRUE(spool->Sync().ok());
  struct stat info{};
  ASSERT_EQ(stat((dir.path() + "/s").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(stat((dir.path() + "/s/" + SegmentName(1)).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(SpoolTest, AFailedWriteLeavesNoHalfRecordAtAnyLength) {
  TempDir whole;
  {
    auto spool = OpenSpool(whole.path());
    spool->Write(SpoolKey(1), SpoolReport(1));
    ASSERT_TRUE(spool->Sync().ok());
  }
  const size_t one = FilesEnding(whole.path(), ".segment").begin()->second;
  for (size_t room = 0; room < 2 * one; ++room) {
    TempDir dir;
    auto spool = OpenSpool(dir.path());
    spool->Write(SpoolKey(1), SpoolReport(1));
    const bool first = room % 2 == 0;  // fails also as the first write of a segment
    if (!first) {
      ASSERT_TRUE(spool->Sync().ok());
    }
    spool->Write(SpoolKey(2), SpoolReport(2));
    spool->Write(SpoolKey(3), SpoolReport(3));
    {
      const FullDisk full(room);
      EXPECT_FALSE(spool->Sync().ok());
    }
    spool->Write(SpoolKey(4), SpoolReport(4));
    ASSERT_TRUE(spool->Sync().ok()) << room;
    spool.reset();
    const Spool::Loaded loaded = LoadSpool(dir.path());
    EXPECT_EQ(Summary(loaded), first ? "4" : "1 4") << room;
    EXPECT_TRUE(loaded.torn.empty() && loaded.damaged.empty()) << room;
  }
}

TEST(SpoolTest, SegmentsVanishWhenTheirResultsAreNotNeeded) {
  TempDir dir;
  {
    auto spool = OpenSpool(dir.path(), 1000);
    for (int n = 1; n <= 300; ++n) {
      spool->Write(SpoolKey(n), SpoolReport(n));
      ASSERT_TRUE(spool->Sync().ok());
      spool->MarkAcknowledged(SpoolKey(n));
      spool->Delete(SpoolKey(n - 3));
      ASSERT_TRUE(spool->Sync().ok());
      const auto segments = FilesEnding(dir.path(), ".segment");
      ASSERT_LE(segments.size(), 4u) << n;
      for (const auto& [name, size] : segments) ASSERT_LE(size, 1000u) << name;
    }
  }
  EXPECT_TRUE(Summary(LoadSpool(dir.path())).ends_with("298a 299a 300a"));
}

TEST(SpoolTest, AResultThatNobodyAcknowledgesDoesNotKeepTheRest) {
  TempDir dir;
  {
    auto spool = OpenSpool(dir.path(), 1000);
    spool->Write(SpoolKey(0), SpoolReport(0));
    spool->Write(SpoolKey(1), SpoolReport(1));
    ASSERT_TRUE(spool->Sync().ok());
    spool->MarkAcknowledged(SpoolKey(1));
    for (int n = 2; n <= 500; ++n) {
      spool->Write(SpoolKey(n), SpoolReport(n));
      ASSERT_TRUE(spool->Sync().ok());
      spool->MarkAcknowledged(SpoolKey(n));
      ASSERT_TRUE(spool->Sync().ok());
      spool->Delete(SpoolKey(n));
      ASSERT_LE(FilesEnding(dir.path(), ".segment").size(), 7u) << n;
    }
  }
  EXPECT_TRUE(Summary(LoadSpool(dir.path())).starts_with("0 1a ")) << "what is needed was moved";
}

TEST(SpoolTest, DeletingMakesRoomAlsoWhenNothingCanBeWritten) {
  TempDir dir;
  auto spool = OpenSpool(dir.path(), 300);
  for (int n = 1; n <= 9; ++n) {
    spool->Write(SpoolKey(n), SpoolReport(n));
    spool->MarkAcknowledged(SpoolKey(n));
    ASSERT_TRUE(spool->Sync().ok());
  }
  const size_t before = FilesEnding(dir.path(), ".segment").size();
  const FullDisk full(0);
  for (int n = 1; n <= 6; ++n) spool->Delete(SpoolKey(n));
  spool->Write(SpoolKey(10), SpoolReport(10));
  EXPECT_FALSE(spool->Sync().ok());
  EXPECT_LT(FilesEnding(dir.path(), ".segment").size(), before);
}

// The child says what it has made durable; it is killed in the middle of whatever it does.
TEST(SpoolTest, WhatWasSyncedSurvivesAKill) {
  for (int round = 0; round < 20; ++round) {
    TempDir dir;
    int said[2];
    ASSERT_EQ(pipe(said), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto spool = OpenSpool(dir.path(), 2000);
      for (int n = 1;; ++n) {
        spool->Write(SpoolKey(n), SpoolReport(n));
        if (!spool->Sync().ok() || write(said[1], &n, sizeof n) < 0) _exit(1);
      }
    }
    close(said[1]);
    int last = 0;
    while (last < 10 + round && read(said[0], &last, sizeof last) > 0) continue;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (int n = 0; read(said[0], &n, sizeof n) > 0;) last = n;
    close(said[0]);
    const Spool::Loaded loaded = LoadSpool(dir.path());
    EXPECT_TRUE(loaded.damaged.empty());
    const int found = static_cast<int>(loaded.results.size());
    EXPECT_TRUE(found == last || found == last + 1) << found << " of " << last;
  }
}

TEST(SpoolTest, StableTextIsMadeOnce) {
  TempDir dir;
  EXPECT_EQ(*StableText(dir.path(), "id", "first"), "first");
  EXPECT_EQ(*StableText(dir.path(), "id", "second"), "first");
}

}  // namespace
}  // namespace tidemark::exec
