#include "scheduler/store/inbox_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/store/sql_error.h"
#include "tests/store/flush_fixture.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class InboxRowsTest : public FlushTest {
 protected:
  InboxRowsTest() {
    InsertJob(database_, 100, "recon");
    run_ = MakeRun(100, "recon", "2026-11-27", Uuid(1));
    run_.attempt = 2;
    run_.executor_id = "e";
    run_.registration = 5;
    Open(run_);
  }

  static InboxWrite Report(const std::string& run_id, int attempt, int64_t registration) {
    InboxWrite write{{{run_id, attempt}, registration, "", {}}, "recon", "default"};
    write.item.result.message = "done";
    return write;
  }
  void Write(const InboxWrite& write) {
    Flush flush;
    flush.inbox.push_back(write);
    Commit(std::move(flush));
  }
  void Take(const AttemptRef& attempt, const std::set<int64_t>& left_out = {}) {
    Flush flush;
    flush.inbox_taken.push_back(attempt);
    Commit(std::move(flush), left_out);
  }
  std::vector<InboxItem> Read(InboxReader& reader, const std::string& shards = "{7}") {
    std::vector<InboxItem> items;
    const absl::Status status = connection_->Transact(
        [&](SqlTransaction& transaction) -> absl::Status {
          auto read = reader.Read(transaction, shards);
          if (!read.ok()) return read.status();
          items = *std::move(read);
          return absl::OkStatus();
        },
        Isolation::kRepeatableReadOnly);
    EXPECT_TRUE(status.ok()) << status;
    reader.Delivered();
    return items;
  }
  std::string Count() { return database_.Sql("SELECT count(*) FROM inbox"); }

  ActiveRun run_;
};

TEST_F(InboxRowsTest, OnlyWhatALiveRunHasIsKept) {
  Write(Report(run_.run_id, 1, 5));  // an earlier attempt
  Write(Report(run_.run_id, 2, 4));  // another process
  Write(Report(Uuid(9), 2, 5));      // unknown
  InboxWrite foreign = Report(run_.run_id, 2, 5);
  foreign.app = "other";  // whose executors have no say here
  Write(foreign);
  foreign = Report(run_.run_id, 2, 5);
  foreign.ns = "other";
  Write(foreign);
  EXPECT_EQ(Count(), "0");
  Write(Report(run_.run_id, 2, 5));
  EXPECT_EQ(Count(), "1");
  Write(Report(run_.run_id, 2, 0));  // through another node once more
  EXPECT_EQ(database_.Sql("SELECT count(*) || ' ' || max(registration) FROM inbox"), "1 5");
}

TEST_F(InboxRowsTest, AReportComesAsItWas) {
  InboxWrite write = Report(run_.run_id, 2, 5);
  write.item.result = {
      Outcome::kFailedPermanent, "line\n\"two\"", "{\"a\": [1]}", 12, "ab12", "page 7"};
  Write(write);
  InboxReader reader;
  EXPECT_THAT(Read(reader, "{8}"), IsEmpty());
  const auto items = Read(reader);
  ASSERT_THAT(items, SizeIs(1));
  const InboxItem& item = items[0];
  EXPECT_EQ(item.attempt.run_id, run_.run_id);
  EXPECT_EQ(item.attempt.attempt, 2);
  EXPECT_EQ(item.registration, 5);
  EXPECT_EQ(item.refused, "");
  EXPECT_EQ(item.result.outcome, Outcome::kFailedPermanent);
  EXPECT_EQ(item.result.message, "line\n\"two\"");
  EXPECT_EQ(item.result.result, "{\"a\": [1]}");
  EXPECT_EQ(item.result.result_rows, 12);
  EXPECT_EQ(item.result.result_digest, "ab12");
  EXPECT_EQ(item.result.checkpoint, "page 7");
}

TEST_F(InboxRowsTest, WhatCannotBeStoredIsMadeStorable) {
  InboxWrite write = Report(run_.run_id, 2, 5);
  write.item.refused = std::string(100, 'r');
  write.item.result.message = std::string("a\0b\xff", 4);
  write.item.result.result = std::string(size_t{100} * 1024, 'x');
  write.item.result.result_digest = std::string(500, 'd');
  Write(write);
  InboxReader reader;
  const auto items = Read(reader);
  ASSERT_THAT(items, SizeIs(1));
  EXPECT_EQ(items[0].refused.size(), 32u);
  EXPECT_LE(items[0].result.result.size(), size_t{64} * 1024);
  EXPECT_EQ(items[0].result.result_digest.size(), 128u);
}

TEST_F(InboxRowsTest, EachComesOnceATermUntilItIsTaken) {
  Write(Report(run_.run_id, 2, 5));
  InboxReader reader;
  EXPECT_THAT(Read(reader), SizeIs(1));
  EXPECT_THAT(Read(reader), IsEmpty());
  InboxReader next_term;
  EXPECT_THAT(Read(next_term), SizeIs(1));
  // What an executor refused may be sent again under the same number, and its end comes in, too.
  Take({run_.run_id, 2});
  EXPECT_EQ(Count(), "0");
  Write(Report(run_.run_id, 2, 5));
  EXPECT_THAT(Read(reader), SizeIs(1));
  EXPECT_THAT(Read(reader), IsEmpty());
}

TEST_F(InboxRowsTest, OfAJobThatWasLeftOutNothingIsTaken) {
  Write(Report(run_.run_id, 2, 5));
  Take({run_.run_id, 2}, {100});
  EXPECT_EQ(Count(), "1");
  Take({run_.run_id, 2}, {101});
  EXPECT_EQ(Count(), "0");
}

TEST_F(InboxRowsTest, WhatIsReadInOneTransactionOnlyCountsOnceItIsDelivered) {
  Write(Report(run_.run_id, 2, 5));
  InboxReader reader;
  const absl::Status lost = connection_->Transact([&](SqlTransaction& transaction) {
    EXPECT_THAT(reader.Read(transaction, "{7}").value(), SizeIs(1));
    return absl::UnavailableError("the answer to COMMIT was lost");
  });
  EXPECT_FALSE(lost.ok());
  EXPECT_THAT(Read(reader), SizeIs(1));
}

TEST_F(InboxRowsTest, ThousandsComeInOrder) {
  constexpr int kRuns = 1200;
  Flush opens;
  Flush reports;
  for (int i = 0; i < kRuns; ++i) {
    ActiveRun run = MakeRun(100, "recon", "2026-11-27", Uuid(1000 + i));
    run.occurrence = FireKey(100, run.fire_time + absl::Seconds(i));
    run.biz_date.reset();
    opens.opens.push_back({run, ""});
    reports.inbox.push_back(Report(run.run_id, 0, 0));
  }
  Commit(opens);
  Commit(reports);
  EXPECT_EQ(Count(), std::to_string(kRuns));
  InboxReader reader;
  size_t read = 0;
  std::vector<std::string> order;
  for (const size_t expected : {500, 500, 200, 0}) {
    const auto items = Read(reader);
    EXPECT_THAT(items, SizeIs(expected));
    for (const InboxItem& item : items) order.push_back(item.attempt.run_id);
    read += items.size();
  }
  EXPECT_EQ(read, static_cast<size_t>(kRuns));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

}  // namespace
}  // namespace tidemark
