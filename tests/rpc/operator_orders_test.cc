// Orders through the operator service, on a real database; the test plays the owner.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/rpc/operator_bench.h"

namespace tidemark {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;
using Stub = v1::OperatorService::Stub;

constexpr char kRun[] = "0190f2a0-0000-7000-8000-000000000001";

class OperatorOrdersTest : public testing::Test {
 protected:
  void SetUp() override {
    recon_ = bench_.Apply(ReconSpec());
    beat_ = bench_.Apply(BeatSpec());
    bench_.AnswerOrders(
        "trigger", {absl::StatusCode::kOk,
                    "{\"run_id\": \"" + std::string(kRun) + "\", \"biz_date\": \"2026-11-28\"}"});
  }
  grpc::Status Trigger(const std::string& job, const std::string& date = "") {
    v1::TriggerJobRequest request;
    request.set_name(job);
    request.set_biz_date(date);
    return bench_.Call(&Stub::TriggerJob, request, &triggered_);
  }
  std::string Args(const std::string& kind) {
    return bench_.db().Sql("SELECT args FROM command WHERE kind = $1", {kind});
  }
  std::string Orders(const std::string& kind) {
    return bench_.db().Sql("SELECT count(*) FROM command WHERE kind = $1", {kind});
  }

  OperatorBench bench_;
  int64_t recon_ = 0;
  int64_t beat_ = 0;
  v1::TriggerJobResponse triggered_;
};

TEST_F(OperatorOrdersTest, TriggerTakesTheLatestDueDate) {
  v1::TriggerJobRequest request;
  request.set_name("recon");
  request.set_reason("try \"it\"\n");
  request.set_actor("ann");
  (*request.mutable_params())["bills"] = "/中";
  const grpc::Status status = bench_.Call(&Stub::TriggerJob, request, &triggered_);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(triggered_.run_id(), kRun);
  EXPECT_EQ(triggered_.biz_date(), "2026-11-28");
  EXPECT_FALSE(triggered_.queued());
  EXPECT_EQ(bench_.db().Rows("SELECT a->>'biz_date', a->>'reason', a->>'params', actor, shard = "
                             "(SELECT shard FROM job WHERE name = 'recon') "
                             "FROM command, LATERAL (SELECT args::json AS a) x "
                             "WHERE kind = 'trigger'"),
            std::vector<std::string>{"2026-11-28|try \"it\"\n|{\"bills\":\"/中\"}|ann|t"});
  EXPECT_EQ(bench_.db().Sql("SELECT actor FROM audit WHERE action = 'trigger'"), "ann");
}

TEST_F(OperatorOrdersTest, TriggerRefusesDatesThatAreNotDue) {
  const auto refused = [&](const std::string& job, const std::string& date, StatusCode code) {
    const grpc::Status status = Trigger(job, date);
    EXPECT_EQ(status.error_code(), code) << date;
    EXPECT_EQ(Orders("trigger"), "0");
    return status.error_message();
  };
  EXPECT_THAT(refused("recon", "2026-11-29", StatusCode::INVALID_ARGUMENT),
              HasSubstr("lies ahead: it is due at 2026-11-30T01:00:00+08:00; the latest due date "
                        "is 2026-11-28"));
  EXPECT_THAT(refused("recon", "2026-11-23", StatusCode::INVALID_ARGUMENT),
              HasSubstr("before the first date of job 'recon', 2026-11-24"));
  EXPECT_THAT(refused("recon", "tomorrow", StatusCode::INVALID_ARGUMENT), HasSubstr("YYYY-MM-DD"));
  EXPECT_THAT(refused("beat", "2026-11-28", StatusCode::INVALID_ARGUMENT),
              HasSubstr("leave --biz-date out"));
  EXPECT_THAT(refused("reconn", "", StatusCode::NOT_FOUND), HasSubstr("did you mean 'recon'?"));
  v1::JobSpec weekly = ReconSpec();
  weekly.set_name("weekly");
  weekly.mutable_schedule()->set_cron("0 0 1 ? * MON");
  bench_.Apply(weekly);
  EXPECT_THAT(refused("weekly", "2026-11-25", StatusCode::INVALID_ARGUMENT),
              HasSubstr("the nearest due dates are 2026-11-22 and 2026-11-29"));
  v1::JobSpec fresh = ReconSpec();
  fresh.set_name("fresh");
  fresh.clear_start_date();
  bench_.Apply(fresh);
  EXPECT_THAT(refused("fresh", "", StatusCode::FAILED_PRECONDITION),
              HasSubstr("no date of job 'fresh' is due yet; the first, 2026-11-29"));
}

TEST_F(OperatorOrdersTest, TriggerRefusesLiveAndDoneDates) {
  const std::string live = bench_.AddLiveRun(recon_, "2026-11-28", "RUNNING");
  grpc::Status status = Trigger("recon");
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("tidemark run cancel " + live));
  bench_.SetWatermark(recon_, "2026-11-27", "DONE", "", kRun);
  status = Trigger("recon", "2026-11-27");
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("tidemark run rerun " + std::string(kRun)));
  EXPECT_EQ(Orders("trigger"), "0");
}

