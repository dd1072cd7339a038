// job verify over rows of a real database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/time_text.h"
#include "tests/rpc/operator_bench.h"

namespace tidemark {
namespace {

using Stub = v1::OperatorService::Stub;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OperatorVerifyTest : public testing::Test {
 protected:
  v1::VerifyJobsResponse Verify(const std::string& job, const std::string& from = "",
                                const std::string& to = "") {
    v1::VerifyJobsRequest request;
    request.set_job(job);
    request.set_from(from);
    request.set_to(to);
    v1::VerifyJobsResponse response;
    const grpc::Status status = bench_.Call(&Stub::VerifyJobs, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  std::vector<std::string> Found(const std::string& job, const std::string& from = "",
                                 const std::string& to = "") {
    std::vector<std::string> found;
    const v1::VerifyJobsResponse response = Verify(job, from, to);
    for (const v1::VerifyFinding& finding : response.findings()) {
      found.push_back(finding.kind() + " " + finding.biz_date());
    }
    return found;
  }

  // A run of that date as the engine would have left it: at its time, of five minutes.
  std::string Ran(int64_t job, const std::string& date, const std::string& status = "COMPLETED",
                  const std::string& trigger = "SCHEDULE") {
    const std::string id = bench_.AddEndedRun(job, date, status, trigger);
    bench_.db().Sql(
        "UPDATE run_history SET fire_time = f, created_at = f, started_at = f, "
        "ended_at = f + interval '5 min', job_version = 1 "
        "FROM (SELECT $2::date + interval '1 day' - interval '7 h' AS f) x WHERE run_id = $1",
        {id, date});
    bench_.db().Sql(
        "INSERT INTO run_attempt SELECT tidemark_now(), run_id, 1, job_id, 'e', 1, 'h', "
        "created_at, created_at, ended_at, 'SUCCEEDED', '' FROM run_history WHERE run_id = $1",
        {id});
    return id;
  }
  // recon with its five due dates, all done.
  int64_t DoneRecon() {
    const int64_t job = bench_.Apply(ReconSpec());
    bench_.db().Sql("UPDATE job_version SET valid_from = '2026-11-20T00:00:00Z' WHERE job_id = $1",
                    {ToParam(job)});
    bench_.db().Sql("UPDATE job SET ledger_from = '2026-11-24' WHERE job_id = $1", {ToParam(job)});
    for (const char* date :
         {"2026-11-24", "2026-11-25", "2026-11-26", "2026-11-27", "2026-11-28"}) {
      bench_.SetWatermark(job, date, "DONE", "", Ran(job, date));
    }
    bench_.db().Sql(
        "UPDATE job_watermark SET updated_at = biz_date + interval '17 h' + interval '5 min'");
    return job;
  }

  OperatorBench bench_;
};

TEST_F(OperatorVerifyTest, ACleanJobHasNoFindings) {
  DoneRecon();
  const v1::VerifyJobsResponse response = Verify("recon");
  EXPECT_THAT(Found("recon"), IsEmpty());
  EXPECT_EQ(response.judged(), 5U);
  EXPECT_EQ(response.jobs(), 1U);
}

TEST_F(OperatorVerifyTest, RowsThatWereSpoiledBySqlAreFound) {
  DoneRecon();
  bench_.db().Sql("DELETE FROM run_history WHERE biz_date = '2026-11-25'");
  EXPECT_THAT(Found("recon"), ElementsAre("missed 2026-11-25"));
  bench_.db().Sql("UPDATE run_history SET status = 'FAILED' WHERE biz_date = '2026-11-27'");
  EXPECT_THAT(Found("recon", "2026-11-26", "2026-11-27"), ElementsAre("missed 2026-11-27"));
  EXPECT_THAT(Found("recon", "2026-11-28"), IsEmpty());
}

TEST_F(OperatorVerifyTest, AWatermarkDeletedBySqlExplainsTheSecondRun) {
  const int64_t job = DoneRecon();
  const std::string again = Ran(job, "2026-11-26", "COMPLETED", "CATCH_UP");
  bench_.db().Sql(
      "UPDATE run_history SET created_at = tidemark_now(), ended_at = tidemark_now() "
      "WHERE run_id = $1",
      {again});
  bench_.db().Sql(
      "UPDATE run_attempt SET sent_at = tidemark_now(), ended_at = tidemark_now() "
      "WHERE run_id = $1",
      {again});
  EXPECT_THAT(Found("recon"), ElementsAre("duplicate 2026-11-26"));
  bench_.db().Sql("DELETE FROM job_watermark WHERE biz_date = '2026-11-26'");
  EXPECT_EQ(bench_.db().Sql("SELECT status || ' ' || undone_by FROM watermark_undone"),
            "DONE " + bench_.db().Sql("SELECT session_user"));
  EXPECT_THAT(Found("recon"), ElementsAre("missed 2026-11-26"))
      << "explained, but nobody has filled it yet";
  bench_.SetWatermark(job, "2026-11-26", "DONE", "", again);
  EXPECT_THAT(Found("recon"), IsEmpty());
}

TEST_F(OperatorVerifyTest, AVerdictOvertakenByARunIsKept) {
  const int64_t job = DoneRecon();
  bench_.db().Sql(
      "UPDATE job_watermark SET status = 'WAIVED', actor = 'ann' "
      "WHERE biz_date = '2026-11-26'");
  bench_.db().Sql("UPDATE job_watermark SET status = 'RUNNING' WHERE biz_date = '2026-11-26'");
  EXPECT_EQ(bench_.db().Rows("SELECT status, actor FROM watermark_undone ORDER BY undone_at"),
            (std::vector<std::string>{"DONE|", "WAIVED|ann"}));
  bench_.db().Sql("UPDATE job SET deleted_at = tidemark_now() WHERE job_id = $1", {ToParam(job)});
  bench_.db().Sql("DELETE FROM job_watermark");
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM watermark_undone"), "2")
      << "a deleted job's watermarks only move";
}

// The date was settled since the person's word, not only since the run's end.
TEST_F(OperatorVerifyTest, APersonsDoneThatARunReplacesIsKept) {
  DoneRecon();
  bench_.db().Sql("UPDATE job_watermark SET actor = 'ann' WHERE biz_date = '2026-11-26'");
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM watermark_undone"), "0");
  bench_.db().Sql("UPDATE job_watermark SET actor = '' WHERE biz_date = '2026-11-26'");
  EXPECT_EQ(bench_.db().Sql("SELECT status || ' ' || actor FROM watermark_undone"), "DONE ann");
}

TEST_F(OperatorVerifyTest, PausesAreKeptByWhoeverPauses) {
  const int64_t job = DoneRecon();
  const auto set = [&](const char* what) {
    bench_.db().Sql(std::string("UPDATE job SET ") + what + " WHERE job_id = $1", {ToParam(job)});
  };
  set("paused = true, pause_reason = 'quiet', paused_by = 'ann'");
  set("pause_reason = 'still quiet'");
  set("paused = false");
  set("paused = true, pause_reason = 'again'");
  EXPECT_EQ(bench_.db().Rows("SELECT reason, actor, resumed_at IS NULL FROM job_pause "
                             "ORDER BY paused_at"),
            (std::vector<std::string>{"quiet|ann|f", "again|ann|t"}));
  bench_.db().Sql("DELETE FROM job_watermark WHERE biz_date = '2026-11-28'");
  EXPECT_THAT(Found("recon"), IsEmpty()) << "it is paused: nobody need fill that";
}

// settlement waits for recon and has run nothing yet; all of recon is done since long.
TEST_F(OperatorVerifyTest, ADateBehindAnotherJobsIsNotMissed) {
  const int64_t recon = DoneRecon();
  v1::JobSpec spec = ReconSpec();
  spec.set_name("settlement");
  spec.add_after()->set_job("recon");
  const int64_t settlement = bench_.Apply(spec);
  bench_.db().Sql("UPDATE job_version SET valid_from = '2026-11-20T00:00:00Z'");
  bench_.db().Sql("UPDATE job SET ledger_from = '2026-11-24' WHERE job_id = $1",
                  {ToParam(settlement)});
  const auto of_recon = [&](const std::string& what) {
    bench_.db().Sql(
        "UPDATE job_watermark SET " + what + " WHERE job_id = $1 AND biz_date = '2026-11-24'",
        {ToParam(recon)});
  };
  EXPECT_THAT(Found("settlement"), ElementsAre("missed 2026-11-24"));
  of_recon("status = 'FAILED'");
  EXPECT_THAT(Found("settlement"), IsEmpty()) << "BLOCKED by recon";
  of_recon("status = 'WAIVED', actor = 'ann'");
  EXPECT_THAT(Found("settlement"), ElementsAre("missed 2026-11-24"));
  of_recon("updated_at = tidemark_now()");
  EXPECT_THAT(Found("settlement"), IsEmpty()) << "free since a moment";
  of_recon("updated_at = '2026-11-25T17:00:00Z'");
  bench_.db().Sql("UPDATE job_after SET date_offset = -1");
  EXPECT_THAT(Found("settlement"), ElementsAre("missed 2026-11-24")) << "recon has no 23rd";
  bench_.db().Sql("UPDATE job_after SET date_offset = 5");
  EXPECT_THAT(Found("settlement"), IsEmpty()) << "recon will be due for the 29th";
  bench_.db().Sql("UPDATE job_after SET date_offset = 0");
  bench_.db().Sql("UPDATE job SET error = 'its zone vanished' WHERE job_id = $1", {ToParam(recon)});
  EXPECT_THAT(Found("settlement"), IsEmpty()) << "nobody knows what recon owes";
}

TEST_F(OperatorVerifyTest, AFireWithoutRunIsNamed) {
  const int64_t job = bench_.Apply(BeatSpec());
  bench_.db().Sql("UPDATE job_version SET valid_from = '2026-11-29T11:00:00Z' WHERE job_id = $1",
                  {ToParam(job)});
  bench_.db().Sql("INSERT INTO job_cursor VALUES ($1, '2026-11-29T12:00:00Z')", {ToParam(job)});
  bench_.db().Sql(
      "INSERT INTO skipped_range VALUES ($1, '2026-11-29T11:05:00Z', '2026-11-29T11:40:00Z', 8, "
      "'misfire', '2026-11-29T11:46:00Z')",
      {ToParam(job)});
  bench_.db().Sql(
      "INSERT INTO job_pause VALUES ($1, '2026-11-29T11:50:30Z', '2026-11-29T12:00:00Z', 'q', 'a')",
      {ToParam(job)});
  const v1::VerifyJobsResponse response = Verify("beat");
  std::vector<std::string> fires;
  for (const v1::VerifyFinding& finding : response.findings()) {
    EXPECT_EQ(finding.kind(), "missed");
    fires.push_back(std::to_string(finding.fire_time().seconds() % 3600 / 60));
  }
  EXPECT_THAT(fires, ElementsAre("45", "50"));
  EXPECT_EQ(response.judged(), 12U);
}

TEST_F(OperatorVerifyTest, AJobThatFiresTooOftenIsLookedAtInPart) {
  v1::JobSpec spec = BeatSpec();
  spec.mutable_schedule()->mutable_every()->set_seconds(1);
  const int64_t job = bench_.Apply(spec);
  bench_.db().Sql("UPDATE job_version SET valid_from = '2026-10-01T00:00:00Z' WHERE job_id = $1",
                  {ToParam(job)});
  const v1::VerifyJobsResponse response = Verify("beat");
  ASSERT_EQ(response.notes_size(), 1);
  EXPECT_THAT(response.notes(0), HasSubstr("looked at from 2026-11-29 on only"));
  EXPECT_GT(response.judged(), 40000U);
}

TEST_F(OperatorVerifyTest, AllJobsPageByPage) {
  DoneRecon();
  bench_.Apply(BeatSpec());
  v1::VerifyJobsRequest request;
  request.set_limit(1);
  v1::VerifyJobsResponse first;
  ASSERT_TRUE(bench_.Call(&Stub::VerifyJobs, request, &first).ok());
  EXPECT_EQ(first.last_name(), "beat");
  EXPECT_TRUE(first.more());
  request.set_after_name("beat");
  v1::VerifyJobsResponse second;
  ASSERT_TRUE(bench_.Call(&Stub::VerifyJobs, request, &second).ok());
  EXPECT_EQ(second.last_name(), "recon");
  EXPECT_EQ(second.judged(), 5U);
  EXPECT_FALSE(second.more());
}

TEST_F(OperatorVerifyTest, WhatIsWrongIsNamed) {
  const auto error = [&](const std::string& job, const std::string& from, const std::string& to) {
    v1::VerifyJobsRequest request;
    request.set_job(job);
    request.set_from(from);
    request.set_to(to);
    v1::VerifyJobsResponse response;
    return bench_.Call(&Stub::VerifyJobs, request, &response).error_message();
  };
  EXPECT_THAT(error("nobody", "", ""), HasSubstr("there is no job 'nobody'"));
  EXPECT_THAT(error("", "yesterday", ""), HasSubstr("from: "));
  EXPECT_THAT(error("", "2026-11-02", "2026-11-01"), HasSubstr("to: lies before from"));
}

}  // namespace
}  // namespace tidemark
