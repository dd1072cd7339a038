// Results until they are committed, progress, logs, limits.
#include <gtest/gtest.h>

#include "executor/src/reports.h"
#include "tests/executor/core_bench.h"

namespace tidemark::exec {
namespace {

TEST(Results, AreSpooledAndRepeatedUntilAcknowledged) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  bench.Finish(1);
  EXPECT_EQ(bench.All<SpoolWriteEffect>().size(), 1u);
  bench.Advance(absl::Seconds(30));
  EXPECT_EQ(bench.Finishes(1, 1).size(), 4u);
  bench.Acknowledge(1, 1);
  bench.Advance(absl::Minutes(9));
  EXPECT_EQ(bench.Finishes(1, 1).size(), 4u);
  EXPECT_EQ(bench.All<SpoolAckEffect>().size(), 1u);
  EXPECT_TRUE(bench.All<SpoolDeleteEffect>().empty());
  bench.Advance(absl::Minutes(2));
  EXPECT_EQ(bench.All<SpoolDeleteEffect>().size(), 1u);
}

TEST(Results, SurviveAnOutageAndAreOfferedInHello) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1, "hard");
  bench.Close(1);
  bench.Finish(1);
  bench.Advance(absl::Hours(1));
  bench.Open(2);
  ASSERT_EQ(bench.LastHello(2).results_size(), 1);
  EXPECT_EQ(bench.LastHello(2).held_size(), 0);
  bench.Welcome(2);
  bench.Acknowledge(2, 1);
  bench.Close(2);
  bench.Open(3);
  EXPECT_EQ(bench.LastHello(3).results_size(), 0);
}

TEST(Results, GoToAnotherNodeWhenTheOwnerIsAway) {
  CoreBench bench;
  bench.Connect(1, "n1");
  bench.Connect(2, "n2");
  bench.Run(1, 1);
  bench.Run(1, 2);
  bench.Finish(1);
  EXPECT_EQ(bench.Finishes(1, 1).size(), 1u);
  EXPECT_EQ(bench.Finishes(2, 1).size(), 0u);
  bench.Close(1);
  bench.Finish(2);
  EXPECT_EQ(bench.Finishes(2, 2).size(), 1u);
}

TEST(Results, OfEarlierProcessesKeepTheirRegistration) {
  SpooledResult spooled;
  SetRef(CoreBench::Key(1), spooled.report.mutable_attempt());
  spooled.report.set_registration(3);
  spooled.report.mutable_finished()->set_outcome(v1::Finished::SUCCEEDED);
  CoreBench bench(DefaultOptions(), {spooled});
  bench.Open(1);
  ASSERT_EQ(bench.LastHello(1).results_size(), 1);
  EXPECT_EQ(bench.LastHello(1).results(0).registration(), 3);
  bench.Welcome(1);
  bench.Trigger(1, CoreBench::MakeTrigger(1));  // its copy for this incarnation: it is done
  EXPECT_EQ(bench.Starts(1), 0);
  EXPECT_EQ(bench.Finishes(1, 1).size(), 1u);
}

TEST(Results, FullSpoolRefusesTriggersAndDropsNothing) {
  CoreOptions options = DefaultOptions();
  options.spool_limit_bytes = 30000;
  CoreBench bench(options);
  bench.Connect(1);
  HandlerResult big;
  big.result = std::string(16000, 'x');
  bench.Run(1, 1);
  bench.Run(1, 2);
  bench.Run(1, 3);
  for (const int run : {1, 2, 3}) bench.Finish(run, big);
  bench.Trigger(1, CoreBench::MakeTrigger(4));
  EXPECT_EQ(bench.LastRefusal(1, 4), v1::Refused::SPOOL_FULL);
  EXPECT_EQ(bench.core.outbox().UnacknowledgedResults().size(), 3u);
  bench.Advance(absl::Seconds(5));
  EXPECT_EQ(bench.LastHeartbeat(1).free_slots(), 0u);
  for (const int run : {1, 2, 3}) bench.Acknowledge(1, run);
  bench.Trigger(1, CoreBench::MakeTrigger(5));
  EXPECT_EQ(bench.Starts(5), 1);
}