TEST_F(OperatorOrdersTest, TriggerChecksExecutorAndParameters) {
  bench_.AddExecutor("recon-1", "recon", "recon");
  v1::TriggerJobRequest request;
  request.set_name("recon");
  request.set_executor_id("recon-2");
  grpc::Status status = bench_.Call(&Stub::TriggerJob, request, &triggered_);
  EXPECT_EQ(status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("did you mean 'recon-1'?"));
  request.set_executor_id("recon-1");
  (*request.mutable_params())["big"] = std::string(70000, 'x');
  status = bench_.Call(&Stub::TriggerJob, request, &triggered_);
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("at most 65536"));
}

TEST_F(OperatorOrdersTest, O10TheSameRequestIdIsTheSameRun) {
  v1::TriggerJobRequest request;
  request.set_name("beat");
  request.set_request_id("ticket-7");
  ASSERT_TRUE(bench_.Call(&Stub::TriggerJob, request, &triggered_).ok());
  EXPECT_FALSE(triggered_.existing());
  bench_.AnswerOrders("trigger", {absl::StatusCode::kOk, "{\"run_id\": \"other\"}"});
  ASSERT_TRUE(bench_.Call(&Stub::TriggerJob, request, &triggered_).ok());
  EXPECT_TRUE(triggered_.existing());
  EXPECT_EQ(triggered_.run_id(), kRun);
  EXPECT_EQ(Orders("trigger"), "1");
}

TEST_F(OperatorOrdersTest, TheOwnersRefusalIsPassedOn) {
  bench_.AnswerOrders("trigger", {absl::StatusCode::kFailedPrecondition, "it is behind the gap"});
  const grpc::Status status = Trigger("recon");
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "it is behind the gap");
}

TEST_F(OperatorOrdersTest, PauseAndResume) {
  bench_.AnswerOrders("pause", {absl::StatusCode::kOk, "{\"message\": \"paused now\"}"});
  v1::PauseJobRequest pause;
  pause.set_name("recon");
  v1::OrderResponse response;
  grpc::Status status = bench_.Call(&Stub::PauseJob, pause, &response);
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("--reason"));
  pause.set_reason("bills are late");
  ASSERT_TRUE(bench_.Call(&Stub::PauseJob, pause, &response).ok());
  EXPECT_EQ(response.message(), "paused now");
  EXPECT_THAT(Args("pause"), HasSubstr("bills are late"));
  bench_.db().Sql("UPDATE job SET paused = true, pause_reason = 'x', paused_by = 'bob'");
  ASSERT_TRUE(bench_.Call(&Stub::PauseJob, pause, &response).ok());
  EXPECT_THAT(response.message(), HasSubstr("paused already, by bob: x"));
  EXPECT_EQ(Orders("pause"), "1");
  bench_.AnswerOrders("resume", {absl::StatusCode::kOk, "{\"message\": \"goes on\"}"});
  v1::ResumeJobRequest resume;
  resume.set_name("recon");
  resume.set_skip_missed(true);
  ASSERT_TRUE(bench_.Call(&Stub::ResumeJob, resume, &response).ok());
  EXPECT_EQ(response.message(), "goes on");
  EXPECT_THAT(Args("resume"), HasSubstr("\"skip_missed\" : \"true\""));
}

