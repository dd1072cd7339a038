// ReadRunLog over real gRPC, on a real database.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/engine/run_log.h"
#include "scheduler/store/run_log_rows.h"
#include "tests/rpc/operator_bench.h"

namespace tidemark {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;
using Stub = v1::OperatorService::Stub;

class OperatorLogsTest : public testing::Test {
 protected:
  void SetUp() override {
    recon_ = bench_.Apply(ReconSpec());
    live_ = bench_.AddLiveRun(recon_, "2026-11-28", "RUNNING");
  }

  void Keep(const std::string& run_id, int attempt, uint64_t start, const std::string& hex,
            bool ended = false) {
    bench_.db().Sql(
        "INSERT INTO run_log (recorded_at, run_id, attempt, start_byte, data, ended) "
        "VALUES ($1, $2, $3, $4, decode($5, 'hex'), $6)",
        {ToParam(RunLogTime(run_id)), run_id, ToParam(attempt),
         ToParam(static_cast<int64_t>(start)), hex, ToParam(ended)});
  }
  void EndAttempt(const std::string& run_id, int attempt, int seconds_ago) {
    bench_.db().Sql(
        "INSERT INTO run_attempt (recorded_at, run_id, attempt, job_id, executor_id, registration, "
        "executor_host, ended_at, outcome, message) VALUES (tidemark_now() - make_interval(secs => "
        "$3), $1, $2, 1, 'recon-1', 1, '', tidemark_now(), 'FAILED_RETRYABLE', '')",
        {run_id, ToParam(attempt), ToParam(seconds_ago)});
  }
  v1::ReadRunLogResponse Read(const std::string& run_id, uint32_t attempt, uint64_t offset = 0,
                              uint32_t limit = 0) {
    v1::ReadRunLogResponse response;
    status_ = Ask(run_id, attempt, offset, limit, &response);
    EXPECT_TRUE(status_.ok()) << status_.error_message();
    return response;
  }
  grpc::Status Ask(const std::string& run_id, uint32_t attempt, uint64_t offset, uint32_t limit,
                   v1::ReadRunLogResponse* response) {
    v1::ReadRunLogRequest request;
    request.set_run_id(run_id);
    request.set_attempt(attempt);
    request.set_offset(offset);
    request.set_limit(limit);
    return bench_.Call(&Stub::ReadRunLog, request, response);
  }

  OperatorBench bench_;
  int64_t recon_ = 0;
  std::string live_;
  grpc::Status status_;
};

TEST_F(OperatorLogsTest, ALogThatGrowsIsReadInParts) {
  Keep(live_, 1, 0, "00ff0a");
  Keep(live_, 1, 3, "616263");
  auto part = Read(live_, 1, 0, 4);
  EXPECT_EQ(part.data(), std::string("\0\xff\n\x61", 4));
  EXPECT_EQ(part.next_offset(), 4u);
  EXPECT_FALSE(part.complete());
  part = Read(live_, 0, part.next_offset());
  EXPECT_EQ(part.data(), "bc");
  EXPECT_EQ(part.attempt(), 1u);
  EXPECT_EQ(part.last_attempt(), 1u);
  part = Read(live_, 1, 6);
  EXPECT_EQ(part.data(), "");
  EXPECT_EQ(part.next_offset(), 6u);
  EXPECT_FALSE(part.complete()) << "the attempt goes on";
  EXPECT_FALSE(part.run_ended());
}

TEST_F(OperatorLogsTest, AGapIsSaidBeforeTheBytesThatFollowIt) {
  Keep(live_, 1, 0, "61");
  Keep(live_, 1, 11, "62");
  auto part = Read(live_, 1);
  EXPECT_EQ(part.data(), "a");
  EXPECT_EQ(part.missing_bytes(), 0u);
  part = Read(live_, 1, 1);
  EXPECT_EQ(part.missing_bytes(), 10u);
  EXPECT_EQ(part.cut_bytes(), 0u);
  EXPECT_EQ(part.data(), "b");
  EXPECT_EQ(part.next_offset(), 12u);
  EXPECT_EQ(Read(live_, 1, 5).missing_bytes(), 6u);
}

TEST_F(OperatorLogsTest, WhatIsCutIsSaidOnceTheLogHasEnded) {
  Keep(live_, 1, 0, "61");
  Keep(live_, 1, kRunLogLimit + 500, "");
  EXPECT_EQ(Read(live_, 1, 1).missing_bytes(), 0u) << "more may come";
  EndAttempt(live_, 1, 0);
  EXPECT_FALSE(Read(live_, 1, 1).complete()) << "its end may be on its way";
  Keep(live_, 1, kRunLogLimit + 600, "", true);
  const auto part = Read(live_, 1, 1);
  EXPECT_TRUE(part.complete());
  EXPECT_EQ(part.missing_bytes(), kRunLogLimit + 599);
  EXPECT_EQ(part.cut_bytes(), 600u);
  EXPECT_EQ(part.next_offset(), kRunLogLimit + 600);
  EXPECT_EQ(Read(live_, 1, part.next_offset()).missing_bytes(), 0u);
}

TEST_F(OperatorLogsTest, WithoutAnEndAnAttemptThatIsOverIsNotWaitedForForEver) {
  Keep(live_, 1, 0, "61");
  EndAttempt(live_, 1, 60);
  const auto part = Read(live_, 1);
  EXPECT_EQ(part.data(), "a");
  EXPECT_TRUE(part.complete());
  EXPECT_FALSE(part.run_ended()) << "a retry may follow";
}

TEST_F(OperatorLogsTest, EachAttemptHasItsOwn) {
  bench_.db().Sql("UPDATE active_run SET attempt = 2 WHERE run_id = $1", {live_});
  EndAttempt(live_, 1, 60);
  Keep(live_, 1, 0, "6f6e65", false);
  Keep(live_, 2, 0, "74776f", false);
  EXPECT_EQ(Read(live_, 1).data(), "one");
  EXPECT_TRUE(Read(live_, 1).complete());
  EXPECT_EQ(Read(live_, 2).data(), "two");
  EXPECT_EQ(Read(live_, 0).data(), "two");
  EXPECT_EQ(Read(live_, 3).attempt(), 0u) << "may still come";
  v1::ReadRunLogResponse response;
  const grpc::Status status = Ask(live_, 4, 0, 0, &response);
  EXPECT_EQ(status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("tidemark run get " + live_));
}

TEST_F(OperatorLogsTest, EndedRunsSaySo) {
  const std::string ended = bench_.AddEndedRun(recon_, "2026-11-27", "FAILED", "SCHEDULE");
  Keep(ended, 2, 0, "62");
  EXPECT_FALSE(Read(ended, 2).complete()) << "its end may be on its way";
  Keep(ended, 2, 1, "", true);
  const auto part = Read(ended, 0);
  EXPECT_EQ(part.attempt(), 2u);
  EXPECT_EQ(part.data(), "b");
  EXPECT_TRUE(part.run_ended());
  EXPECT_TRUE(part.complete());
}

TEST_F(OperatorLogsTest, WhatCannotBeIsRefused) {
  v1::ReadRunLogResponse response;
  EXPECT_EQ(Ask("nonsense", 0, 0, 0, &response).error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Ask(live_, 0xffffffff, 0, 0, &response).error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Ask(live_, 1, ~uint64_t{0}, 0, &response).error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Ask("0190f2a0-0000-7000-8000-00000000abcd", 0, 0, 0, &response).error_code(),
            StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace tidemark
