// The writer of run logs, and what it keeps in hand, on a real PostgreSQL.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "common/status.h"
#include "scheduler/store/operator_store.h"
#include "scheduler/store/run_log_backlog.h"
#include "scheduler/store/run_log_writer.h"
#include "tests/store/flush_fixture.h"
#include "tests/support/process.h"
#include "tests/support/socket_proxy.h"

namespace tidemark {
namespace {

std::string EveryByte() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  return bytes;
}

RunLogKey KeyOf(int run, const std::string& executor = "e1", int64_t registration = 5) {
  return {{Uuid(run), 1}, executor, registration};
}

RunLogChunk ChunkOf(int run, uint64_t offset, std::string data, bool end = false) {
  return {KeyOf(run), offset, std::move(data), end};
}

// ---------------------------------------------------------------- backlog

TEST(RunLogBacklogTest, JoinsWhatFollowsAndDropsWhatRepeats) {
  RunLogBacklog backlog(1 << 20);
  backlog.Add(ChunkOf(1, 0, "abc"));
  backlog.Add(ChunkOf(1, 3, "def"));
  backlog.Add(ChunkOf(1, 0, "abc"));     // again
  backlog.Add(ChunkOf(1, 4, "XXg"));     // overlaps: only its last byte is new
  backlog.Add(ChunkOf(1, 10, "later"));  // after a gap
  const RunLogBacklog::Batch batch = backlog.Take(1 << 20);
  ASSERT_EQ(batch.size(), 1u);
  const PendingRunLog& log = batch.begin()->second;
  ASSERT_EQ(log.pieces.size(), 2u);
  EXPECT_EQ(log.pieces[0].data, "abcdefg");
  EXPECT_EQ(log.pieces[1].start, 10u);
  EXPECT_EQ(log.reached, 15u);
  EXPECT_TRUE(backlog.empty());
  EXPECT_EQ(backlog.bytes(), 0u);
}

TEST(RunLogBacklogTest, AnOversizedChunkBecomesPiecesOfTheirLimit) {
  RunLogBacklog backlog(8 << 20);
  backlog.Add(ChunkOf(1, 0, "x"));
  backlog.Add(ChunkOf(1, 1, std::string(3 * kRunLogPiece, 'y')));
  const auto batch = backlog.Take(1);
  std::string all;
  for (const RunLogPiece& piece : batch.begin()->second.pieces) {
    EXPECT_LE(piece.data.size(), kRunLogPiece);
    EXPECT_EQ(piece.start, all.size());
    all += piece.data;
  }
  EXPECT_EQ(all, "x" + std::string(3 * kRunLogPiece, 'y'));
}

TEST(RunLogBacklogTest, HoldsNoMoreThanItsLimitAndSaysHowMuchWasDropped) {
  RunLogBacklog backlog(100000);
  for (int i = 0; i < 30; ++i) backlog.Add(ChunkOf(1, i * 10000, std::string(10000, 'a')));
  EXPECT_LE(backlog.bytes(), 100000u);
  EXPECT_GT(backlog.bytes(), 99000u);
  for (int run = 2; run < 5000; ++run) backlog.Add(ChunkOf(run, 0, "b"));
  EXPECT_LE(backlog.bytes(), 100000u);
  const uint64_t dropped = backlog.TakeDropped();
  EXPECT_GT(dropped, 200000u);
  EXPECT_EQ(backlog.TakeDropped(), 0u);
  // That the log is longer is not forgotten.
  EXPECT_EQ(backlog.Take(1 << 20).at(KeyOf(1)).reached, 300000u);
}

TEST(RunLogBacklogTest, NothingBeyondAnAttemptsLimitIsKept) {
  RunLogBacklog backlog(64u << 20);
  backlog.Add(ChunkOf(1, kRunLogLimit - 2, "abcd"));
  backlog.Add(ChunkOf(1, kRunLogLimit + 100, "efgh"));
  backlog.Add(ChunkOf(2, ~uint64_t{0}, "nonsense"));
  const auto batch = backlog.Take(1 << 20);
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(batch.begin()->second.pieces.size(), 1u);
  EXPECT_EQ(batch.begin()->second.pieces[0].data, "ab");
  EXPECT_EQ(batch.begin()->second.reached, kRunLogLimit + 104);
}

TEST(RunLogBacklogTest, AChattyRunDoesNotStarveTheOthers) {
  RunLogBacklog backlog(64u << 20);
  for (int run = 1; run <= 3; ++run) backlog.Add(ChunkOf(run, 0, std::string(5000, 'a')));
  EXPECT_EQ(backlog.Take(1).begin()->first.attempt.run_id, Uuid(1));
  backlog.Add(ChunkOf(1, 5000, "more"));
  EXPECT_EQ(backlog.Take(1).begin()->first.attempt.run_id, Uuid(2));
  EXPECT_EQ(backlog.Take(1).begin()->first.attempt.run_id, Uuid(3));
  EXPECT_EQ(backlog.Take(1).begin()->first.attempt.run_id, Uuid(1));
}

// ---------------------------------------------------------------- writer

class RunLogWriterTest : public FlushTest {
 protected:
  RunLogWriterTest() : store_(database_.options(), SystemClock(), random_) {
    InsertJob(database_, 1, "recon");
    for (int run = 1; run <= 3; ++run) Start(run);
    options_.linger = absl::Milliseconds(5);
    options_.first_backoff = absl::Milliseconds(5);
    options_.max_backoff = absl::Milliseconds(20);
  }

