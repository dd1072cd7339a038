// Dependencies through the operator service: at apply, in listings, at delete.
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/rpc/operator_bench.h"

namespace tidemark {
namespace {

using grpc::StatusCode;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Stub = v1::OperatorService::Stub;

v1::JobSpec After(const std::string& name, const std::vector<std::string>& upstream) {
  v1::JobSpec spec = ReconSpec();
  spec.set_name(name);
  for (const std::string& job : upstream) spec.add_after()->set_job(job);
  return spec;
}

class OperatorDependenciesTest : public testing::Test {
 protected:
  grpc::Status Apply(const std::vector<v1::JobSpec>& specs) {
    v1::ApplyJobsRequest request;
    *request.mutable_jobs() = {specs.begin(), specs.end()};
    v1::ApplyJobsResponse response;
    return bench_.Call(&Stub::ApplyJobs, request, &response);
  }
  std::string Refusal(const std::vector<v1::JobSpec>& specs) {
    const grpc::Status status = Apply(specs);
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT) << status.error_message();
    return status.error_message();
  }
  std::vector<std::string> Rows() {
    return bench_.db().Rows(
        "SELECT j.name, a.upstream, a.date_offset FROM job_after a JOIN job j USING (job_id) "
        "ORDER BY 1, 2, 3");
  }
  std::vector<std::string> Ledger(const std::string& job) {
    v1::ListWatermarksRequest request;
    request.set_job(job);
    v1::ListWatermarksResponse response;
    EXPECT_TRUE(bench_.Call(&Stub::ListWatermarks, request, &response).ok());
    std::vector<std::string> lines;
    for (const v1::Watermark& w : response.watermarks()) {
      lines.push_back(w.biz_date().substr(8) + " " + w.status() +
                      (w.blocked_by().empty() ? "" : " " + w.blocked_by()));
    }
    return lines;
  }

