// Definitions of jobs through the operator service, on a real database.
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
using Stub = v1::OperatorService::Stub;

class OperatorJobsTest : public testing::Test {
 protected:
  grpc::Status Apply(const std::vector<v1::JobSpec>& specs, v1::ApplyJobsResponse* response,
                     bool dry_run = false) {
    v1::ApplyJobsRequest request;
    *request.mutable_jobs() = {specs.begin(), specs.end()};
    request.set_dry_run(dry_run);
    request.set_actor("ann");
    return bench_.Call(&Stub::ApplyJobs, request, response);
  }
  std::string Refusal(const std::vector<v1::JobSpec>& specs, StatusCode code) {
    v1::ApplyJobsResponse response;
    const grpc::Status status = Apply(specs, &response);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    return status.error_message();
  }
  std::string Count(const std::string& table) {
    return bench_.db().Sql("SELECT count(*) FROM " + table);
  }

  OperatorBench bench_;
};

TEST_F(OperatorJobsTest, ApplyMakesChangesAndLeavesAlone) {
  v1::ApplyJobsResponse response;
  ASSERT_TRUE(Apply({ReconSpec(), BeatSpec()}, &response).ok());
  ASSERT_EQ(response.jobs_size(), 2);
  EXPECT_EQ(response.jobs(0).outcome(), v1::AppliedJob::CREATED);
  EXPECT_EQ(response.jobs(1).name(), "beat");
  EXPECT_EQ(bench_.db().Rows("SELECT kind, args FROM command ORDER BY job_id"),
            (std::vector<std::string>{"job_changed|{}", "job_changed|{}"}));
  EXPECT_EQ(Count("audit WHERE action = 'job_create' AND actor = 'ann'"), "2");

  v1::ApplyJobsResponse again;
  ASSERT_TRUE(Apply({ReconSpec(), BeatSpec()}, &again).ok());
  EXPECT_EQ(again.jobs(0).outcome(), v1::AppliedJob::UNCHANGED);
  EXPECT_EQ(again.jobs(1).outcome(), v1::AppliedJob::UNCHANGED);
  EXPECT_EQ(Count("job_version"), "2");
  EXPECT_EQ(Count("command"), "2");
  EXPECT_EQ(Count("audit"), "2");

  v1::JobSpec changed = ReconSpec();
  changed.mutable_schedule()->set_cron("0 0 2 * * ?");
  v1::ApplyJobsResponse third;
  ASSERT_TRUE(Apply({changed, BeatSpec()}, &third).ok());
  EXPECT_EQ(third.jobs(0).outcome(), v1::AppliedJob::UPDATED);
  EXPECT_EQ(third.jobs(0).version(), 2u);
  ASSERT_EQ(third.jobs(0).changes_size(), 1);
  EXPECT_EQ(third.jobs(0).changes(0).field(), "schedule.cron");
  EXPECT_EQ(third.jobs(0).changes(0).before(), "0 0 1 * * ?");
  EXPECT_EQ(third.jobs(0).changes(0).after(), "0 0 2 * * ?");
  EXPECT_EQ(third.jobs(1).outcome(), v1::AppliedJob::UNCHANGED);
  EXPECT_EQ(Count("job_version"), "3");
  EXPECT_EQ(bench_.db().Rows("SELECT v.valid_from = j.updated_at AND v.author = 'ann' FROM job j "
                             "JOIN job_version v USING (job_id, version) WHERE name = 'recon'"),
            std::vector<std::string>{"t"});
}

TEST_F(OperatorJobsTest, DryRunChangesNothing) {
  v1::ApplyJobsResponse response;
  ASSERT_TRUE(Apply({ReconSpec()}, &response, /*dry_run=*/true).ok());
  EXPECT_EQ(response.jobs(0).outcome(), v1::AppliedJob::CREATED);
  EXPECT_GT(response.jobs(0).changes_size(), 3);
  EXPECT_EQ(Count("job"), "0");
  EXPECT_EQ(Count("command"), "0");
  EXPECT_EQ(Count("audit"), "0");
}

