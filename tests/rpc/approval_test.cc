// Four eyes: what takes a second person, and who that may be.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/rpc/access_bench.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

class ApprovalTest : public testing::Test {
 protected:
  ApprovalTest()
      : things_(bench_.MakeThings("pay", "ours")),
        ann_(bench_.Token(Role::kOperator, "pay", "ann")),
        bob_(bench_.Token(Role::kOperator, "pay", "bob")) {
    bench_.db().Sql("DELETE FROM approval");
    bench_.db().Sql("DELETE FROM command");
  }
  std::string Commands() { return bench_.db().Sql("SELECT count(*) FROM command"); }
  // Ann asks; returns the id.
  std::string Ask(const std::string& method, const std::string& request) {
    const grpc::Status status = bench_.Call(method, FillIn(request, things_), ann_);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION) << method;
    EXPECT_THAT(status.error_message(), HasSubstr("tidemark approval approve "));
    return bench_.db().Sql("SELECT approval_id FROM approval ORDER BY asked_at DESC LIMIT 1");
  }
  grpc::Status Approve(const std::string& id, const std::string& token) {
    return bench_.Call("AccessService/ApproveOrder", "approval_id: '" + id + "'", token);
  }

  AccessBench bench_{/*require_approval=*/true};
  std::map<std::string, std::string> things_;
  std::string ann_;
  std::string bob_;
};

constexpr char kForce[] = "job: '{job}' biz_date: '2026-01-03' reason: 'the bank was closed'";

TEST_F(ApprovalTest, WhatGivesDatesUpWaitsAndIsCarriedOutInBothNames) {
  const std::vector<std::pair<std::string, std::string>> orders = {
      {"OperatorService/WaiveDates",
       "job: '{job}' from: '2026-01-03' to: '2026-01-04' reason: 'r'"},
      {"OperatorService/ForceDone", kForce},
      {"OperatorService/RerunRun", "run_id: '{ended}' force: true reason: 'r'"},
      {"OperatorService/CreateBackfill",
       "job: '{job}' from: '2026-01-03' to: '2026-01-04' reprocess: 'all' reason: 'r'"},
      {"OperatorService/ResumeJob", "name: '{job}' skip_missed: true"},
      {"OperatorService/ReleaseRun", "run_id: '{live}' force: true reason: 'r'"}};
  for (const auto& [method, request] : orders) {
    bench_.db().Sql("DELETE FROM command");
    if (method == "OperatorService/ResumeJob") {
      bench_.db().Sql("UPDATE job SET paused = true, pause_reason = 'r'");
    }
    const std::string id = Ask(method, request);
    EXPECT_EQ(Commands(), "0") << method << " was given before anybody approved";
    const grpc::Status approved = Approve(id, bob_);
    EXPECT_TRUE(approved.ok()) << method << ": " << approved.error_message();
    EXPECT_EQ(bench_.db().Sql("SELECT actor FROM command"), "ann (approved by bob)") << method;
    EXPECT_EQ(Approve(id, bob_).error_code(), grpc::StatusCode::FAILED_PRECONDITION)
        << "once is enough";
    EXPECT_EQ(Commands(), "1");
  }
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM audit WHERE action = 'approval_ask' AND actor = "
                            "'ann' AND token_id <> ''"),
            "6");
  EXPECT_EQ(
      bench_.db().Sql("SELECT count(*) FROM audit WHERE action = 'approval_approve' AND actor "
                      "= 'bob' AND before = 'WAITING' AND after = 'APPROVED'"),
      "6");
}

TEST_F(ApprovalTest, OtherOrdersWaitForNobody) {
  EXPECT_TRUE(
      bench_.Call("OperatorService/PauseJob", FillIn("name: '{job}' reason: 'r'", things_), ann_)
          .ok());
  EXPECT_TRUE(
      bench_.Call("OperatorService/RerunRun", FillIn("run_id: '{ended}'", things_), ann_).ok());
  EXPECT_TRUE(
      bench_
          .Call("OperatorService/CreateBackfill",
                FillIn("job: '{job}' from: '2026-01-05' to: '2026-01-06' reason: 'r'", things_),
                ann_)
          .ok());
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM approval"), "0");
}

