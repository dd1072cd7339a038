// Backfills and drills through the operator service, on a real database; the test plays the owner.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/rpc/operator_bench.h"

namespace tidemark {
namespace {

using grpc::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Stub = v1::OperatorService::Stub;

constexpr char kId[] = "0190f2a0-0000-7000-8000-0000000000b1";

class OperatorBackfillsTest : public testing::Test {
 protected:
  void SetUp() override {
    recon_ = bench_.Apply(ReconSpec());  // 2026-11-24 to 28 are due
    bench_.Apply(BeatSpec());
    bench_.AnswerOrders("backfill_create",
                        {absl::StatusCode::kOk, R"({"dates": "3", "message": "3 dates"})"});
  }
  v1::CreateBackfillRequest Request(const std::string& from, const std::string& to,
                                    const std::string& reprocess = "all") {
    v1::CreateBackfillRequest request;
    request.set_job("recon");
    request.set_from(from);
    request.set_to(to);
    request.set_reprocess(reprocess);
    request.set_actor("ann");
    return request;
  }
  grpc::Status Create(const v1::CreateBackfillRequest& request) {
    created_.Clear();
    return bench_.Call(&Stub::CreateBackfill, request, &created_);
  }
  std::vector<std::string> Dates() const {
    return {created_.dates().begin(), created_.dates().end()};
  }
  // A backfill of 2026-11-24 to 27 as the engine would leave it, with two runs of its own.
  void MakeBackfill(const std::string& state) {
    bench_.db().Sql(
        "INSERT INTO backfill (backfill_id, job_id, from_date, to_date, reprocess, reverse, "
        "parallel, state, reason, actor, dates, created_at, ended_at, updated_at) VALUES ($1, $2, "
        "'2026-11-24', '2026-11-27', 'all', false, 1, $3::text, 'new rates', 'ann', "
        "'{2026-11-24,2026-11-25,2026-11-26}', tidemark_now(), "
        "CASE WHEN $3::text IN ('RUNNING', 'PAUSED') THEN NULL ELSE tidemark_now() END, "
        "tidemark_now())",
        {kId, ToParam(recon_), state});
    const std::string done = bench_.AddEndedRun(recon_, "2026-11-24", "COMPLETED", "BACKFILL");
    const std::string failed = bench_.AddEndedRun(recon_, "2026-11-25", "FAILED", "BACKFILL");
    bench_.db().Sql("UPDATE run_history SET backfill_id = $1 WHERE run_id IN ($2, $3)",
                    {kId, done, failed});
    bench_.SetWatermark(recon_, "2026-11-24", "DONE");
    bench_.SetWatermark(recon_, "2026-11-27", "WAIVED");
  }
  v1::Backfill Get() {
    v1::GetBackfillRequest request;
    request.set_backfill_id(kId);
    v1::Backfill backfill;
    EXPECT_TRUE(bench_.Call(&Stub::GetBackfill, request, &backfill).ok());
    return backfill;
  }

