#include "scheduler/watch/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/watch/fake_port.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::TimeZone Zone(const std::string& name) {
  absl::TimeZone zone;
  EXPECT_TRUE(absl::LoadTimeZone(name, &zone));
  return zone;
}

std::vector<std::string> Texts(const std::vector<watch::DateToJudge>& dates) {
  std::vector<std::string> texts;
  for (const auto& date : dates) {
    texts.push_back(FormatDate(date.date) + " by " + FormatInstant(date.expected));
  }
  return texts;
}

std::vector<std::string> Judged(const watch::Job& job, const std::string& now,
                                const std::vector<absl::CivilDay>& also = {}) {
  return Texts(watch::DatesToJudge(job, At(now), absl::Minutes(5), 3, also));
}

TEST(ExpectedAtTest, ByDefaultTheLaterOfNineAndTwoHours) {
  const absl::TimeZone zone = Zone("Asia/Shanghai");
  EXPECT_EQ(FormatInstant(watch::ExpectedAt(At("2026-11-28T01:00:00+08:00"), zone, {}), zone),
            "2026-11-28T09:00:00+08:00");
  EXPECT_EQ(FormatInstant(watch::ExpectedAt(At("2026-11-28T08:30:00+08:00"), zone, {}), zone),
            "2026-11-28T10:30:00+08:00");
  EXPECT_EQ(FormatInstant(watch::ExpectedAt(At("2026-11-28T23:00:00+08:00"), zone, {}), zone),
            "2026-11-29T01:00:00+08:00");
}

TEST(ExpectedAtTest, AnEarlierTimeThanTheFireIsOfTheNextDay) {
  const absl::TimeZone zone = Zone("Asia/Shanghai");
  const auto by = [&](const std::string& due, absl::Duration expected_by) {
    return FormatInstant(watch::ExpectedAt(At(due), zone, expected_by), zone);
  };
  EXPECT_EQ(by("2026-11-28T01:00:00+08:00", absl::Hours(6)), "2026-11-28T06:00:00+08:00");
  EXPECT_EQ(by("2026-11-28T22:00:00+08:00", absl::Hours(6)), "2026-11-29T06:00:00+08:00");
}

TEST(ExpectedAtTest, ATimeThatTheZoneSkipsIsTheFirstInstantAfterIt) {
  const absl::TimeZone zone = Zone("America/New_York");
  EXPECT_EQ(FormatInstant(watch::ExpectedAt(At("2027-03-14T01:00:00-05:00"), zone,
                                            absl::Hours(2) + absl::Minutes(30)),
                          zone),
            "2027-03-14T03:00:00-04:00");
}

TEST(DatesToJudgeTest, AreThoseOfTheLastDaysWhoseVerdictIsOverdue) {
  const watch::Job job = DailyJob(1, "recon");
  // 09:00 in Shanghai is 01:00Z.
  EXPECT_THAT(
      Judged(job, "2026-11-29T01:04:59Z"),
      ElementsAre("2026-11-26 by 2026-11-27T01:00:00Z", "2026-11-27 by 2026-11-28T01:00:00Z"));
  EXPECT_THAT(
      Judged(job, "2026-11-29T01:05:00Z"),
      ElementsAre("2026-11-26 by 2026-11-27T01:00:00Z", "2026-11-27 by 2026-11-28T01:00:00Z",
                  "2026-11-28 by 2026-11-29T01:00:00Z"));
}

TEST(DatesToJudgeTest, BeginWithTheCheckAndTheLedger) {
  watch::Job job = DailyJob(1, "recon");
  job.check_from = At("2026-11-27T01:00:00Z");  // what was expected by then is not checked
  EXPECT_THAT(
      Judged(job, "2026-11-29T01:05:00Z"),
      ElementsAre("2026-11-27 by 2026-11-28T01:00:00Z", "2026-11-28 by 2026-11-29T01:00:00Z"));
  job.ledger_from = Day("2026-11-28");
  EXPECT_THAT(Judged(job, "2026-11-29T01:05:00Z"),
              ElementsAre("2026-11-28 by 2026-11-29T01:00:00Z"));
  job.silent = true;
  EXPECT_THAT(Judged(job, "2026-11-29T01:05:00Z"), IsEmpty());
}

TEST(DatesToJudgeTest, AnOldDateOfWhichSomethingIsOpenIsJudgedStill) {
  EXPECT_THAT(Judged(DailyJob(1, "recon"), "2026-11-29T00:00:00Z", {Day("2026-11-10")}),
              ::testing::Contains("2026-11-10 by 2026-11-11T01:00:00Z"));
}