TEST_F(OperatorJobsTest, AllOrNone) {
  v1::JobSpec bad = BeatSpec();
  bad.mutable_retry()->set_jitter(2);
  v1::JobSpec worse = BeatSpec();
  worse.set_name("w");
  worse.mutable_schedule()->set_zone("Mars/Olympus");
  const std::string message = Refusal({ReconSpec(), bad, worse}, StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(message, HasSubstr("job 'beat': retry.jitter: "));
  EXPECT_THAT(message, HasSubstr("job 'w': schedule: "));
  EXPECT_EQ(Count("job"), "0");
}

TEST_F(OperatorJobsTest, RefusesWhatNoFileShouldSay) {
  EXPECT_THAT(Refusal({}, StatusCode::INVALID_ARGUMENT), HasSubstr("has no job"));
  EXPECT_THAT(Refusal({BeatSpec(), BeatSpec()}, StatusCode::INVALID_ARGUMENT),
              HasSubstr("is in the request twice"));
  bench_.Apply(BeatSpec());
  v1::JobSpec moved = BeatSpec();
  moved.set_namespace_("other");
  EXPECT_THAT(Refusal({moved}, StatusCode::FAILED_PRECONDITION),
              HasSubstr("cannot be changed to 'other'"));
}

TEST_F(OperatorJobsTest, AfterMustExistAndNotGoRound) {
  v1::JobSpec a = ReconSpec();
  a.add_after()->set_job("nobody");
  EXPECT_THAT(Refusal({a}, StatusCode::INVALID_ARGUMENT), HasSubstr("there is no job 'nobody'"));
  v1::JobSpec b = ReconSpec();
  b.set_name("settle");
  b.add_after()->set_job("recon");
  v1::JobSpec round = ReconSpec();
  round.add_after()->set_job("settle");
  EXPECT_THAT(Refusal({round, b}, StatusCode::INVALID_ARGUMENT),
              HasSubstr("recon → settle → recon"));
}

TEST_F(OperatorJobsTest, WarnsOfAppsAndHandlersThatNobodyHas) {
  v1::ApplyJobsResponse response;
  ASSERT_TRUE(Apply({ReconSpec()}, &response, true).ok());
  ASSERT_EQ(response.jobs(0).warnings_size(), 1);
  EXPECT_THAT(response.jobs(0).warnings(0), HasSubstr("no executor of app 'recon'"));
  bench_.AddExecutor("recon-1", "recon", "recon");
  v1::JobSpec typo = ReconSpec();
  typo.set_handler("recom");
  ASSERT_TRUE(Apply({typo}, &response, true).ok());
  ASSERT_EQ(response.jobs(0).warnings_size(), 1);
  EXPECT_THAT(response.jobs(0).warnings(0), HasSubstr("did you mean 'recon'?"));
  ASSERT_TRUE(Apply({ReconSpec()}, &response, true).ok());
  EXPECT_EQ(response.jobs(0).warnings_size(), 0);
}

TEST_F(OperatorJobsTest, ConcurrentAppliersMakeOneJob) {
  std::vector<std::thread> threads;
  std::atomic<int> created = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      v1::ApplyJobsResponse response;
      const grpc::Status status = Apply({ReconSpec(), BeatSpec()}, &response);
      ASSERT_TRUE(status.ok()) << status.error_message();
      if (response.jobs(0).outcome() == v1::AppliedJob::CREATED) ++created;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(created, 1);
  EXPECT_EQ(Count("job"), "2");
  EXPECT_EQ(Count("job_version"), "2");
}

TEST_F(OperatorJobsTest, GetShowsStateAndHighWatermark) {
  const int64_t id = bench_.Apply(ReconSpec());
  for (const char* date : {"2026-11-24", "2026-11-25", "2026-11-27"}) {
    bench_.SetWatermark(id, date, "DONE");
  }
  v1::GetJobRequest request;
  request.set_name("recon");
  v1::Job job;
  ASSERT_TRUE(bench_.Call(&Stub::GetJob, request, &job).ok());
  EXPECT_EQ(job.job_id(), id);
  EXPECT_TRUE(job.dated());
  EXPECT_EQ(job.high_watermark(), "2026-11-25");
  EXPECT_EQ(job.next_biz_date(), "2026-11-29");
  EXPECT_EQ(job.next_fire().seconds(), 1795971600);  // 2026-11-30T01:00:00+08:00
  EXPECT_EQ(job.spec().start_date(), "2026-11-24");
}

TEST_F(OperatorJobsTest, UnknownJobNamesTheNearest) {
  bench_.Apply(ReconSpec());
  v1::GetJobRequest request;
  request.set_name("recom");
  v1::Job job;
  const grpc::Status status = bench_.Call(&Stub::GetJob, request, &job);
  EXPECT_EQ(status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("did you mean 'recon'?"));
}

TEST_F(OperatorJobsTest, AJobThatNoLongerParsesIsShownAndCanBeMended) {
  bench_.Apply(ReconSpec());
  bench_.Apply(BeatSpec());
  bench_.db().Sql(
      "UPDATE job_version SET spec = '{\"name\": \"recon\", \"later\": 1}' FROM job j "
      "WHERE j.job_id = job_version.job_id AND j.name = 'recon'");
  v1::ListJobsResponse list;
  ASSERT_TRUE(bench_.Call(&Stub::ListJobs, v1::ListJobsRequest(), &list).ok());
  ASSERT_EQ(list.jobs_size(), 2);
  EXPECT_EQ(list.jobs(0).error(), "");
  EXPECT_EQ(list.jobs(1).spec().name(), "recon");
  EXPECT_NE(list.jobs(1).error(), "");
  v1::ApplyJobsResponse response;
  ASSERT_TRUE(Apply({ReconSpec()}, &response).ok());
  EXPECT_EQ(response.jobs(0).outcome(), v1::AppliedJob::UPDATED);
  v1::GetJobRequest request;
  request.set_name("recon");
  v1::Job job;
  ASSERT_TRUE(bench_.Call(&Stub::GetJob, request, &job).ok());
  EXPECT_EQ(job.error(), "");
}

TEST_F(OperatorJobsTest, ListPagesByName) {
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    v1::JobSpec spec = BeatSpec();
    spec.set_name(name);
    bench_.Apply(spec);
  }
  v1::ListJobsRequest request;
  request.set_limit(2);
  std::vector<std::string> names;
  for (int page = 0; page < 3; ++page) {
    v1::ListJobsResponse response;
    ASSERT_TRUE(bench_.Call(&Stub::ListJobs, request, &response).ok());
    EXPECT_EQ(response.more(), page < 2);
    for (const v1::Job& job : response.jobs()) names.push_back(job.spec().name());
    request.set_after_name(names.back());
  }
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "d", "e"));
  request.set_limit(1001);
  v1::ListJobsResponse response;
  EXPECT_EQ(bench_.Call(&Stub::ListJobs, request, &response).error_code(),
            StatusCode::INVALID_ARGUMENT);
}

