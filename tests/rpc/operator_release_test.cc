// Orders about what is out of reach: releasing a run, draining an executor.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/rpc/operator_bench.h"

namespace tidemark {
namespace {

using grpc::StatusCode;
using testing::AllOf;
using testing::HasSubstr;
using Stub = v1::OperatorService::Stub;

class OperatorReleaseTest : public testing::Test {
 protected:
  void SetUp() override {
    recon_ = bench_.Apply(ReconSpec());
    bench_.AddExecutor("recon-1", "recon", "recon");
    for (const char* kind : {"release", "drain_executor"}) {
      bench_.AnswerOrders(kind, {absl::StatusCode::kOk, "{\"message\": \"carried out\"}"});
    }
  }
  grpc::Status Release(const std::string& run_id, bool force, const std::string& reason) {
    v1::ReleaseRunRequest request;
    request.set_run_id(run_id);
    request.set_force(force);
    request.set_reason(reason);
    request.set_actor("ann");
    return bench_.Call(&Stub::ReleaseRun, request, &answer_);
  }
  grpc::Status Drain(const std::string& executor_id, bool undo = false) {
    v1::DrainExecutorRequest request;
    request.set_executor_id(executor_id);
    request.set_undo(undo);
    request.set_reason("new disk");
    request.set_actor("ann");
    return bench_.Call(&Stub::DrainExecutor, request, &answer_);
  }
  std::string Orders() {
    return bench_.db().Sql("SELECT count(*) FROM command WHERE kind <> 'job_changed'");
  }
  v1::Executor Shown() {
    v1::ListExecutorsResponse response;
    EXPECT_TRUE(bench_.Call(&Stub::ListExecutors, v1::ListExecutorsRequest(), &response).ok());
    EXPECT_EQ(response.executors_size(), 1);
    return response.executors_size() == 1 ? response.executors(0) : v1::Executor();
  }

  OperatorBench bench_;
  int64_t recon_ = 0;
  v1::OrderResponse answer_;
};

TEST_F(OperatorReleaseTest, ReleaseNeedsForceAndAReasonAndIsAudited) {
  const std::string run = bench_.AddLiveRun(recon_, "2026-11-28", "RUNNING");
  for (const auto& [force, reason] :
       std::vector<std::pair<bool, std::string>>{{false, "it is dead"}, {true, ""}}) {
    const grpc::Status refused = Release(run, force, reason);
    EXPECT_EQ(refused.error_code(), StatusCode::FAILED_PRECONDITION);
    EXPECT_THAT(refused.error_message(),
                AllOf(HasSubstr("executor 'recon-1'"), HasSubstr("tidemark run cancel " + run),
                      HasSubstr("tidemark run release " + run + " --force --reason")));
  }
  EXPECT_EQ(Orders(), "0");
  ASSERT_TRUE(Release(run, true, "it is dead").ok());
  EXPECT_EQ(answer_.message(), "carried out");
  EXPECT_EQ(bench_.db().Rows("SELECT actor, a->>'run_id', a->>'reason', shard = (SELECT shard FROM "
                             "job WHERE name = 'recon') FROM command, LATERAL (SELECT args::json "
                             "AS a) x WHERE kind = 'release'"),
            std::vector<std::string>{"ann|" + run + "|it is dead|t"});
  EXPECT_THAT(bench_.db().Sql("SELECT actor || detail FROM audit WHERE action = 'release'"),
              AllOf(HasSubstr("ann"), HasSubstr("it is dead"), HasSubstr(run)));
}

TEST_F(OperatorReleaseTest, ThereMustBeSomethingToRelease) {
  const std::string ended = bench_.AddEndedRun(recon_, "2026-11-27", "FAILED", "SCHEDULE");
  grpc::Status status = Release(ended, true, "it is dead");
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("tidemark run rerun " + ended));
  const std::string waiting = bench_.AddLiveRun(recon_, "2026-11-28", "PENDING");
  bench_.db().Sql("UPDATE active_run SET executor_id = ''");
  status = Release(waiting, true, "it is dead");
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("in no executor's hands"));
  EXPECT_EQ(Release("0190f2a0-0000-7000-8000-00000000dead", true, "x").error_code(),
            StatusCode::NOT_FOUND);
  EXPECT_EQ(Release("nonsense", true, "x").error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Orders(), "0");
}

TEST_F(OperatorReleaseTest, DrainIsAnOrderOfNoJobAndIsAudited) {
  ASSERT_TRUE(Drain("recon-1").ok());
  EXPECT_EQ(answer_.message(), "carried out");
  EXPECT_EQ(bench_.db().Rows("SELECT job_id, shard BETWEEN 0 AND 127, a->>'executor_id', "
                             "a->>'undo' FROM command, LATERAL (SELECT args::json AS a) x WHERE "
                             "kind = 'drain_executor'"),
            std::vector<std::string>{"0|t|recon-1|false"});
  EXPECT_THAT(bench_.db().Sql("SELECT actor || detail FROM audit WHERE action = 'drain_executor'"),
              AllOf(HasSubstr("ann"), HasSubstr("new disk"), HasSubstr("recon-1")));
}

TEST_F(OperatorReleaseTest, DrainOfAnUnknownIdNamesTheNearest) {
  const grpc::Status status = Drain("recon-2");
  EXPECT_EQ(status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("did you mean 'recon-1'?"));
  EXPECT_EQ(Orders(), "0");
}

TEST_F(OperatorReleaseTest, DrainingTwiceIsNoOrder) {
  ASSERT_TRUE(Drain("recon-1", /*undo=*/true).ok());
  EXPECT_THAT(answer_.message(), HasSubstr("is not drained"));
  bench_.db().Sql("UPDATE executor SET drained = true");
  ASSERT_TRUE(Drain("recon-1").ok());
  EXPECT_THAT(answer_.message(), HasSubstr("drained already"));
  EXPECT_EQ(Orders(), "0");
}

TEST_F(OperatorReleaseTest, TheListSaysWhatADrainedExecutorStillHas) {
  EXPECT_EQ(Shown().state(), "UP");
  bench_.AddLiveRun(recon_, "2026-11-28", "RUNNING");
  bench_.db().Sql("UPDATE executor SET drained = true");
  EXPECT_EQ(Shown().state(), "DRAINING");
  EXPECT_TRUE(Shown().drained());
  bench_.db().Sql("DELETE FROM active_run");
  EXPECT_EQ(Shown().state(), "DRAINED");
  bench_.db().Sql("UPDATE executor SET state = 'GONE'");
  EXPECT_EQ(Shown().state(), "GONE")
      << "listed all the same: it will be drained when it comes back";
}

TEST_F(OperatorReleaseTest, ATriggerForADrainedExecutorIsRefused) {
  bench_.db().Sql("UPDATE executor SET drained = true");
  v1::TriggerJobRequest request;
  request.set_name("recon");
  request.set_executor_id("recon-1");
  v1::TriggerJobResponse response;
  const grpc::Status status = bench_.Call(&Stub::TriggerJob, request, &response);
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("executor drain 'recon-1' --undo"));
}

}  // namespace
}  // namespace tidemark