TEST_F(OperatorOrdersTest, CancelOfAnEndedRunIsNoOrder) {
  const std::string ended = bench_.AddEndedRun(recon_, "2026-11-28", "FAILED", "SCHEDULE");
  v1::CancelRunRequest request;
  request.set_run_id(ended);
  v1::CancelRunResponse response;
  ASSERT_TRUE(bench_.Call(&Stub::CancelRun, request, &response).ok());
  EXPECT_TRUE(response.was_terminal());
  EXPECT_EQ(Orders("cancel"), "0");
  const std::string live = bench_.AddLiveRun(recon_, "2026-11-27", "RUNNING");
  bench_.AnswerOrders(
      "cancel", {absl::StatusCode::kOk, "{\"was_terminal\": \"false\", \"confirmed\": \"true\"}"});
  request.set_run_id(live);
  v1::CancelRunResponse second;
  ASSERT_TRUE(bench_.Call(&Stub::CancelRun, request, &second).ok());
  EXPECT_FALSE(second.was_terminal());
  EXPECT_TRUE(second.confirmed());
  request.set_run_id("0190f2a0-0000-7000-8000-00000000dead");
  EXPECT_EQ(bench_.Call(&Stub::CancelRun, request, &second).error_code(), StatusCode::NOT_FOUND);
  request.set_run_id("'; DROP TABLE job; --");
  EXPECT_EQ(bench_.Call(&Stub::CancelRun, request, &second).error_code(),
            StatusCode::INVALID_ARGUMENT);
}

TEST_F(OperatorOrdersTest, RerunOfADoneDateNeedsForce) {
  const std::string run = bench_.AddEndedRun(recon_, "2026-11-28", "COMPLETED", "SCHEDULE");
  bench_.SetWatermark(recon_, "2026-11-28", "DONE", "", run);
  bench_.AnswerOrders("rerun", {absl::StatusCode::kOk, "{\"run_id\": \"" + std::string(kRun) +
                                                           "\", \"biz_date\": \"2026-11-28\"}"});
  v1::RerunRunRequest request;
  request.set_run_id(run);
  grpc::Status status = bench_.Call(&Stub::RerunRun, request, &triggered_);
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("tidemark run rerun " + run + " --force"));
  request.set_force(true);
  ASSERT_TRUE(bench_.Call(&Stub::RerunRun, request, &triggered_).ok());
  EXPECT_EQ(triggered_.run_id(), kRun);
  EXPECT_THAT(Args("rerun"), testing::AllOf(HasSubstr(run), HasSubstr("\"force\" : \"true\""),
                                            HasSubstr("\"kind\" : \"D\""),
                                            HasSubstr("\"biz_date\" : \"2026-11-28\"")));
}

TEST_F(OperatorOrdersTest, RerunNeedsTheJobAndAnEnd) {
  const std::string live = bench_.AddLiveRun(recon_, "2026-11-28", "RUNNING");
  const std::string ended = bench_.AddEndedRun(recon_, "2026-11-27", "FAILED", "SCHEDULE");
  v1::RerunRunRequest request;
  request.set_run_id(live);
  EXPECT_THAT(bench_.Call(&Stub::RerunRun, request, &triggered_).error_message(),
              HasSubstr("is live (RUNNING)"));
  bench_.db().Sql("UPDATE job SET deleted_at = tidemark_now()");
  bench_.Apply(ReconSpec());
  request.set_run_id(ended);
  EXPECT_THAT(bench_.Call(&Stub::RerunRun, request, &triggered_).error_message(),
              HasSubstr("'recon', was deleted"));
}

TEST(OperatorOrders, WithoutAnOwnerTheOrderIsQueued) {
  OperatorBench bench(absl::Milliseconds(150));
  bench.Apply(BeatSpec());
  v1::TriggerJobRequest request;
  request.set_name("beat");
  v1::TriggerJobResponse response;
  ASSERT_TRUE(bench.Call(&Stub::TriggerJob, request, &response).ok());
  EXPECT_TRUE(response.queued());
  EXPECT_EQ(response.run_id(), "");
  EXPECT_EQ(bench.db().Sql("SELECT count(*) FROM command WHERE kind = 'trigger' AND done_at IS "
                           "NULL"),
            "1");
}

}  // namespace
}  // namespace tidemark