  OperatorBench bench_;
  int64_t recon_ = 0;
  v1::CreateBackfillResponse created_;
};

TEST_F(OperatorBackfillsTest, ADryRunShowsDatesAndOrderAndDoesNothing) {
  bench_.SetWatermark(recon_, "2026-11-24", "DONE");
  bench_.SetWatermark(recon_, "2026-11-25", "WAIVED");
  v1::CreateBackfillRequest request = Request("2026-11-24", "2026-11-27");
  request.set_dry_run(true);
  const grpc::Status status = Create(request);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_THAT(Dates(), ElementsAre("2026-11-24", "2026-11-26", "2026-11-27"));
  ASSERT_EQ(created_.left_alone_size(), 1);
  EXPECT_EQ(created_.left_alone(0).biz_date(), "2026-11-25");
  EXPECT_EQ(created_.left_alone(0).reason(), "WAIVED");
  EXPECT_FALSE(created_.has_expected_duration()) << "no run has completed yet";
  EXPECT_EQ(created_.backfill_id(), "");
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM command WHERE kind = 'backfill_create'"), "0");
}

TEST_F(OperatorBackfillsTest, TheExpectedDurationIsTheMedianTimesTheDates) {
  for (const char* minutes : {"1", "2", "60"}) {
    const std::string run = bench_.AddEndedRun(recon_, "2026-11-24", "COMPLETED", "SCHEDULE");
    bench_.db().Sql(
        "UPDATE run_history SET ended_at = started_at + $2 * interval '1 minute' "
        "WHERE run_id = $1",
        {run, minutes});
  }
  v1::CreateBackfillRequest request = Request("2026-11-24", "2026-11-27");
  request.set_dry_run(true);
  ASSERT_TRUE(Create(request).ok());
  EXPECT_EQ(created_.expected_duration().seconds(), 4 * 120);
  EXPECT_EQ(created_.runs_measured(), 3u);
}

TEST_F(OperatorBackfillsTest, AnOrderCarriesWhatWasAskedFor) {
  v1::CreateBackfillRequest request = Request("2026-11-24", "2026-11-26", "failed");
  request.set_reason("new rates");
  const grpc::Status status = Create(request);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(created_.date_count(), 3u);
  EXPECT_FALSE(created_.queued());
  EXPECT_EQ(bench_.db().Rows("SELECT a->>'backfill_id' = command_id::text, a->>'from', a->>'to', "
                             "a->>'reprocess', a->>'parallel', a->>'reason', actor FROM command, "
                             "LATERAL (SELECT args::json AS a) x WHERE kind = 'backfill_create'"),
            std::vector<std::string>{"t|2026-11-24|2026-11-26|failed|1|new rates|ann"});
}

TEST_F(OperatorBackfillsTest, WhatCannotBeMeantIsRefusedWithTheMend) {
  const auto refused = [&](const v1::CreateBackfillRequest& request, StatusCode code,
                           const std::string& words) {
    const grpc::Status status = Create(request);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(words));
  };
  refused(Request("2026-11-26", "2026-11-25"), StatusCode::INVALID_ARGUMENT, "lies before from");
  refused(Request("2026-11-26", "2026-11-30"), StatusCode::INVALID_ARGUMENT, "is not due before");
  refused(Request("2026-11-01", "2026-11-10"), StatusCode::INVALID_ARGUMENT,
          "before the first date of job 'recon', 2026-11-24");
  refused(Request("soon", "2026-11-25"), StatusCode::INVALID_ARGUMENT, "from");
  refused(Request("2026-11-24", "2026-11-25", "some"), StatusCode::INVALID_ARGUMENT, "reprocess");
  v1::CreateBackfillRequest reverse = Request("2026-11-24", "2026-11-25");
  reverse.set_reverse(true);
  refused(reverse, StatusCode::FAILED_PRECONDITION, "order: independent");
  v1::CreateBackfillRequest beat = Request("2026-11-24", "2026-11-25");
  beat.set_job("beat");
  refused(beat, StatusCode::FAILED_PRECONDITION, "no business dates");
}

TEST_F(OperatorBackfillsTest, GetTellsEveryDateOfTheRange) {
  MakeBackfill("RUNNING");
  const v1::Backfill backfill = Get();
  EXPECT_EQ(backfill.state(), "RUNNING");
  EXPECT_EQ(backfill.total(), 3u);
  EXPECT_EQ(backfill.done(), 1u);
  EXPECT_EQ(backfill.failed(), 1u);
  ASSERT_EQ(backfill.dates_size(), 4);
  EXPECT_EQ(backfill.dates(0).state(), "DONE");
  EXPECT_EQ(backfill.dates(0).result_rows(), 7);
  EXPECT_EQ(backfill.dates(1).state(), "FAILED");
  EXPECT_THAT(backfill.dates(1).reason(), HasSubstr("boom"));
  EXPECT_NE(backfill.dates(1).run_id(), "");
  EXPECT_EQ(backfill.dates(2).state(), "WAITING");
  EXPECT_EQ(backfill.dates(3).state(), "LEFT");
  EXPECT_THAT(backfill.dates(3).reason(), HasSubstr("WAIVED"));
  EXPECT_EQ(backfill.waits_for(), "");
  bench_.db().Sql("UPDATE job SET paused = true, pause_reason = 'holiday' WHERE job_id = $1",
                  {ToParam(recon_)});
  EXPECT_THAT(Get().waits_for(), HasSubstr("holiday"));
}

TEST_F(OperatorBackfillsTest, ListIsNewestFirstAndByJob) {
  MakeBackfill("DONE");
  v1::ListBackfillsRequest request;
  v1::ListBackfillsResponse response;
  ASSERT_TRUE(bench_.Call(&Stub::ListBackfills, request, &response).ok());
  ASSERT_EQ(response.backfills_size(), 1);
  EXPECT_EQ(response.backfills(0).settled(), 1u);
  request.set_job("beat");
  response.Clear();
  ASSERT_TRUE(bench_.Call(&Stub::ListBackfills, request, &response).ok());
  EXPECT_THAT(response.backfills(), IsEmpty());
}

TEST_F(OperatorBackfillsTest, OneThatEndedTakesNoOrders) {
  MakeBackfill("CANCELLED");
  v1::BackfillOrderRequest request;
  request.set_backfill_id(kId);
  v1::OrderResponse response;
  const grpc::Status status = bench_.Call(&Stub::ResumeBackfill, request, &response);
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("tidemark backfill create 'recon'"));
  request.set_backfill_id("0190f2a0-0000-7000-8000-0000000000ff");
  EXPECT_EQ(bench_.Call(&Stub::PauseBackfill, request, &response).error_code(),
            StatusCode::NOT_FOUND);
}

