// Edits of schedules through the operator service: what becomes of dates, and what is refused.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/rpc/operator_bench.h"

namespace tidemark {
namespace {

using grpc::StatusCode;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Stub = v1::OperatorService::Stub;

// The bench's now is 20:00 on 29 November in Shanghai: recon has run the 28th at 01:00.
class OperatorEditsTest : public testing::Test {
 protected:
  grpc::Status Apply(const v1::JobSpec& spec, v1::ApplyJobsResponse* response, bool waive = false,
                     bool fill = false, bool dry_run = false) {
    v1::ApplyJobsRequest request;
    *request.add_jobs() = spec;
    request.set_actor("ann");
    request.set_waive_gap(waive);
    request.set_fill_gap(fill);
    request.set_dry_run(dry_run);
    return bench_.Call(&Stub::ApplyJobs, request, response);
  }
  std::string Refusal(const v1::JobSpec& spec, StatusCode code) {
    v1::ApplyJobsResponse response;
    const grpc::Status status = Apply(spec, &response);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    return status.error_message();
  }
  // Offset 0: the 29th's own run was at 01:00 today, under the old offset tonight's was its run.
  static v1::JobSpec SameDay() {
    v1::JobSpec spec = ReconSpec();
    spec.mutable_biz_date()->set_offset(0);
    return spec;
  }
  std::string Next() {
    v1::NextFiresRequest request;
    request.set_name("recon");
    request.set_count(3);
    v1::NextFiresResponse response;
    EXPECT_TRUE(bench_.Call(&Stub::NextFires, request, &response).ok());
    std::string text;
    for (const v1::Fire& fire : response.fires()) text += fire.at() + "=" + fire.biz_date() + " ";
    return text;
  }

