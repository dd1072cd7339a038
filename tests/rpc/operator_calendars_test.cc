// Calendars through the operator service, on a real database.
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/rpc/operator_bench.h"

namespace tidemark {
namespace {

using grpc::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Response = v1::ImportCalendarResponse;
using Stub = v1::OperatorService::Stub;

v1::CalendarSpec Holidays(const std::vector<std::string>& dates) {
  v1::CalendarSpec spec;
  spec.set_name("cn");
  for (const std::string& date : dates) spec.add_dates(date);
  return spec;
}

class OperatorCalendarsTest : public testing::Test {
 protected:
  grpc::Status Import(const v1::CalendarSpec& spec, Response* response, bool retroactive = false,
                      bool dry_run = false) {
    v1::ImportCalendarRequest request;
    *request.mutable_calendar() = spec;
    request.set_retroactive(retroactive);
    request.set_dry_run(dry_run);
    request.set_actor("ann");
    return bench_.Call(&Stub::ImportCalendar, request, response);
  }
  Response MustImport(const v1::CalendarSpec& spec, bool retroactive = false,
                      bool dry_run = false) {
    Response response;
    const grpc::Status status = Import(spec, &response, retroactive, dry_run);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  std::string ApplyRefusal(const v1::JobSpec& spec) {
    v1::ApplyJobsRequest request;
    *request.add_jobs() = spec;
    v1::ApplyJobsResponse response;
    const grpc::Status status = bench_.Call(&Stub::ApplyJobs, request, &response);
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
    return status.error_message();
  }
  // The due dates that the ledger lists.
  std::vector<std::string> Ledger() {
    v1::ListWatermarksRequest request;
    request.set_job("recon");
    v1::ListWatermarksResponse response;
    EXPECT_TRUE(bench_.Call(&Stub::ListWatermarks, request, &response).ok());
    std::vector<std::string> dates;
    for (const v1::Watermark& mark : response.watermarks()) dates.push_back(mark.biz_date());
    return dates;
  }
  static v1::JobSpec WithCalendar() {
    v1::JobSpec spec = ReconSpec();
    spec.set_calendar("cn");
    return spec;
  }

  OperatorBench bench_;
};

TEST_F(OperatorCalendarsTest, VersionsOnlyWhenSomethingChanges) {
  Response first = MustImport(Holidays({"2026-12-25", "2026-12-24"}));
  EXPECT_EQ(first.outcome(), Response::CREATED);
  EXPECT_EQ(first.version(), 1u);
  EXPECT_EQ(MustImport(Holidays({"2026-12-24", "2026-12-25"})).outcome(), Response::UNCHANGED);
  EXPECT_EQ(MustImport(Holidays({"2026-12-24"}), false, /*dry_run=*/true).version(), 2u);
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM calendar_version"), "1");
  EXPECT_EQ(MustImport(Holidays({"2026-12-24"})).outcome(), Response::UPDATED);
  EXPECT_EQ(bench_.db().Rows("SELECT version, mode, weekend, dates::text, author "
                             "FROM calendar_version ORDER BY version"),
            (std::vector<std::string>{"1|exclude|65|{2026-12-24,2026-12-25}|ann",
                                      "2|exclude|65|{2026-12-24}|ann"}));
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM audit WHERE action = 'calendar_import' "
                            "AND actor = 'ann'"),
            "2");

