// The daily check as operators ask for it, on a real database.
#include "scheduler/rpc/operator_checks.h"

#include <string>
#include <vector>

#include "common/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/store/check_desk_store.h"
#include "tests/rpc/operator_bench.h"

namespace tidemark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Now is 20:00 in Shanghai on the 29th: the dates up to the 28th were expected by 09:00.
class OperatorChecksTest : public testing::Test {
 protected:
  OperatorChecksTest()
      : store_(bench_.db().options(), SystemClock(), SystemRandom()),
        desk_(bench_.db().options()),
        checks_(store_, desk_, "") {
    recon_ = bench_.Apply(ReconSpec());
    bench_.Apply(BeatSpec());
  }

  static std::vector<std::string> Lines(
      const google::protobuf::RepeatedPtrField<v1::CheckedDate>& dates) {
    std::vector<std::string> lines;
    for (const v1::CheckedDate& d : dates) {
      lines.push_back(d.job() + " " + d.biz_date() + " " + d.verdict() + " " + d.state() +
                      (d.has_settled_at() ? " settled" : "") +
                      (d.note().empty() ? "" : " (" + d.note() + ")"));
    }
    return lines;
  }
  std::vector<std::string> Run(const std::string& job = "", const std::string& date = "") {
    v1::RunCheckRequest request;
    request.set_job(job);
    request.set_date(date);
    checked_.Clear();
    const absl::Status status = checks_.Run(request, &checked_);
    EXPECT_TRUE(status.ok()) << status;
    return Lines(checked_.dates());
  }
  std::string Refusal(const std::string& job, const std::string& date) {
    v1::RunCheckRequest request;
    request.set_job(job);
    request.set_date(date);
    return Message(checks_.Run(request, &checked_));
  }
  void Verdict(const std::string& date, const std::string& verdict, const std::string& state,
               bool settled = false) {
    bench_.db().Sql(
        "INSERT INTO check_verdict VALUES ($1, 'recon', 'default', $2, $2::date + "
        "interval '25 hours', $3, $4, tidemark_now(), NULL, CASE WHEN $5 THEN tidemark_now() END)",
        {ToParam(recon_), date, verdict, state, ToParam(settled)});
  }

  OperatorBench bench_;
  OperatorStore store_;
  CheckDeskStore desk_;
  OperatorChecks checks_;
  int64_t recon_ = 0;
  v1::RunCheckResponse checked_;
};

TEST_F(OperatorChecksTest, WhatIsNotSettledAndTheLastDate) {
  bench_.SetWatermark(recon_, "2026-11-24", "DONE");
  bench_.SetWatermark(recon_, "2026-11-25", "FAILED", "retries");
  bench_.SetWatermark(recon_, "2026-11-26", "WAIVED");
  const std::string run = bench_.AddLiveRun(recon_, "2026-11-27", "RUNNING");
  EXPECT_THAT(Run(), ElementsAre("recon 2026-11-25 LATE FAILED", "recon 2026-11-27 LATE RUNNING",
                                 "recon 2026-11-28 LATE BLOCKED (behind 2026-11-25)"));
  EXPECT_EQ(checked_.late(), 3);
  EXPECT_EQ(checked_.jobs(), 1) << "an interval job has no dates";
  EXPECT_EQ(checked_.dates(1).run_id(), run);
  EXPECT_EQ(
      checked_.dates(1).expected_at().seconds(),
      absl::ToUnixSeconds(absl::FromCivil(absl::CivilHour(2026, 11, 28, 1), absl::UTCTimeZone())));
}

TEST_F(OperatorChecksTest, WhenAllIsWellTheLastDateIsShown) {
  for (const char* date : {"24", "25", "26", "27", "28"}) {
    bench_.SetWatermark(recon_, std::string("2026-11-") + date, "DONE");
  }
  Verdict("2026-11-28", "ON_TIME", "DONE");
  EXPECT_THAT(Run("recon"), ElementsAre("recon 2026-11-28 ON_TIME DONE"));
  EXPECT_EQ(checked_.late(), 0);
  EXPECT_TRUE(checked_.dates(0).has_checked_at());
}

