#include "scheduler/cli/job_file.h"

#include <string>
#include <vector>

#include "common/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

// The job file of the design page, with every key.
constexpr char kFull[] = R"(
jobs:
  - name: recon
    app: recon
    handler: recon
    schedule: {cron: "0 0 1 * * ?", zone: Asia/Shanghai}   # or every: 15m
    start_date: 2026-11-24
    biz_date: {offset: -1, unit: day}
    catch_up: {order: strict, max_backfill_days: 30, source_retention_days: 90, parallelism: 3}
    misfire: {policy: fire_once, window: 7d, cap: 100}
    blocking: {policy: serial, queue: 100}
    routing: {strategy: least_busy, labels: {zone: a}}
    retry: {max_attempts: 4, backoff: [0s, 1m, 5m], jitter: 0.1}
    timeouts: {start: 30s, run: 2h, lost_after: 5m, reap_after: 2h, long_running: 30m}
    on_lost: retry
    expected_by: "09:00"
    after: [{job: ledger-close, offset: 0}]
    namespace: default
    owner: finance-platform
    description: Nightly reconciliation with the channel's bills
    enabled: true
    params: {bills: /data/bills, port: 5432, flag: true}
)";

TEST(JobFile, EveryKeyOfTheDesign) {
  const auto jobs = ParseJobFile(kFull, "jobs.yaml");
  ASSERT_TRUE(jobs.ok()) << Message(jobs.status());
  ASSERT_EQ(jobs->size(), 1u);
  const v1::JobSpec& job = jobs->front();
  EXPECT_EQ(job.schedule().cron(), "0 0 1 * * ?");
  EXPECT_EQ(job.start_date(), "2026-11-24");
  EXPECT_EQ(job.biz_date().offset(), -1);
  EXPECT_EQ(job.catch_up().max_backfill_days(), 30u);
  EXPECT_EQ(job.misfire().window().seconds(), 7 * 86400);
  EXPECT_EQ(job.routing().labels().at("zone"), "a");
  ASSERT_EQ(job.retry().backoff_size(), 3);
  EXPECT_EQ(job.retry().backoff(2).seconds(), 300);
  EXPECT_DOUBLE_EQ(job.retry().jitter(), 0.1);
  EXPECT_EQ(job.timeouts().run().seconds(), 7200);
  EXPECT_EQ(job.on_lost(), v1::RETRY);
  EXPECT_EQ(job.after(0).job(), "ledger-close");
  EXPECT_TRUE(job.enabled());
  EXPECT_EQ(job.params().at("port"), "5432");
  EXPECT_EQ(job.params().at("flag"), "true");
}

TEST(JobFile, OtherSchedules) {
  const auto jobs = ParseJobFile(R"(
jobs:
  - {name: a, app: x, handler: h, schedule: {every: 15m, anchor: "2026-01-01T00:00:00.25Z"}}
---
jobs:
  - {name: b, app: x, handler: h, schedule: {at: 2026-12-01T03:00:00+08:00}}
  - {name: c, app: x, handler: h, schedule: {manual: true}}
---
)",
                                 "f");
  ASSERT_TRUE(jobs.ok()) << Message(jobs.status());
  ASSERT_EQ(jobs->size(), 3u);
  EXPECT_EQ((*jobs)[0].schedule().every().seconds(), 900);
  EXPECT_EQ((*jobs)[0].schedule().anchor().nanos(), 250000000);
  EXPECT_EQ((*jobs)[1].schedule().at().seconds(), 1796065200);
  EXPECT_TRUE((*jobs)[2].schedule().manual());
}

struct Bad {
  std::string name;
  std::string line;  // the third line of a file with one job; "" keys are as they are
  std::string says;
};

class JobFileRefuses : public testing::TestWithParam<Bad> {};

