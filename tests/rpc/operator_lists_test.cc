// Listings through the operator service, on a real database.
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
using Stub = v1::OperatorService::Stub;

class OperatorListsTest : public testing::Test {
 protected:
  void SetUp() override { recon_ = bench_.Apply(ReconSpec()); }

  std::vector<std::string> Ledger(const v1::ListWatermarksRequest& request) {
    watermarks_.Clear();
    const grpc::Status status = bench_.Call(&Stub::ListWatermarks, request, &watermarks_);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::vector<std::string> lines;
    for (const v1::Watermark& w : watermarks_.watermarks()) {
      lines.push_back(w.biz_date() + " " + w.status() +
                      (w.blocked_by().empty() ? "" : " " + w.blocked_by()));
    }
    return lines;
  }
  std::vector<std::string> Runs(const v1::ListRunsRequest& request) {
    runs_.Clear();
    const grpc::Status status = bench_.Call(&Stub::ListRuns, request, &runs_);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::vector<std::string> ids;
    for (const v1::Run& run : runs_.runs()) ids.push_back(run.run_id());
    return ids;
  }

  OperatorBench bench_;
  int64_t recon_ = 0;
  v1::ListWatermarksResponse watermarks_;
  v1::ListRunsResponse runs_;
};

TEST_F(OperatorListsTest, TheLedgerHasEveryDueDate) {
  bench_.SetWatermark(recon_, "2026-11-24", "DONE", "", "0190f2a0-0000-7000-8000-000000000001");
  bench_.SetWatermark(recon_, "2026-11-25", "FAILED", "retries");
  bench_.SetWatermark(recon_, "2026-11-26", "WAIVED");
  v1::ListWatermarksRequest request;
  request.set_job("recon");
  EXPECT_THAT(Ledger(request),
              ElementsAre("2026-11-24 DONE", "2026-11-25 FAILED", "2026-11-26 WAIVED",
                          "2026-11-27 BLOCKED 2026-11-25", "2026-11-28 BLOCKED 2026-11-25"));
  EXPECT_EQ(watermarks_.high_watermark(), "2026-11-24");
  EXPECT_EQ(watermarks_.watermarks(0).result_rows(), 42);
  EXPECT_EQ(watermarks_.watermarks(0).result_digest(), "abc");
  EXPECT_EQ(watermarks_.watermarks(0).run_id(), "0190f2a0-0000-7000-8000-000000000001");
  EXPECT_EQ(watermarks_.watermarks(1).note(), "retries");

  request.set_from("2026-11-25");
  request.set_to("2026-11-27");
  request.set_limit(2);
  EXPECT_THAT(Ledger(request), ElementsAre("2026-11-26 WAIVED", "2026-11-27 BLOCKED 2026-11-25"));
}

TEST_F(OperatorListsTest, ALiveRunShowsItsId) {
  const std::string run = bench_.AddLiveRun(recon_, "2026-11-24", "PENDING");
  bench_.SetWatermark(recon_, "2026-11-24", "RUNNING", "", run);
  v1::ListWatermarksRequest request;
  request.set_job("recon");
  EXPECT_EQ(Ledger(request)[0], "2026-11-24 RUNNING");
  EXPECT_EQ(watermarks_.watermarks(0).run_id(), run);
}

TEST_F(OperatorListsTest, PausedDatesSayByWhom) {
  bench_.db().Sql("UPDATE job SET paused = true, pause_reason = 'late bills', paused_by = 'bob'");
  v1::ListWatermarksRequest request;
  request.set_job("recon");
  EXPECT_EQ(Ledger(request)[0], "2026-11-24 PAUSED");
  EXPECT_EQ(watermarks_.watermarks(0).note(), "paused by bob: late bills");
}

TEST_F(OperatorListsTest, IntervalJobsHaveNoWatermarks) {
  bench_.Apply(BeatSpec());
  v1::ListWatermarksRequest request;
  request.set_job("beat");
  const grpc::Status status = bench_.Call(&Stub::ListWatermarks, request, &watermarks_);
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("tidemark run list --job 'beat'"));
  request.set_job("recon");
  request.set_from("2026-13-01");
  EXPECT_EQ(bench_.Call(&Stub::ListWatermarks, request, &watermarks_).error_code(),
            StatusCode::INVALID_ARGUMENT);
}

TEST_F(OperatorListsTest, RunsNewestFirstInPagesAndByFilter) {
  std::vector<std::string> made = {
      bench_.AddEndedRun(recon_, "2026-11-24", "COMPLETED", "CATCH_UP"),
      bench_.AddEndedRun(recon_, "2026-11-25", "FAILED", "SCHEDULE"),
      bench_.AddEndedRun(recon_, "2026-11-25", "COMPLETED", "SCHEDULE"),
      bench_.AddLiveRun(recon_, "2026-11-26", "RUNNING")};
  // Ids of one millisecond are in no order: what counts is the order of ids.
  std::sort(made.rbegin(), made.rend());
  v1::ListRunsRequest request;
  request.set_job("recon");
  request.set_limit(3);
  std::vector<std::string> seen = Runs(request);
  EXPECT_TRUE(runs_.more());
  request.set_before(seen.back());
  for (const std::string& id : Runs(request)) seen.push_back(id);
  EXPECT_FALSE(runs_.more());
  EXPECT_EQ(seen, made);

  v1::ListRunsRequest by_status;
  by_status.add_statuses(v1::COMPENSATED);
  ASSERT_EQ(Runs(by_status).size(), 1u);
  EXPECT_EQ(runs_.runs(0).biz_date(), "2026-11-24");
  EXPECT_EQ(runs_.runs(0).status(), v1::COMPENSATED);
  by_status.set_statuses(0, v1::COMPLETED);
  ASSERT_EQ(Runs(by_status).size(), 1u);
  EXPECT_EQ(runs_.runs(0).biz_date(), "2026-11-25");
  by_status.set_statuses(0, v1::RUNNING);
  ASSERT_EQ(Runs(by_status).size(), 1u);
  EXPECT_EQ(runs_.runs(0).executor_id(), "recon-1");
  v1::ListRunsRequest by_date;
  by_date.set_job("recon");
  by_date.set_biz_date("2026-11-25");
  EXPECT_EQ(Runs(by_date).size(), 2u);
  by_date.set_job("recom");
  EXPECT_EQ(bench_.Call(&Stub::ListRuns, by_date, &runs_).error_code(), StatusCode::NOT_FOUND);
}