TEST(Results, SpoolThatCannotBeWrittenRefusesTriggers) {
  CoreBench bench;
  bench.Connect(1);
  bench.core.OnSpoolHealth(false, "No space left on device");
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  EXPECT_EQ(bench.LastRefusal(1, 1), v1::Refused::SPOOL_FULL);
  bench.core.OnSpoolHealth(true, "");
  bench.Trigger(1, CoreBench::MakeTrigger(2));
  EXPECT_EQ(bench.Starts(2), 1);
}

TEST(Results, AcknowledgedOnesAreKeptWithinALimit) {
  CoreOptions options = DefaultOptions();
  options.spool_limit_bytes = 30000;
  CoreBench bench(options);
  bench.Connect(1);
  HandlerResult big;
  big.result = std::string(16000, 'x');
  for (int run = 1; run <= 10; ++run) {
    bench.Run(1, run);
    bench.Finish(run, big);
    bench.Acknowledge(1, run);
  }
  EXPECT_EQ(bench.core.outbox().Find(CoreBench::Key(1)), nullptr);
  EXPECT_NE(bench.core.outbox().Find(CoreBench::Key(10)), nullptr);
}

TEST(Limits, TextsAreCutOnCharacterBoundaries) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  HandlerResult result;
  for (int i = 0; i < 5000; ++i) {
    result.message += "\xE6\xBD\xAE";  // three bytes
    result.result += "\xE6\xBD\xAE\xE6\xB1\x90";
  }
  result.message[10] = '\0';
  result.digest = std::string(500, 'f');
  bench.core.OnProgress(CoreBench::Key(1), {1000, std::string(5000, 'c'), ""}, bench.Now());
  bench.Finish(1, result);
  const v1::Finished finished = bench.Finishes(1, 1)[0];
  EXPECT_LE(finished.message().size(), kMaxFinishMessage);
  EXPECT_LE(finished.result().size(), kMaxResult);
  EXPECT_LE(finished.result_digest().size(), kMaxDigest);
  EXPECT_TRUE(finished.result().ends_with("…[cut]"));
  EXPECT_EQ(finished.message().find('\0'), std::string::npos);
  v1::ExecutorMessage copy;
  EXPECT_TRUE(copy.ParseFromString(bench.sent.back().second.SerializeAsString()));
}

TEST(Progress, AtMostOnceASecondAndTheLastWins) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  const auto sent = [&] {
    int count = 0;
    for (const auto& report : bench.Reports(1, 1)) count += report.has_progress() ? 1 : 0;
    return count;
  };
  for (int i = 1; i <= 50; ++i) {
    bench.core.OnProgress(CoreBench::Key(1), {double(i), "c" + std::to_string(i), ""}, bench.Now());
    bench.Take();
  }
  EXPECT_EQ(sent(), 1);
  bench.Advance(absl::Seconds(1));
  EXPECT_EQ(sent(), 2);
  EXPECT_EQ(bench.Reports(1, 1).back().progress().checkpoint(), "c50");
  bench.Advance(absl::Seconds(3));
  EXPECT_EQ(sent(), 2);
}

TEST(Progress, WaitsForTheOwnerAndReachesTheResult) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1, "hard");
  bench.Close(1);
  bench.core.OnProgress(CoreBench::Key(1), {40, "row-4", ""}, bench.Now());
  bench.Advance(absl::Minutes(1));
  bench.Connect(2);
  ASSERT_FALSE(bench.Reports(2, 1).empty());
  EXPECT_EQ(bench.Reports(2, 1).back().progress().checkpoint(), "row-4");
  bench.Finish(1);
  EXPECT_EQ(bench.Finishes(2, 1)[0].checkpoint(), "row-4");
}