TEST_F(OperatorJobsTest, NextFires) {
  bench_.Apply(ReconSpec());
  v1::NextFiresRequest request;
  request.set_name("recon");
  request.set_count(2);
  v1::NextFiresResponse response;
  ASSERT_TRUE(bench_.Call(&Stub::NextFires, request, &response).ok());
  ASSERT_EQ(response.fires_size(), 2);
  EXPECT_EQ(response.fires(0).at(), "2026-11-30T01:00:00+08:00");
  EXPECT_EQ(response.fires(0).nominal_time(), "2026-11-30T01:00:00");
  EXPECT_EQ(response.fires(0).biz_date(), "2026-11-29");
  EXPECT_FALSE(response.never());
  v1::JobSpec manual = BeatSpec();
  manual.mutable_schedule()->Clear();
  manual.mutable_schedule()->set_manual(true);
  bench_.Apply(manual);
  request.set_name("beat");
  ASSERT_TRUE(bench_.Call(&Stub::NextFires, request, &response).ok());
  EXPECT_TRUE(response.never());
}

TEST_F(OperatorJobsTest, ADeletedJobsNameIsFree) {
  const int64_t old_id = bench_.Apply(ReconSpec());
  bench_.SetWatermark(old_id, "2026-11-24", "DONE");
  bench_.db().Sql("UPDATE job SET deleted_at = tidemark_now()");
  bench_.db().Sql("DELETE FROM job_watermark");  // as the owner does: archived with the job
  const int64_t new_id = bench_.Apply(ReconSpec());
  EXPECT_NE(new_id, old_id);
  v1::GetJobRequest request;
  request.set_name("recon");
  v1::Job job;
  ASSERT_TRUE(bench_.Call(&Stub::GetJob, request, &job).ok());
  EXPECT_EQ(job.job_id(), new_id);
  EXPECT_EQ(job.version(), 1u);
  EXPECT_EQ(job.high_watermark(), "");
}

TEST(OperatorJobLimitTest, AnAppHasSoManyJobsAndNoMore) {
  OperatorBench bench(absl::Seconds(10), {/*per_app=*/2});
  const auto apply = [&](const std::vector<std::pair<std::string, std::string>>& jobs) {
    v1::ApplyJobsRequest request;
    for (const auto& [name, app] : jobs) {
      v1::JobSpec spec = BeatSpec();
      spec.set_name(name);
      spec.set_app(app);
      *request.add_jobs() = spec;
    }
    v1::ApplyJobsResponse response;
    return bench.Call(&Stub::ApplyJobs, request, &response);
  };
  EXPECT_TRUE(apply({{"a", "one"}, {"b", "one"}, {"c", "two"}}).ok());
  const grpc::Status third = apply({{"d", "one"}, {"e", "two"}});
  EXPECT_EQ(third.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(third.error_message(), HasSubstr("max-jobs-per-app is 2"));
  EXPECT_THAT(third.error_message(), HasSubstr("app 'one' would have 3"));
  EXPECT_EQ(bench.db().Sql("SELECT count(*) FROM job"), "3") << "all or none";
  // A move into the app counts, an edit within it does not, and a deleted job makes room.
  EXPECT_EQ(apply({{"c", "one"}}).error_code(), StatusCode::RESOURCE_EXHAUSTED);
  v1::ApplyJobsRequest edit;
  *edit.add_jobs() = BeatSpec();
  edit.mutable_jobs(0)->set_name("a");
  edit.mutable_jobs(0)->set_app("one");
  edit.mutable_jobs(0)->set_description("edited");
  v1::ApplyJobsResponse response;
  EXPECT_TRUE(bench.Call(&Stub::ApplyJobs, edit, &response).ok());
  bench.db().Sql("UPDATE job SET deleted_at = tidemark_now() WHERE name = 'b'");
  EXPECT_TRUE(apply({{"c", "one"}}).ok());
}

}  // namespace
}  // namespace tidemark