  // A live run whose first attempt is at e1, registration 5.
  void Start(int number) {
    ActiveRun run = MakeRun(1, "recon", "2026-11-0" + std::to_string(number), Uuid(number));
    run.status = RunStatus::kRunning;
    run.attempt = 1;
    run.executor_id = "e1";
    run.registration = 5;
    Open(run);
  }
  std::unique_ptr<RunLogWriter> Writer(const std::string& url = "") {
    DatabaseOptions database = database_.options();
    if (!url.empty()) database.url = url;
    return std::make_unique<RunLogWriter>(database, options_);
  }
  OperatorRunLog Read(int run, uint64_t offset = 0) {
    auto log = store_.ReadRunLog(Uuid(run), 1, offset, 64u << 20);
    EXPECT_TRUE(log.ok()) << log.status();
    return log->value();
  }
  // The kept bytes in order, "[N]" where N bytes are missing.
  std::string Text(int run) {
    std::string text;
    uint64_t at = 0;
    for (const auto& piece : Read(run).pieces) {
      if (piece.start != at) text += "[" + std::to_string(piece.start - at) + "]";
      text += piece.data;
      at = piece.start + piece.data.size();
    }
    return text;
  }
  std::string RowCount() { return database_.Sql("SELECT count(*) FROM run_log"); }