TEST(DatesToJudgeTest, AnEditGivesTheCheckTimeAgain) {
  watch::Job job = DailyJob(1, "recon");
  watch::Version edit = job.versions[0];
  edit.definition.version = 2;
  edit.definition.valid_from = At("2026-11-29T01:03:00Z");
  edit.expected_by = absl::Hours(2);  // long over for the date of today
  job.versions.push_back(edit);
  EXPECT_THAT(Judged(job, "2026-11-29T01:06:00Z"),
              ::testing::Not(::testing::Contains(HasSubstr("2026-11-28 by"))));
  EXPECT_THAT(Judged(job, "2026-11-29T01:09:00Z"),
              ::testing::Contains("2026-11-28 by 2026-11-29T01:03:00Z"));
}

TEST(DatesToJudgeTest, WeekendsOffAndDatesOfAMonthAgoAreFound) {
  watch::Job job = DailyJob(1, "recon");
  job.versions[0].definition.schedule.biz_offset = -30;
  job.ledger_from = Day("2026-10-01");
  EXPECT_THAT(Judged(job, "2026-11-29T01:05:00Z"),
              ::testing::Contains("2026-10-30 by 2026-11-29T01:00:00Z"));
  job = DailyJob(1, "recon");
  job.versions[0].definition.schedule.cron = "0 0 1 ? * MON-FRI";
  // 2026-11-29 is a Sunday: of the last three days Thursday's and Friday's runs count.
  EXPECT_THAT(Judged(job, "2026-11-29T12:00:00Z"),
              ElementsAre("2026-11-26 by 2026-11-27T01:00:00Z"));
}

TEST(DatesToJudgeTest, IntervalJobsHaveNone) {
  watch::Job job = DailyJob(1, "hourly");
  job.versions[0].definition.schedule.cron = "0 0 * * * ?";
  EXPECT_THAT(Judged(job, "2026-11-29T01:05:00Z"), IsEmpty());
}

struct Case {
  const char* status;
  const char* verdict;
  bool told;
  bool undone_after;
  const char* kind;  // "": all is well
};

constexpr Case kCases[] = {
    {"DONE", "ON_TIME", false, false, ""},
    {"WAIVED", "ON_TIME", false, false, ""},
    {"EXPIRED", "ON_TIME", false, false, ""},
    {"FAILED", "LATE", true, false, ""},
    {"", "LATE", true, false, ""},
    {"DONE", "LATE", true, false, ""},  // settled after all
    {"", "PAUSED", false, false, ""},
    {"", "", false, false, "check_missing"},
    {"DONE", "", false, false, "check_missing"},
    {"FAILED", "ON_TIME", false, false, "check_disagrees"},
    {"", "ON_TIME", false, false, "check_disagrees"},
    {"RUNNING", "ON_TIME", false, true, ""},  // taken back after the check
    {"", "LATE", false, false, "check_disagrees"},
};

TEST(JudgeDateTest, SaysWhatIsMissingAndWhatCannotBe) {
  const watch::Job job = DailyJob(12, "my recon");
  const watch::DateToJudge date = {Day("2026-11-28"), At("2026-11-28T17:00:00Z"),
                                   At("2026-11-29T01:00:00Z")};
  for (const Case& c : kCases) {
    WatchDate kept;
    kept.status = c.status;
    kept.verdict = c.verdict;
    kept.told = c.told;
    kept.checked_at = At("2026-11-29T01:00:00Z");
    kept.undone_at =
        c.undone_after ? kept.checked_at + absl::Hours(1) : kept.checked_at - absl::Hours(1);
    const std::optional<AlertRaise> alert = watch::JudgeDate(job, date, kept);
    const std::string what = std::string(c.status) + "/" + c.verdict;
    EXPECT_EQ(alert.has_value() ? alert->kind : "", c.kind) << what;
    if (!alert.has_value()) continue;
    EXPECT_EQ(alert->severity, "critical");
    EXPECT_EQ(alert->dedup_key, std::string(c.kind) + "/12/2026-11-28");
    EXPECT_THAT(alert->summary, HasSubstr("my recon 2026-11-28"));
    EXPECT_THAT(alert->detail, HasSubstr("tidemark check run 'my recon' --date 2026-11-28"));
    EXPECT_THAT(alert->detail, HasSubstr("tidemark cluster status"));
  }
}

}  // namespace
}  // namespace tidemark