TEST_F(OperatorChecksTest, TheDatesOfADay) {
  bench_.SetWatermark(recon_, "2026-11-26", "DONE");
  Verdict("2026-11-26", "LATE", "RUNNING", /*settled=*/true);
  EXPECT_THAT(Run("", "2026-11-27"), ElementsAre("recon 2026-11-26 LATE DONE settled"));
  EXPECT_EQ(checked_.late(), 0) << "it was";
  EXPECT_THAT(Run("", "2026-11-29"), ElementsAre("recon 2026-11-28 LATE MISSING"));
  EXPECT_THAT(Run("", "2026-11-30"), ElementsAre("recon 2026-11-29 EXPECTED "));
  EXPECT_EQ(checked_.late(), 0);
  EXPECT_THAT(Run("", "2026-11-01"), IsEmpty()) << "before its first date";
}

TEST_F(OperatorChecksTest, ADateThatASettledVerdictNoLongerFitsIsLateNow) {
  Verdict("2026-11-28", "ON_TIME", "DONE");
  EXPECT_THAT(Run("recon", "2026-11-29"), ElementsAre("recon 2026-11-28 LATE MISSING"));
  EXPECT_EQ(checked_.late(), 1);
}

TEST_F(OperatorChecksTest, PausedJobsAreShownAndNotLate) {
  bench_.db().Sql(
      "UPDATE job SET paused = true, pause_reason = 'the bank moves', "
      "paused_by = 'ann', paused_at = tidemark_now() WHERE name = 'recon'");
  EXPECT_THAT(Run("recon", "2026-11-29"),
              ElementsAre("recon 2026-11-28 PAUSED PAUSED (paused by ann: the bank moves)"));
  EXPECT_EQ(checked_.late(), 0);
}

TEST_F(OperatorChecksTest, AJobInErrorIsNoted) {
  bench_.db().Sql("UPDATE job_version SET spec = '{}' WHERE job_id = " + std::to_string(recon_));
  EXPECT_THAT(Run(), IsEmpty());
  ASSERT_EQ(checked_.notes_size(), 1);
  EXPECT_THAT(checked_.notes(0), HasSubstr("recon is in error"));
}

TEST_F(OperatorChecksTest, PageByPage) {
  v1::JobSpec other = ReconSpec();
  other.set_name("settlement");
  bench_.Apply(other);
  std::vector<std::string> jobs;
  v1::RunCheckRequest request;
  request.set_limit(1);
  request.set_date("2026-11-29");
  for (bool more = true; more;) {
    v1::RunCheckResponse page;
    ASSERT_TRUE(checks_.Run(request, &page).ok());
    for (const std::string& line : Lines(page.dates())) jobs.push_back(line);
    request.set_after_name(page.last_name());
    more = page.more();
  }
  EXPECT_THAT(jobs,
              ElementsAre("recon 2026-11-28 LATE MISSING", "settlement 2026-11-28 LATE MISSING"));
}

TEST_F(OperatorChecksTest, TheVerdictsThatWereGiven) {
  Verdict("2026-11-26", "LATE", "RUNNING", /*settled=*/true);
  Verdict("2026-11-27", "ON_TIME", "DONE");
  v1::ListVerdictsRequest request;
  v1::ListVerdictsResponse response;
  ASSERT_TRUE(checks_.List(request, &response).ok());
  EXPECT_THAT(Lines(response.dates()), ElementsAre("recon 2026-11-27 ON_TIME DONE",
                                                   "recon 2026-11-26 LATE RUNNING settled"));
  request.set_job("recon");
  request.set_late(true);
  response.Clear();
  ASSERT_TRUE(checks_.List(request, &response).ok());
  EXPECT_EQ(response.dates_size(), 1);
  request.set_job("recom");
  EXPECT_THAT(Message(checks_.List(request, &response)), HasSubstr("did you mean 'recon'"));
  request.Clear();
  request.set_from("2026-11-28");
  request.set_to("2026-11-27");
  EXPECT_THAT(Message(checks_.List(request, &response)), HasSubstr("to: lies before from"));
  request.Clear();
  request.set_limit(1001);
  EXPECT_FALSE(checks_.List(request, &response).ok());
}

TEST_F(OperatorChecksTest, RefusalsSayWhatToDo) {
  EXPECT_THAT(Refusal("beat", ""), HasSubstr("tracked by fire time"));
  EXPECT_THAT(Refusal("recom", ""), HasSubstr("did you mean 'recon'"));
  EXPECT_THAT(Refusal("", "yesterday"), HasSubstr("date: "));
}

}  // namespace
}  // namespace tidemark