TEST(Logs, AreSentInOrderBeforeTheEnd) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  const std::string bytes = std::string(100000, 'a') + std::string("\0\xff\n", 3);
  bench.core.OnLog(CoreBench::Key(1), bytes);
  bench.Finish(1);
  std::string got;
  bool finished = false;
  for (const auto& report : bench.Reports(1, 1)) {
    if (report.has_log()) {
      EXPECT_FALSE(finished);
      EXPECT_EQ(report.log().offset(), got.size());
      EXPECT_LE(report.log().data().size(), kMaxLogChunk);
      got += report.log().data();
    }
    finished = finished || report.has_finished();
  }
  EXPECT_EQ(got, bytes);
}

// Where the log ends as the reports say it; -1: they do not.
int64_t SaidEnd(const std::vector<v1::RunReport>& reports) {
  int64_t end = -1;
  for (const v1::RunReport& report : reports) {
    if (!report.has_log()) continue;
    EXPECT_EQ(end, -1) << "nothing follows the end";
    if (report.log().end()) {
      end = static_cast<int64_t>(report.log().offset() + report.log().data().size());
    }
  }
  return end;
}

TEST(Logs, TheEndIsSaidWithTheLastBytesOrBehindThem) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1);
  bench.core.OnLog(CoreBench::Key(1), "all");
  bench.Finish(1);
  EXPECT_EQ(SaidEnd(bench.Reports(1, 1)), 3);

  bench.Run(1, 2);
  bench.core.OnLog(CoreBench::Key(2), "sent before");
  bench.Take();
  EXPECT_EQ(SaidEnd(bench.Reports(1, 2)), -1);
  bench.Finish(2);
  EXPECT_EQ(SaidEnd(bench.Reports(1, 2)), 11);

  bench.Run(1, 3);
  bench.Finish(3);
  for (const auto& report : bench.Reports(1, 3)) EXPECT_FALSE(report.has_log()) << "there is none";
}

TEST(Logs, AnotherNodeTakesThemWhenTheOwnerIsAway) {
  CoreBench bench;
  bench.Connect(1, "n1");
  bench.Connect(2, "n2");
  bench.Run(1, 1, "hard");
  bench.Close(1);
  bench.core.OnLog(CoreBench::Key(1), "to whoever is there");
  bench.Take();
  ASSERT_FALSE(bench.Reports(2, 1).empty());
  EXPECT_EQ(bench.Reports(2, 1).back().log().data(), "to whoever is there");
}

TEST(Logs, AreBoundedWhileNobodyTakesThem) {
  CoreBench bench;
  bench.Connect(1);
  bench.Run(1, 1, "hard");
  bench.Close(1);
  for (int i = 0; i < 200; ++i) bench.core.OnLog(CoreBench::Key(1), std::string(10000, 'a'));
  bench.Connect(2);
  bench.Take();  // what the window held back
  size_t bytes = 0;
  std::string all;
  for (const auto& report : bench.Reports(2, 1)) {
    if (report.has_log()) all += report.log().data();
  }
  bytes = all.size();
  EXPECT_LT(bytes, LogBuffer::kPendingLimit + 1000);
  EXPECT_NE(all.find("bytes of log dropped"), std::string::npos);
}

TEST(Nodes, SecondStreamToTheSameNodeReplacesTheFirst) {
  CoreBench bench;
  bench.Connect(1, "n1");
  bench.Connect(2, "n1");
  const auto closes = bench.All<CloseEffect>();
  ASSERT_EQ(closes.size(), 1u);
  EXPECT_EQ(closes[0].link, 1u);
  EXPECT_EQ(closes[0].parked_by, std::optional<LinkId>(2));
  bench.Trigger(1, CoreBench::MakeTrigger(1));
  EXPECT_EQ(bench.core.running(), 0u);
}

}  // namespace
}  // namespace tidemark::exec
