// Orders about dates through the operator service, on a real database; the test plays the owner.
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

class OperatorDatesTest : public testing::Test {
 protected:
  void SetUp() override { bench_.Apply(ReconSpec()); }
  grpc::Status Waive(const std::string& date, const std::string& from, const std::string& to,
                     const std::string& reason) {
    v1::WaiveDatesRequest request;
    request.set_job("recon");
    request.set_biz_date(date);
    request.set_from(from);
    request.set_to(to);
    request.set_reason(reason);
    request.set_actor("ann");
    return bench_.Call(&Stub::WaiveDates, request, &answer_);
  }
  std::vector<std::string> Orders() {
    return bench_.db().Rows(
        "SELECT kind, a->>'date', a->>'from', a->>'to', a->>'reason', actor "
        "FROM command, LATERAL (SELECT args::json AS a) x WHERE kind <> 'job_changed'");
  }

  OperatorBench bench_;
  v1::DatesResponse answer_;
};

TEST_F(OperatorDatesTest, ARangeIsOrderedAndTheAnswerSaysWhatChanged) {
  bench_.AnswerOrders(
      "waive", {absl::StatusCode::kOk, R"({"message": "done", "dates": "2026-11-25,2026-11-26",)"
                                       R"( "skipped": "2026-11-24 DONE,2026-11-27 WAIVED"})"});
  const grpc::Status status = Waive("", "2026-11-24", "2026-11-27", "closed \"today\"");
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_THAT(Orders(), ElementsAre("waive||2026-11-24|2026-11-27|closed \"today\"|ann"));
  EXPECT_FALSE(answer_.queued());
  EXPECT_EQ(answer_.message(), "done");
  EXPECT_THAT(answer_.biz_dates(), ElementsAre("2026-11-25", "2026-11-26"));
  ASSERT_EQ(answer_.skipped_size(), 2);
  EXPECT_EQ(answer_.skipped(0).biz_date(), "2026-11-24");
  EXPECT_EQ(answer_.skipped(1).status(), "WAIVED");
  EXPECT_EQ(bench_.db().Sql("SELECT actor FROM audit WHERE action = 'waive'"), "ann");
}

TEST_F(OperatorDatesTest, WhatTheOwnerRefusesIsRefused) {
  bench_.AnswerOrders("waive", {absl::StatusCode::kFailedPrecondition, "recon is live"});
  const grpc::Status status = Waive("2026-11-26", "", "", "why");
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "recon is live");
}

TEST_F(OperatorDatesTest, BadFormsAreRefusedAndNotRecorded) {
  const auto refused = [&](const grpc::Status& status) {
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
    return status.error_message();
  };
  EXPECT_THAT(refused(Waive("2026-11-26", "", "", "")), HasSubstr("--reason"));
  EXPECT_THAT(refused(Waive("2026-11-26", "", "", std::string(2000, 'x'))), HasSubstr("1024"));
  EXPECT_THAT(refused(Waive("", "", "", "why")), HasSubstr("which dates?"));
  EXPECT_THAT(refused(Waive("", "2026-11-26", "", "why")), HasSubstr("both --from and --to"));
  EXPECT_THAT(refused(Waive("2026-11-26", "2026-11-26", "2026-11-27", "why")),
              HasSubstr("not both"));
  EXPECT_THAT(refused(Waive("soon", "", "", "why")), HasSubstr("YYYY-MM-DD"));
  EXPECT_THAT(refused(Waive("", "2026-11-27", "2026-11-26", "why")), HasSubstr("lies before"));
  EXPECT_THAT(refused(Waive("", "2006-11-27", "2026-11-26", "why")), HasSubstr("3660"));
  EXPECT_TRUE(Orders().empty());
}

TEST_F(OperatorDatesTest, ForceDoneNeedsAReasonUnwaiveDoesNot) {
  bench_.AnswerOrders("force_done", {absl::StatusCode::kOk, R"({"dates": "2026-11-26"})"});
  bench_.AnswerOrders("unwaive", {absl::StatusCode::kOk, R"({"dates": "2026-11-26"})"});
  v1::ForceDoneRequest force;
  force.set_job("recon");
  force.set_biz_date("2026-11-26");
  EXPECT_EQ(bench_.Call(&Stub::ForceDone, force, &answer_).error_code(),
            StatusCode::INVALID_ARGUMENT);
  force.set_reason("by hand");
  EXPECT_TRUE(bench_.Call(&Stub::ForceDone, force, &answer_).ok());
  EXPECT_THAT(answer_.biz_dates(), ElementsAre("2026-11-26"));
  v1::UnwaiveDatesRequest back;
  back.set_job("recon");
  back.set_biz_date("2026-11-26");
  EXPECT_TRUE(bench_.Call(&Stub::UnwaiveDates, back, &answer_).ok());
  back.set_job("recom");
  EXPECT_EQ(bench_.Call(&Stub::UnwaiveDates, back, &answer_).error_code(), StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace tidemark