TEST_F(ApprovalTest, AJobThatWasMadeAnewIsAnother) {
  const std::string id = Ask("OperatorService/ForceDone", kForce);
  // What a deletion and a new job of the name come to.
  bench_.db().Sql("UPDATE job SET created_at = created_at + interval '1 hour'");
  const grpc::Status approved = Approve(id, bob_);
  EXPECT_EQ(approved.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(approved.error_message(), HasSubstr("made anew"));
  EXPECT_EQ(Commands(), "0");
}

TEST_F(ApprovalTest, WhoApprovesSeesACascade) {
  Ask("OperatorService/RerunRun", "run_id: '{ended}' force: true cascade: true reason: 'r'");
  std::string approvals;
  ASSERT_TRUE(bench_.Call("AccessService/ListApprovals", "", bob_, &approvals).ok());
  EXPECT_THAT(approvals, HasSubstr("(cascade)"));
}

TEST_F(ApprovalTest, AnEditGivesNoDatesUpOnTheSide) {
  const grpc::Status status = bench_.Call(
      "OperatorService/ApplyJobs",
      FillIn("waive_gap: true jobs {name: '{job}' app: 'recon' handler: 'h' namespace: '{ns}' "
             "schedule {cron: '0 0 1 * * ?' zone: 'Asia/Tokyo'}}",
             things_),
      ann_);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("takes a second operator"));
}

TEST_F(ApprovalTest, TheSamePersonIsRefusedWithWhateverToken) {
  const std::string id = Ask("OperatorService/ForceDone", kForce);
  const std::string again = bench_.Token(Role::kAdmin, "", "ann");
  for (const std::string& token : {ann_, again}) {
    const grpc::Status status = Approve(id, token);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
    EXPECT_THAT(status.error_message(), HasSubstr("somebody else's word"));
  }
  EXPECT_EQ(Commands(), "0");
}

TEST_F(ApprovalTest, NeitherAViewerNorAnotherNamespaceApproves) {
  const std::string id = Ask("OperatorService/ForceDone", kForce);
  EXPECT_EQ(Approve(id, bench_.Token(Role::kViewer, "pay", "eve")).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(Approve(id, bench_.Token(Role::kAdmin, "ops", "eve")).error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Commands(), "0");
}

TEST_F(ApprovalTest, AfterADayItIsOver) {
  const std::string id = Ask("OperatorService/ForceDone", kForce);
  bench_.db().Sql("UPDATE approval SET expires_at = now() - interval '1 second'");
  const grpc::Status status = Approve(id, bob_);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("EXPIRED"));
  EXPECT_EQ(Commands(), "0");
  std::string waiting;
  ASSERT_TRUE(bench_.Call("AccessService/ListApprovals", "", bob_, &waiting).ok());
  EXPECT_EQ(waiting, "");
}

TEST_F(ApprovalTest, RefusedIsRefusedAndWhoAskedMayTakeItBack) {
  const std::string id = Ask("OperatorService/ForceDone", kForce);
  ASSERT_TRUE(bench_
                  .Call("AccessService/RefuseOrder",
                        "approval_id: '" + id.substr(0, 20) + "' reason: 'no'", bob_)
                  .ok());
  EXPECT_EQ(Approve(id, bob_).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  const std::string second = Ask("OperatorService/ForceDone", kForce);
  EXPECT_NE(second, id);
  EXPECT_TRUE(bench_.Call("AccessService/RefuseOrder", "approval_id: '" + second + "'", ann_).ok());
  EXPECT_EQ(Commands(), "0");
}

TEST_F(ApprovalTest, AskingTwiceIsAskingOnceAndNonsenseIsNotAsked) {
  const std::string id = Ask("OperatorService/ForceDone", kForce);
  EXPECT_EQ(Ask("OperatorService/ForceDone", kForce), id);
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM approval"), "1");
  EXPECT_EQ(bench_
                .Call("OperatorService/ForceDone",
                      "job: 'nowhere' biz_date: '2026-01-03' reason: 'r'", ann_)
                .error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM approval"), "1");
}

}  // namespace
}  // namespace tidemark