TEST_F(OperatorBackfillsTest, ADrillComparesFirstRunAndDrillRun) {
  bench_.AnswerOrders("drill", {absl::StatusCode::kOk, R"({"dates": "2026-11-27,2026-11-28"})"});
  v1::DrillJobRequest request;
  request.set_name("recon");
  request.set_days(2);
  v1::DrillJobResponse response;
  const grpc::Status status = bench_.Call(&Stub::DrillJob, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_THAT(response.dates(), ElementsAre("2026-11-27", "2026-11-28"));
  v1::GetDrillRequest get;
  get.set_drill_id(response.drill_id());
  v1::Drill drill;
  EXPECT_EQ(bench_.Call(&Stub::GetDrill, get, &drill).error_code(), StatusCode::NOT_FOUND);
  // What the owner leaves; AddEndedRun reports 7 rows and "dig".
  bench_.db().Sql(
      "INSERT INTO drill (drill_id, job_id, biz_date, first_rows, first_digest, actor, started_at) "
      "VALUES ($1, $2, '2026-11-27', 7, 'dig', 'ann', tidemark_now() - interval '1 hour'), "
      "($1, $2, '2026-11-28', 8, 'dig', 'ann', tidemark_now() - interval '1 hour')",
      {response.drill_id(), ToParam(recon_)});
  bench_.AddEndedRun(recon_, "2026-11-27", "COMPLETED", "CATCH_UP");
  ASSERT_TRUE(bench_.Call(&Stub::GetDrill, get, &drill).ok());
  EXPECT_FALSE(drill.finished());
  EXPECT_EQ(drill.dates(0).verdict(), "SAME");
  EXPECT_EQ(drill.dates(1).state(), "WAITING");
  bench_.AddEndedRun(recon_, "2026-11-28", "COMPLETED", "CATCH_UP");
  ASSERT_TRUE(bench_.Call(&Stub::GetDrill, get, &drill).ok());
  EXPECT_TRUE(drill.finished());
  EXPECT_FALSE(drill.passed());
  EXPECT_EQ(drill.dates(1).verdict(), "DIFFERENT");
}

TEST_F(OperatorBackfillsTest, TheLedgerSaysSinceWhenADateIsBlockedAndWhoWaived) {
  bench_.SetWatermark(recon_, "2026-11-24", "WAIVED");
  bench_.db().Sql("UPDATE job_watermark SET actor = 'bob', note = 'bank closed'");
  bench_.SetWatermark(recon_, "2026-11-25", "FAILED", "retries");
  bench_.db().Sql(
      "UPDATE job_watermark SET finished_at = '2026-11-27T00:00:00Z' WHERE status = 'FAILED'");
  v1::ListWatermarksRequest request;
  request.set_job("recon");
  v1::ListWatermarksResponse response;
  ASSERT_TRUE(bench_.Call(&Stub::ListWatermarks, request, &response).ok());
  ASSERT_EQ(response.watermarks_size(), 5);
  EXPECT_EQ(response.watermarks(0).actor(), "bob");
  EXPECT_THAT(response.watermarks(0).note(), HasSubstr("bank closed"));
  const v1::Watermark& before = response.watermarks(2);  // due on the 26th, blocked from the 27th
  EXPECT_EQ(before.status(), "BLOCKED");
  EXPECT_EQ(before.blocked_by(), "2026-11-25");
  EXPECT_EQ(before.blocked_since().seconds(), 1795737600);
  const v1::Watermark& last = response.watermarks(4);
  EXPECT_EQ(last.blocked_since().seconds(), last.fire_time().seconds()) << "not before it was due";
}

}  // namespace
}  // namespace tidemark