TEST_P(JobFileRefuses, NamingLineAndField) {
  const std::string yaml =
      "jobs:\n  - {name: j, app: x, handler: h, schedule: {manual: true},\n     " +
      GetParam().line + "}\n";
  const auto jobs = ParseJobFile(yaml, "f.yaml");
  ASSERT_TRUE(absl::IsInvalidArgument(jobs.status())) << yaml;
  EXPECT_THAT(Message(jobs.status()), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    All, JobFileRefuses,
    testing::Values(
        Bad{"UnknownKey", "handlers: h",
            "f.yaml:3: j.handlers: unknown key; did you mean 'handler'?"},
        Bad{"UnknownFarKey", "colour: red", "f.yaml:3: j.colour: unknown key; known are name, app"},
        Bad{"UnknownInner", "retry: {attempts: 3, max_atempts: 1}",
            "f.yaml:3: j.retry.max_atempts: unknown key; did you mean 'max_attempts'?"},
        Bad{"Twice", "owner: a, owner: b", "j.owner: is given twice"},
        Bad{"NoValue", "owner: ", "j.owner: has no value"},
        Bad{"TextForNumber", "retry: {max_attempts: four}",
            "j.retry.max_attempts: expected a whole number, found 'four'"},
        Bad{"FractionForNumber", "retry: {max_attempts: 1.5}",
            "expected a whole number, found '1.5'"},
        Bad{"NegativeForUnsigned", "blocking: {queue: -1}", "j.blocking.queue: -1 is out of range"},
        Bad{"HugeNumber", "biz_date: {offset: 99999999999}", "is out of range"},
        Bad{"NotANumber", "retry: {jitter: .inf}", "j.retry.jitter: expected a number"},
        Bad{"YesForTrue", "enabled: yes", "j.enabled: expected true or false, found 'yes'"},
        Bad{"ListForText", "owner: [a]", "j.owner: expected text, found a list"},
        Bad{"MapForText", "owner: {a: b}", "j.owner: expected text, found a map"},
        Bad{"TextForMap", "timeouts: 30s", "j.timeouts: expected a map, found text"},
        Bad{"TextForList", "after: ledger", "j.after: expected a list, found text"},
        Bad{"TextInList", "after: [ledger]", "j.after: expected a map, found text"},
        Bad{"EmptyElement", "after: [~]", "j.after: has an empty element"},
        Bad{"NumberForDuration", "timeouts: {run: 30}", "j.timeouts.run: '30' is not a duration"},
        Bad{"NegativeDuration", "timeouts: {run: -5s}", "'-5s' is not a duration"},
        Bad{"ListForDuration", "timeouts: {run: [5s]}", "expected a duration"},
        Bad{"ListForParams", "params: [a]", "j.params: expected a map of names and texts"},
        Bad{"MapInParams", "params: {a: {b: c}}", "j.params.a: expected text, found a map"},
        Bad{"ParamTwice", "params: {a: 1, a: 2}", "j.params.a: is given twice"},
        Bad{"OnLost", "on_lost: RETRY", "j.on_lost: expected retry or wait, found 'RETRY'"},
        Bad{"ControlInValue", "on_lost: \"a\\e[31m\"", "found 'a\\x1b[31m'"},
        Bad{"KeyIsAList", "[a]: b", "a key must be a word"}),
    [](const testing::TestParamInfo<Bad>& i) { return i.param.name; });

TEST(JobFile, WholeFilesThatAreNone) {
  const auto says = [](const std::string& yaml) {
    const auto jobs = ParseJobFile(yaml, "f.yaml");
    EXPECT_TRUE(absl::IsInvalidArgument(jobs.status())) << yaml;
    return Message(jobs.status());
  };
  EXPECT_THAT(says(""), HasSubstr("f.yaml: has no job"));
  EXPECT_THAT(says("jobs: []"), HasSubstr("has no job"));
  EXPECT_THAT(says("jobs: {}"), HasSubstr("f.yaml:1: jobs: expected a list of jobs, found a map"));
  EXPECT_THAT(says("jobs: [x]"), HasSubstr("expected a job (a map), found text"));
  EXPECT_THAT(says("- a"), HasSubstr("expected a map with the key 'jobs', found a list"));
  EXPECT_THAT(says("name: recon"), HasSubstr("jobs are elements of a list"));
  EXPECT_THAT(says("jobs: [\n  {a"), HasSubstr("not valid YAML"));
  EXPECT_THAT(says("a: \t- b: }"), HasSubstr("not valid YAML"));
  EXPECT_THAT(says("jobs: [{name: \xff}]"), HasSubstr("is not UTF-8"));
  EXPECT_THAT(says("jobs: [{name: *nobody}]"), HasSubstr("not valid YAML"));
  EXPECT_THAT(says(std::string(9 << 20, ' ')), HasSubstr("larger than 8 MiB"));
}

TEST(JobFile, TellsAllProblemsWithTheirLines) {
  const auto jobs = ParseJobFile("jobs:\n  - nam: a\n    app: x\n  - name: b\n", "f");
  EXPECT_EQ(Message(jobs.status()),
            "f:2: jobs[0].nam: unknown key; did you mean 'name'?\n"
            "f:2: jobs[0]: name is required\n"
            "f:2: jobs[0]: handler is required\n"
            "f:2: jobs[0]: schedule is required\n"
            "f:4: b: app is required\n"
            "f:4: b: handler is required\n"
            "f:4: b: schedule is required");
}

TEST(JobFile, EndlessProblemsAreCounted) {
  std::string yaml = "jobs:\n";
  for (int i = 0; i < 30; ++i) yaml += "  - x\n";
  EXPECT_THAT(Message(ParseJobFile(yaml, "f").status()), HasSubstr("\nand 10 more"));
}

}  // namespace
}  // namespace tidemark