  OperatorBench bench_;
};

TEST_F(OperatorDependenciesTest, WhatADefinitionWaitsForIsKeptBesideIt) {
  v1::JobSpec report = After("report", {"settlement"});
  report.add_after()->set_job("recon");
  report.mutable_after(1)->set_offset(-1);
  const grpc::Status applied = Apply({report, After("settlement", {"recon"}), ReconSpec()});
  ASSERT_TRUE(applied.ok()) << applied.error_message();
  EXPECT_THAT(Rows(), ElementsAre("report|recon|-1", "report|settlement|0", "settlement|recon|0"));
  ASSERT_TRUE(Apply({After("report", {"settlement"})}).ok());
  EXPECT_THAT(Rows(), ElementsAre("report|settlement|0", "settlement|recon|0"));
}

TEST_F(OperatorDependenciesTest, UnknownJobsCirclesAndJobsWithoutDatesAreRefused) {
  ASSERT_TRUE(Apply({ReconSpec(), BeatSpec(), After("settlement", {"recon"})}).ok());
  EXPECT_THAT(Refusal({After("report", {"setlement"})}), HasSubstr("did you mean 'settlement'?"));
  EXPECT_THAT(Refusal({After("recon", {"settlement"})}), HasSubstr("recon → settlement → recon"));
  EXPECT_THAT(Refusal({After("recon", {"recon"})}), HasSubstr("cannot wait for itself"));
  EXPECT_THAT(Refusal({After("report", {"beat"})}), HasSubstr("has no dates to wait for"));
  v1::JobSpec by_fire = BeatSpec();
  by_fire.set_name("recon");
  EXPECT_THAT(Refusal({by_fire}), HasSubstr("'settlement' waits for its dates"));
}

// Two edits that would each be right alone must not close a circle together.
TEST_F(OperatorDependenciesTest, TwoAppliesAtOnceCloseNoCircle) {
  for (int round = 0; round < 20; ++round) {
    const std::string n = std::to_string(round);
    v1::JobSpec a = After("a" + n, {});
    v1::JobSpec b = After("b" + n, {});
    ASSERT_TRUE(Apply({a, b}).ok());
    a.add_after()->set_job("b" + n);
    b.add_after()->set_job("a" + n);
    grpc::Status first;
    std::thread other([&] { first = Apply({a}); });
    const grpc::Status second = Apply({b});
    other.join();
    EXPECT_NE(first.ok(), second.ok()) << first.error_message() << second.error_message();
    const grpc::Status& refused = first.ok() ? second : first;
    EXPECT_THAT(refused.error_message(), AnyOf(HasSubstr("in a circle"), HasSubstr("try again")));
  }
}

TEST_F(OperatorDependenciesTest, TheLedgerSaysWhichDateOfWhichJobADateWaitsFor) {
  const int64_t recon = bench_.Apply(ReconSpec());
  v1::JobSpec spec = After("settlement", {"recon"});
  spec.mutable_catch_up()->set_order("independent");
  const int64_t settlement = bench_.Apply(spec);
  bench_.SetWatermark(recon, "2026-11-24", "DONE");
  bench_.SetWatermark(recon, "2026-11-25", "WAIVED");
  bench_.SetWatermark(recon, "2026-11-26", "FAILED");
  bench_.SetWatermark(settlement, "2026-11-24", "DONE");
  EXPECT_THAT(Ledger("settlement"),
              ElementsAre("24 DONE", "25 MISSING", "26 BLOCKED recon@2026-11-26",
                          "27 BLOCKED recon@2026-11-27", "28 BLOCKED recon@2026-11-28"));
  spec.mutable_catch_up()->set_order("strict");
  bench_.SetWatermark(settlement, "2026-11-25", "DONE");
  ASSERT_TRUE(Apply({spec}).ok());
  EXPECT_THAT(Ledger("settlement"), ElementsAre("24 DONE", "25 DONE", "26 BLOCKED recon@2026-11-26",
                                                "27 BLOCKED 2026-11-26", "28 BLOCKED 2026-11-26"));
}

TEST_F(OperatorDependenciesTest, GetDrawsTheWholeChainUpstreamFirst) {
  const int64_t recon = bench_.Apply(ReconSpec());
  ASSERT_TRUE(Apply({After("settlement", {"recon"}), After("zreport", {"settlement", "fx"}),
                     After("fx", {}), After("other", {"fx"})})
                  .ok());
  bench_.SetWatermark(recon, "2026-11-24", "DONE");
  v1::GetJobRequest request;
  request.set_name("settlement");
  v1::Job job;
  ASSERT_TRUE(bench_.Call(&Stub::GetJob, request, &job).ok());
  std::vector<std::string> names;
  for (const v1::ChainLink& link : job.chain()) names.push_back(link.job());
  EXPECT_THAT(names, ElementsAre("fx", "recon", "settlement", "zreport"));
  EXPECT_EQ(job.chain(1).high_watermark(), "2026-11-24");
  EXPECT_EQ(job.chain(3).after_size(), 2);
  request.set_name("beat");
  bench_.Apply(BeatSpec());
  ASSERT_TRUE(bench_.Call(&Stub::GetJob, request, &job).ok());
  EXPECT_THAT(job.chain(), IsEmpty()) << "a job that stands alone";
}

TEST_F(OperatorDependenciesTest, AnUpstreamIsNotDeletedBeforeWhatWaitsForIt) {
  ASSERT_TRUE(Apply({ReconSpec(), After("settlement", {"recon"})}).ok());
  v1::DeleteJobRequest request;
  request.set_name("recon");
  v1::OrderResponse response;
  const grpc::Status status = bench_.Call(&Stub::DeleteJob, request, &response);
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("waited for by settlement"));
}

TEST_F(OperatorDependenciesTest, ARerunWithCascadeNeedsForceAndTellsWhatFollows) {
  const int64_t recon = bench_.Apply(ReconSpec());
  const std::string run = bench_.AddEndedRun(recon, "2026-11-26", "COMPLETED", "SCHEDULE");
  bench_.SetWatermark(recon, "2026-11-26", "DONE", "", run);
  bench_.AnswerOrders(
      "rerun", {absl::StatusCode::kOk, R"({"run_id": "r", "biz_date": "2026-11-26",)"
                                       R"( "later": "2026-11-27,2026-11-28", "dependents": "x"})"});
  v1::RerunRunRequest request;
  request.set_run_id(run);
  request.set_cascade(true);
  v1::TriggerJobResponse response;
  const grpc::Status refused = bench_.Call(&Stub::RerunRun, request, &response);
  EXPECT_EQ(refused.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(refused.error_message(), HasSubstr("--force"));
  request.set_force(true);
  ASSERT_TRUE(bench_.Call(&Stub::RerunRun, request, &response).ok());
  EXPECT_THAT(response.later_dates(), ElementsAre("2026-11-27", "2026-11-28"));
  EXPECT_THAT(response.dependents(), ElementsAre("x"));
  EXPECT_EQ(bench_.db().Sql("SELECT args::json->>'cascade' FROM command WHERE kind = 'rerun'"),
            "true");
}

}  // namespace
}  // namespace tidemark