TEST_F(OperatorListsTest, RunWithItsAttempts) {
  const std::string run_id = bench_.AddLiveRun(recon_, "2026-11-28", "RUNNING");
  bench_.db().Sql("UPDATE active_run SET attempt = 2, params = '{\"a\": \"1\"}'");
  bench_.db().Sql(
      "INSERT INTO run_attempt VALUES (tidemark_now(), $1, 1, $2, 'recon-0', 1, 'h', NULL, NULL, "
      "tidemark_now(), 'LOST', 'gone')",
      {run_id, ToParam(recon_)});
  v1::GetRunRequest request;
  request.set_run_id(run_id);
  v1::Run run;
  ASSERT_TRUE(bench_.Call(&Stub::GetRun, request, &run).ok());
  EXPECT_EQ(run.nominal_time(), "2026-11-29T01:00:00");
  EXPECT_EQ(run.params().at("a"), "1");
  ASSERT_EQ(run.attempts_size(), 2);
  EXPECT_EQ(run.attempts(0).outcome(), "LOST");
  EXPECT_EQ(run.attempts(1).executor_id(), "recon-1");
  EXPECT_FALSE(run.attempts(1).has_ended_at());

  request.set_run_id(bench_.AddEndedRun(recon_, "2026-11-27", "FAILED", "MANUAL"));
  v1::Run ended;
  ASSERT_TRUE(bench_.Call(&Stub::GetRun, request, &ended).ok());
  EXPECT_EQ(ended.reason(), "retries");
  EXPECT_EQ(ended.requested_by(), "ann");
  EXPECT_EQ(ended.requested_reason(), "asked");
  EXPECT_EQ(ended.result_rows(), 7);
  EXPECT_EQ(ended.epoch().number(), 5u);
}

TEST_F(OperatorListsTest, ExecutorsWithTheirLoad) {
  bench_.AddExecutor("recon-1", "recon", "recon");
  bench_.AddExecutor("ops-1", "ops", "beat");
  bench_.db().Sql("UPDATE executor SET state = 'GONE' WHERE executor_id = 'ops-1'");
  bench_.AddLiveRun(recon_, "2026-11-28", "RUNNING");
  v1::ListExecutorsRequest request;
  v1::ListExecutorsResponse response;
  ASSERT_TRUE(bench_.Call(&Stub::ListExecutors, request, &response).ok());
  ASSERT_EQ(response.executors_size(), 1);
  EXPECT_EQ(response.executors(0).running(), 1u);
  EXPECT_THAT(response.executors(0).handlers(), ElementsAre("recon"));
  EXPECT_EQ(response.executors(0).labels().at("zone"), "a");
  request.set_all(true);
  ASSERT_TRUE(bench_.Call(&Stub::ListExecutors, request, &response).ok());
  EXPECT_EQ(response.executors_size(), 2);
}

TEST_F(OperatorListsTest, AlertsOpenOnesUnlessAsked) {
  for (const char* key : {"a", "b"}) {
    bench_.db().Sql(
        "INSERT INTO alert (alert_id, dedup_key, kind, severity, job_name, biz_date, summary, "
        "detail, raised_at) VALUES (gen_random_uuid(), $1, 'run_failed', 'critical', 'recon', "
        "'2026-11-28', 'it failed', 'do this', tidemark_now())",
        {key});
  }
  bench_.db().Sql("UPDATE alert SET resolved_at = tidemark_now() WHERE dedup_key = 'a'");
  v1::ListAlertsRequest request;
  v1::ListAlertsResponse response;
  ASSERT_TRUE(bench_.Call(&Stub::ListAlerts, request, &response).ok());
  ASSERT_EQ(response.alerts_size(), 1);
  EXPECT_EQ(response.alerts(0).biz_date(), "2026-11-28");
  request.set_all(true);
  ASSERT_TRUE(bench_.Call(&Stub::ListAlerts, request, &response).ok());
  EXPECT_EQ(response.alerts_size(), 2);
}

// A database whose connections are cut between two requests costs nobody an error; one that is
// away is said to be.
TEST_F(OperatorListsTest, BrokenConnectionsAreReplaced) {
  v1::ListJobsResponse response;
  ASSERT_TRUE(bench_.Call(&Stub::ListJobs, v1::ListJobsRequest(), &response).ok());
  bench_.db().Sql(
      "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
      "WHERE datname = current_database() AND pid <> pg_backend_pid()");
  EXPECT_TRUE(bench_.Call(&Stub::ListJobs, v1::ListJobsRequest(), &response).ok());
}

TEST(OperatorWithoutDatabase, SaysSo) {
  DatabaseOptions options;
  options.url = "host=127.0.0.1 port=1 dbname=nowhere";
  OperatorStore store(options, SystemClock(), SystemRandom());
  const absl::StatusOr<absl::Time> now = store.Now();
  EXPECT_TRUE(absl::IsUnavailable(now.status()));
  EXPECT_THAT(std::string(now.status().message()), HasSubstr("nothing was changed"));
}

}  // namespace
}  // namespace tidemark