  RunLogWriterOptions options_;
  OperatorStore store_;
};

TEST_F(RunLogWriterTest, BytesComeBackAsTheyWere) {
  const auto writer = Writer();
  std::string all;
  for (int i = 0; i < 50; ++i) {
    const std::string data = EveryByte() + std::string(1000 + i, '\0');
    writer->Take(ChunkOf(1, all.size(), data));
    all += data;
  }
  writer->Take(ChunkOf(1, all.size(), "", true));
  writer->Stop();
  EXPECT_TRUE(Text(1) == all);
  EXPECT_EQ(Read(1).reached, all.size());
  EXPECT_TRUE(Read(1).ended);
}

TEST_F(RunLogWriterTest, ChunksThatComeAgainChangeNothingAlsoAfterARestart) {
  const auto send = [&](RunLogWriter& writer) {
    writer.Take(ChunkOf(1, 0, "first "));
    writer.Take(ChunkOf(1, 6, "second "));
    writer.Take(ChunkOf(1, 3, "st second third"));
    writer.Take(ChunkOf(1, 6, "SECOND "));
  };
  const auto one = Writer();
  send(*one);
  one->Stop();
  const std::string rows = RowCount();
  const auto two = Writer();  // knows only what the table says
  send(*two);
  two->Stop();
  EXPECT_EQ(Text(1), "first second third");
  EXPECT_EQ(RowCount(), rows);
}

TEST_F(RunLogWriterTest, WhatWasLostOnTheWayIsAGapOfKnownSize) {
  const auto writer = Writer();
  writer->Take(ChunkOf(1, 0, "begin"));
  writer->Take(ChunkOf(1, 105, "end"));
  writer->Stop();
  EXPECT_EQ(Text(1), "begin[100]end");
  const auto later = Writer();
  later->Take(ChunkOf(1, 50, "too late: order is by offset"));
  later->Take(ChunkOf(1, 108, "!"));
  later->Stop();
  EXPECT_EQ(Text(1), "begin[100]end!");
}

TEST_F(RunLogWriterTest, OnlyTheProcessThatHasTheAttemptWritesItsLog) {
  const auto writer = Writer();
  const auto from = [&](const RunLogKey& key) {
    writer->Take({key, 0, "forged by " + key.executor_id, true});
  };
  from({{Uuid(1), 1}, "other", 5});
  from({{Uuid(1), 1}, "e1", 4});
  from({{Uuid(1), 2}, "e1", 5});
  from({{Uuid(77), 1}, "e1", 5});
  from({{"'; DROP TABLE run_log; --", 1}, "e1", 5});
  from({{Uuid(1), -1}, "e1", 5});
  writer->Take(ChunkOf(1, 0, "own"));
  writer->Stop();
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM run_log WHERE data <> 'own'"), "0");
  EXPECT_EQ(Text(1), "own");
  EXPECT_FALSE(Read(1).ended);
}

TEST_F(RunLogWriterTest, AnAttemptThatIsOverStillGetsItsLastBytes) {
  database_.Sql(
      "UPDATE active_run SET attempt = 2, executor_id = 'e2', registration = 6 "
      "WHERE run_id = $1",
      {Uuid(1)});
  database_.Sql(
      "INSERT INTO run_attempt (recorded_at, run_id, attempt, job_id, executor_id, registration, "
      "executor_host, ended_at, outcome, message) VALUES (tidemark_now(), $1, 1, 1, 'e1', 5, '', "
      "tidemark_now(), 'LOST', '')",
      {Uuid(1)});
  const auto writer = Writer();
  writer->Take(ChunkOf(1, 0, "late", true));
  writer->Take({{{Uuid(1), 2}, "e2", 6}, 0, "second attempt", false});
  writer->Stop();
  EXPECT_EQ(Text(1), "late");
  EXPECT_EQ(store_.ReadRunLog(Uuid(1), 2, 0, 100)->value().pieces.at(0).data, "second attempt");
  EXPECT_EQ(store_.ReadRunLog(Uuid(1), 0, 0, 100)->value().attempt, 2);
}

TEST_F(RunLogWriterTest, TheBeginningIsKeptAndTheRestIsCounted) {
  const auto writer = Writer();
  const std::string block(100000, 'a');
  for (uint64_t at = 0; at < 10'000'000; at += block.size()) writer->Take(ChunkOf(1, at, block));
  writer->Stop();
  const auto again = Writer();
  again->Take(ChunkOf(1, 10'000'000, block));
  again->Take(ChunkOf(1, 10'100'000, "last", true));
  again->Stop();
  EXPECT_EQ(Text(1).size(), kRunLogLimit);
  EXPECT_EQ(Read(1).reached, 10'100'004u);
  EXPECT_TRUE(Read(1).ended);
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM run_log WHERE octet_length(data) = 0"), "1");
}

TEST_F(RunLogWriterTest, BytesThatFollowAMarkAreKept) {
  options_.backlog_bytes = 3000;  // room for little: the rest becomes a mark
  const auto writer = Writer();
  writer->Take(ChunkOf(1, 0, std::string(5000, 'a')));
  ASSERT_TRUE(WaitFor([&] { return Read(1).reached == 5000; }));
  writer->Take(ChunkOf(1, 5000, "after"));
  ASSERT_TRUE(WaitFor([&] { return Read(1).reached == 5005; }));
  writer->Stop();
  const size_t kept = 3000 - 512;
  EXPECT_EQ(Text(1), std::string(kept, 'a') + "[" + std::to_string(5000 - kept) + "]after");
}

TEST_F(RunLogWriterTest, ADatabaseThatIsAwayLosesNothingWithinTheBound) {
  SocketProxy proxy(database_.url());
  const auto writer = Writer(proxy.url());
  writer->Take(ChunkOf(1, 0, "before "));
  ASSERT_TRUE(WaitFor([&] { return Text(1) == "before "; }));
  proxy.Refuse(true);
  writer->Take(ChunkOf(1, 7, "during "));
  writer->Take(ChunkOf(2, 0, "another"));
  proxy.Refuse(false);
  writer->Take(ChunkOf(1, 14, "after"));
  ASSERT_TRUE(WaitFor([&] { return Text(1) == "before during after" && Text(2) == "another"; }));
}

TEST_F(RunLogWriterTest, WhileTheDatabaseIsAwayMemoryIsBoundedAndTheLossIsSaid) {
  options_.backlog_bytes = 200000;
  SocketProxy proxy(database_.url());
  proxy.Refuse(true);
  const auto writer = Writer(proxy.url());
  const std::string block(50000, 'a');
  for (uint64_t at = 0; at < 2'000'000; at += block.size()) writer->Take(ChunkOf(1, at, block));
  writer->Take(ChunkOf(1, 2'000'000, "", true));
  proxy.Refuse(false);
  ASSERT_TRUE(WaitFor([&] { return Read(1).ended; }));
  EXPECT_EQ(Read(1).reached, 2'000'000u);
  EXPECT_LE(Text(1).size(), 500'000u);
  EXPECT_GE(Text(1).size(), 150'000u);
}

TEST_F(RunLogWriterTest, ACommitInDoubtIsNotWrittenTwice) {
  SocketProxy proxy(database_.url());
  const auto writer = Writer(proxy.url());
  writer->Take(ChunkOf(1, 0, "a"));
  ASSERT_TRUE(WaitFor([&] { return Text(1) == "a"; }));
  for (uint64_t i = 1; i <= 20; ++i) {
    proxy.HoldReplies();
    writer->Take(ChunkOf(1, i, "b"));
    proxy.Cut();
  }
  ASSERT_TRUE(WaitFor([&] { return Text(1) == "a" + std::string(20, 'b'); }));
}

TEST_F(RunLogWriterTest, StopWritesWhatIsLeftButDoesNotWaitForADatabaseThatIsAway) {
  options_.linger = absl::Hours(1);
  const auto writer = Writer();
  writer->Take(ChunkOf(1, 0, "left"));
  writer->Stop();
  EXPECT_EQ(Text(1), "left");

  SocketProxy proxy(database_.url());
  proxy.Refuse(true);
  const auto cut_off = Writer(proxy.url());
  cut_off->Take(ChunkOf(1, 4, "lost"));
  cut_off->Stop();  // ends
  EXPECT_EQ(Text(1), "left");
}

TEST_F(RunLogWriterTest, PartsAreReadFromAnyOffset) {
  const auto writer = Writer();
  std::string all;
  for (int i = 0; i < 40000; ++i) all += std::to_string(i) + "\n";
  for (size_t at = 0; at < all.size(); at += 7777) {
    writer->Take(ChunkOf(1, at, all.substr(at, 7777)));
  }
  writer->Stop();
  for (size_t offset = 0; offset < all.size(); offset += 50001) {
    const auto log = store_.ReadRunLog(Uuid(1), 1, offset, 1000)->value();
    ASSERT_FALSE(log.pieces.empty());
    std::string got;
    for (const auto& piece : log.pieces) got += piece.data;
    ASSERT_LE(log.pieces[0].start, offset);
    got = got.substr(offset - log.pieces[0].start);
    EXPECT_GE(got.size(), std::min<size_t>(1000, all.size() - offset));
    EXPECT_LE(got.size(), 2 * kRunLogPiece);
    EXPECT_EQ(got, all.substr(offset, got.size()));
  }
}

}  // namespace
}  // namespace tidemark