  v1::GetCalendarRequest get;
  get.set_name("cn");
  v1::Calendar calendar;
  ASSERT_TRUE(bench_.Call(&Stub::GetCalendar, get, &calendar).ok());
  EXPECT_THAT(calendar.spec().dates(), ElementsAre("2026-12-24"));
  EXPECT_THAT(calendar.spec().weekend(), ElementsAre("SUN", "SAT"));
  EXPECT_EQ(calendar.versions_size(), 2);
  v1::ListCalendarsResponse list;
  ASSERT_TRUE(bench_.Call(&Stub::ListCalendars, v1::ListCalendarsRequest(), &list).ok());
  ASSERT_EQ(list.calendars_size(), 1);
  EXPECT_EQ(list.calendars(0).version(), 2u);
  EXPECT_EQ(list.calendars(0).last_date(), "2026-12-24");
}

TEST_F(OperatorCalendarsTest, BadOnesAreRefusedByField) {
  const auto refusal = [&](const v1::CalendarSpec& spec) {
    Response response;
    const grpc::Status status = Import(spec, &response);
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
    return status.error_message();
  };
  v1::CalendarSpec spec = Holidays({"2026-02-30"});
  EXPECT_THAT(refusal(spec), HasSubstr("dates: "));
  spec = Holidays({});
  spec.set_mode("only");
  EXPECT_THAT(refusal(spec), HasSubstr("neither include nor exclude"));
  spec.set_mode("include");
  EXPECT_THAT(refusal(spec), HasSubstr("without dates"));
  spec.set_mode("");
  spec.add_weekend("Sunday");
  EXPECT_THAT(refusal(spec), HasSubstr("weekend: 'Sunday'"));
  spec.set_name("");
  EXPECT_THAT(refusal(spec), HasSubstr("name: is required"));
  v1::GetCalendarRequest get;
  get.set_name("ch");
  MustImport(Holidays({}));
  v1::Calendar calendar;
  const grpc::Status status = bench_.Call(&Stub::GetCalendar, get, &calendar);
  EXPECT_EQ(status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("did you mean 'cn'?"));
  get.set_name(std::string("c\0n", 3));
  EXPECT_EQ(bench_.Call(&Stub::GetCalendar, get, &calendar).error_code(),
            StatusCode::INVALID_ARGUMENT);
}

TEST_F(OperatorCalendarsTest, AnUnknownCalendarIsRefusedWithTheNearestName) {
  MustImport(Holidays({"2026-11-27"}));
  v1::JobSpec spec = WithCalendar();
  spec.set_calendar("ch");
  EXPECT_THAT(ApplyRefusal(spec),
              AllOf(HasSubstr("there is no calendar 'ch'"), HasSubstr("did you mean 'cn'?")));
  bench_.Apply(WithCalendar());
  EXPECT_THAT(Ledger(), ElementsAre("2026-11-24", "2026-11-25", "2026-11-26", "2026-11-28"));
}

TEST_F(OperatorCalendarsTest, AnImportKeepsPastDatesUnlessItIsRetroactive) {
  MustImport(Holidays({"2026-11-27"}));
  const int64_t job = bench_.Apply(WithCalendar());
  bench_.SetWatermark(job, "2026-11-24", "DONE");
  bench_.db().Sql("DELETE FROM command");
  // 25 and the coming 30 are closed, 27 is open.
  const v1::CalendarSpec edit = Holidays({"2026-11-25", "2026-11-30"});
  const Response kept = MustImport(edit);
  EXPECT_EQ(kept.jobs_with_calendar(), 1u);
  ASSERT_EQ(kept.jobs_size(), 1);
  EXPECT_EQ(kept.jobs(0).job(), "recon");
  EXPECT_THAT(kept.jobs(0).past_added(), IsEmpty());
  EXPECT_THAT(kept.jobs(0).past_removed(), IsEmpty());
  EXPECT_THAT(kept.jobs(0).removed(), ElementsAre("2026-11-30"));
  EXPECT_THAT(kept.jobs(0).past_kept(), ElementsAre("2026-11-25", "2026-11-27"));
  EXPECT_THAT(Ledger(), ElementsAre("2026-11-24", "2026-11-25", "2026-11-26", "2026-11-28"));
  EXPECT_EQ(
      bench_.db().Sql("SELECT count(*) FROM command WHERE kind = 'job_changed' AND job_id = " +
                      std::to_string(job)),
      "1");

  const Response dry = MustImport(edit, /*retroactive=*/true, /*dry_run=*/true);
  EXPECT_EQ(dry.outcome(), Response::UPDATED) << "the same dates, but now for the past, too";
  EXPECT_THAT(Ledger(), ElementsAre("2026-11-24", "2026-11-25", "2026-11-26", "2026-11-28"));
  const Response changed = MustImport(edit, /*retroactive=*/true);
  ASSERT_EQ(changed.jobs_size(), 1);
  EXPECT_THAT(changed.jobs(0).past_added(), ElementsAre("2026-11-27"));
  EXPECT_THAT(changed.jobs(0).past_removed(), ElementsAre("2026-11-25"));
  EXPECT_THAT(Ledger(), ElementsAre("2026-11-24", "2026-11-26", "2026-11-27", "2026-11-28"));
  EXPECT_THAT(bench_.db().Sql("SELECT detail FROM audit WHERE action = 'calendar_import' "
                              "ORDER BY at DESC, audit_id DESC LIMIT 1"),
              HasSubstr("recon: due now 2026-11-27; no longer due 2026-11-25"));
  EXPECT_EQ(MustImport(edit, /*retroactive=*/true).outcome(), Response::UNCHANGED);
}

TEST_F(OperatorCalendarsTest, BusinessDaysFromACalendar) {
  MustImport(Holidays({"2026-12-01"}));  // a Tuesday
  v1::JobSpec spec = WithCalendar();
  spec.mutable_biz_date()->set_unit("business_day");
  bench_.Apply(spec);
  v1::NextFiresRequest request;
  request.set_name("recon");
  request.set_count(3);
  v1::NextFiresResponse response;
  ASSERT_TRUE(bench_.Call(&Stub::NextFires, request, &response).ok());
  ASSERT_EQ(response.fires_size(), 3);
  EXPECT_EQ(response.fires(0).at(), "2026-11-30T01:00:00+08:00");
  EXPECT_EQ(response.fires(0).biz_date(), "2026-11-27");
  EXPECT_EQ(response.fires(1).at(), "2026-12-02T01:00:00+08:00");
  EXPECT_EQ(response.fires(1).biz_date(), "2026-11-30");
  EXPECT_EQ(response.fires(2).biz_date(), "2026-12-02");
}

TEST_F(OperatorCalendarsTest, ACalendarThatEndsSoonIsWarnedOfAndOneThatEndedRefused) {
  v1::CalendarSpec days = Holidays({"2026-11-26", "2026-12-01"});
  days.set_mode("include");
  EXPECT_EQ(MustImport(days).warnings_size(), 1);
  v1::ApplyJobsRequest request;
  *request.add_jobs() = WithCalendar();
  v1::ApplyJobsResponse response;
  ASSERT_TRUE(bench_.Call(&Stub::ApplyJobs, request, &response).ok());
  EXPECT_THAT(response.jobs(0).warnings(),
              testing::Contains(HasSubstr("'cn' ends on 2026-12-01, in 2 days")));
  v1::CalendarSpec old = Holidays({"2026-10-01"});
  old.set_name("old");
  old.set_mode("include");
  MustImport(old);
  v1::JobSpec late = BeatSpec();
  late.set_calendar("old");
  EXPECT_THAT(ApplyRefusal(late), HasSubstr("calendar 'old' ends on 2026-10-01"));
  // What a job would be left with is told.
  v1::CalendarSpec over = Holidays({"2026-11-26"});
  over.set_mode("include");
  const Response imported = MustImport(over, false, /*dry_run=*/true);
  ASSERT_EQ(imported.jobs_size(), 1);
  EXPECT_THAT(imported.jobs(0).warning(), HasSubstr("never due again"));
}

TEST_F(OperatorCalendarsTest, ImportsAndDefinitionsAtTheSameTime) {
  MustImport(Holidays({"2026-01-01"}));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Response response;
      const grpc::Status status =
          Import(Holidays({"2026-01-0" + std::to_string(i + 2)}), &response);
      EXPECT_TRUE(status.ok() || status.error_code() == StatusCode::UNAVAILABLE)
          << status.error_message();
    });
    threads.emplace_back([&, i] {
      v1::JobSpec spec = WithCalendar();
      spec.set_name("recon-" + std::to_string(i));
      v1::ApplyJobsRequest request;
      *request.add_jobs() = spec;
      v1::ApplyJobsResponse response;
      const grpc::Status status = bench_.Call(&Stub::ApplyJobs, request, &response);
      EXPECT_TRUE(status.ok() || status.error_code() == StatusCode::UNAVAILABLE)
          << status.error_message();
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Each job was told of the version in force: by its own order, or by the import's later one.
  EXPECT_EQ(bench_.db().Sql(
                "SELECT count(*) FROM job j JOIN job_version v USING (job_id, version) "
                "WHERE v.calendar = 'cn' AND NOT EXISTS (SELECT 1 FROM command c "
                "WHERE c.job_id = j.job_id AND c.created_at >= (SELECT updated_at - interval '1 s' "
                "FROM calendar WHERE name = 'cn'))"),
            "0");
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM calendar_version"),
            bench_.db().Sql("SELECT version FROM calendar"));
}

}  // namespace
}  // namespace tidemark