  OperatorBench bench_;
};

TEST_F(OperatorEditsTest, ALostDateIsRefusedNamed) {
  bench_.Apply(ReconSpec());
  EXPECT_THAT(Refusal(SameDay(), StatusCode::FAILED_PRECONDITION),
              AllOf(HasSubstr("job 'recon'"), HasSubstr("lose the date 2026-11-29"),
                    HasSubstr("--fill-gap"), HasSubstr("--waive-gap")));
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM job_version"), "1");
  v1::ApplyJobsResponse response;
  EXPECT_EQ(Apply(SameDay(), &response, true, true).error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(OperatorEditsTest, WaivedItIsWaivedWithTheEdit) {
  const int64_t job = bench_.Apply(ReconSpec());
  v1::ApplyJobsResponse response;
  ASSERT_TRUE(Apply(SameDay(), &response, /*waive=*/true, false, /*dry_run=*/true).ok());
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM job_watermark"), "0");
  ASSERT_TRUE(Apply(SameDay(), &response, /*waive=*/true).ok());
  EXPECT_THAT(response.jobs(0).waived_dates(), ElementsAre("2026-11-29"));
  EXPECT_EQ(bench_.db().Rows("SELECT biz_date, status, actor, job_id = " + std::to_string(job) +
                             ", note LIKE '%version 2%' FROM job_watermark"),
            std::vector<std::string>{"2026-11-29|WAIVED|ann|t|t"});
}

TEST_F(OperatorEditsTest, FilledItRunsAtItsOldTime) {
  bench_.Apply(ReconSpec());
  v1::ApplyJobsResponse response;
  ASSERT_TRUE(Apply(SameDay(), &response, false, /*fill=*/true).ok());
  EXPECT_THAT(response.jobs(0).filled_dates(), ElementsAre("2026-11-29"));
  EXPECT_THAT(response.jobs(0).waived_dates(), IsEmpty());
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM job_watermark"), "0");
  // Tonight's instant runs both: the 29th at its old time, the 30th at its new one.
  EXPECT_THAT(Next(), HasSubstr("2026-11-30T01:00:00+08:00=2026-11-29 "));
}

TEST_F(OperatorEditsTest, ARepeatedDateRunsOnce) {
  bench_.Apply(SameDay());  // the 29th was due today
  v1::JobSpec later = ReconSpec();
  later.mutable_biz_date()->set_offset(-2);
  EXPECT_THAT(Refusal(later, StatusCode::FAILED_PRECONDITION),
              HasSubstr("make due a second time 2026-11-28, 2026-11-29"));
  v1::ApplyJobsResponse response;
  ASSERT_TRUE(Apply(later, &response, false, /*fill=*/true).ok());
  EXPECT_THAT(response.jobs(0).kept_dates(), ElementsAre("2026-11-28", "2026-11-29"));
  EXPECT_THAT(Next(), HasSubstr("2026-12-02T01:00:00+08:00=2026-11-30 "));
}

TEST_F(OperatorEditsTest, AnotherTimeOfDayLosesNothing) {
  bench_.SetWatermark(bench_.Apply(ReconSpec()), "2026-11-28", "DONE");
  v1::JobSpec evening = ReconSpec();
  evening.mutable_schedule()->set_cron("0 0 22 * * ?");
  v1::ApplyJobsResponse response;
  ASSERT_TRUE(Apply(evening, &response).ok());
  EXPECT_THAT(response.jobs(0).warnings(), testing::Contains(HasSubstr("does not run again")));
  // Today's date was due at 01:00 and is due again now, at the time that is ahead (T8).
  EXPECT_THAT(Next(), HasSubstr("2026-11-29T22:00:00+08:00=2026-11-28 "));
}

TEST_F(OperatorEditsTest, DatesOfAJobThatIsNoLongerTrackedByDateAreNotForgotten) {
  const int64_t job = bench_.Apply(ReconSpec());
  for (const char* date : {"2026-11-24", "2026-11-25", "2026-11-27", "2026-11-28"}) {
    bench_.SetWatermark(job, date, "DONE");
  }
  v1::JobSpec hourly = ReconSpec();
  hourly.clear_start_date();
  hourly.mutable_schedule()->set_cron("0 0 * * * ?");
  EXPECT_THAT(Refusal(hourly, StatusCode::FAILED_PRECONDITION),
              AllOf(HasSubstr("would be forgotten: 2026-11-26"), HasSubstr("--waive-gap")));
  v1::ApplyJobsResponse response;
  ASSERT_TRUE(Apply(hourly, &response, /*waive=*/true).ok());
  EXPECT_EQ(bench_.db().Sql("SELECT status FROM job_watermark WHERE biz_date = '2026-11-26'"),
            "WAIVED");
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM job_watermark WHERE status = 'DONE'"), "4");
}

TEST_F(OperatorEditsTest, WhatCanNeverBeDueIsRefused) {
  v1::JobSpec at = BeatSpec();
  at.mutable_schedule()->Clear();
  at.mutable_schedule()->mutable_at()->set_seconds(1795000000);
  EXPECT_THAT(Refusal(at, StatusCode::INVALID_ARGUMENT), HasSubstr("has passed"));
  v1::JobSpec over = BeatSpec();
  over.mutable_schedule()->mutable_end_at()->set_seconds(1795000000);
  EXPECT_THAT(Refusal(over, StatusCode::INVALID_ARGUMENT), HasSubstr("end_at "));
  v1::JobSpec year = ReconSpec();
  year.clear_start_date();
  year.mutable_schedule()->set_cron("0 0 1 * * ? 2025");
  EXPECT_THAT(Refusal(year, StatusCode::INVALID_ARGUMENT), HasSubstr("never due from now on"));
  year.set_start_date("2025-12-01");  // past dates are due: a job that only catches up
  v1::ApplyJobsResponse response;
  EXPECT_TRUE(Apply(year, &response).ok());
  v1::JobSpec manual = BeatSpec();
  manual.mutable_schedule()->Clear();
  manual.mutable_schedule()->set_manual(true);
  EXPECT_TRUE(Apply(manual, &response).ok());
}

TEST_F(OperatorEditsTest, AOneShotIsShownFinishedAndItsFileStaysGood) {
  v1::JobSpec at = BeatSpec();
  at.mutable_schedule()->Clear();
  at.mutable_schedule()->mutable_at()->set_seconds(1795960800);  // 2026-11-29T14:00:00Z
  bench_.Apply(at);
  v1::NextFiresRequest next;
  next.set_name("beat");
  v1::NextFiresResponse fires;
  ASSERT_TRUE(bench_.Call(&Stub::NextFires, next, &fires).ok());
  ASSERT_EQ(fires.fires_size(), 1);
  EXPECT_EQ(fires.fires(0).at(), "2026-11-29T14:00:00Z");
  // As the owner leaves it after the fire, an hour later.
  bench_.db().Sql("UPDATE job SET finished = true");
  bench_.db().Sql(
      "CREATE OR REPLACE FUNCTION tidemark_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS "
      "$$ SELECT '2026-11-29T15:00:00Z'::timestamptz $$");
  v1::GetJobRequest get;
  get.set_name("beat");
  v1::Job job;
  ASSERT_TRUE(bench_.Call(&Stub::GetJob, get, &job).ok());
  EXPECT_TRUE(job.finished());
  EXPECT_FALSE(job.has_next_fire());
  v1::ApplyJobsResponse response;
  ASSERT_TRUE(Apply(at, &response).ok());
  EXPECT_EQ(response.jobs(0).outcome(), v1::AppliedJob::UNCHANGED);
  at.set_description("done");
  EXPECT_TRUE(Apply(at, &response).ok()) << "its time is not what changes";
}

TEST_F(OperatorEditsTest, AnEditIsValidFromTheInstantAtWhichItWasJudged) {
  bench_.Apply(ReconSpec());
  bench_.db().Sql(
      "CREATE OR REPLACE FUNCTION tidemark_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS "
      "$$ SELECT '2026-11-29T11:00:00Z'::timestamptz $$");  // the clock went back an hour
  v1::JobSpec changed = ReconSpec();
  changed.mutable_schedule()->set_cron("0 0 2 * * ?");
  v1::ApplyJobsResponse response;
  ASSERT_TRUE(Apply(changed, &response).ok());
  EXPECT_EQ(bench_.db().Sql("SELECT (SELECT valid_from FROM job_version WHERE version = 2) > "
                            "(SELECT valid_from FROM job_version WHERE version = 1)"),
            "t");
}

}  // namespace
}  // namespace tidemark
