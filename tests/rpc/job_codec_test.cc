#include "scheduler/rpc/job_codec.h"

#include <functional>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/text.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

v1::JobSpec Recon() {
  v1::JobSpec spec;
  spec.set_name("recon");
  spec.set_app("recon");
  spec.set_handler("recon");
  spec.mutable_schedule()->set_cron("0 0 1 * * ?");
  spec.mutable_schedule()->set_zone("Asia/Shanghai");
  return spec;
}

google::protobuf::Duration Seconds(int64_t seconds) {
  google::protobuf::Duration d;
  d.set_seconds(seconds);
  return d;
}

// Every field set to something else than its default.
v1::JobSpec Full() {
  v1::JobSpec spec;
  const auto status = google::protobuf::util::JsonStringToMessage(R"({
    "name": "对账", "app": "recon", "handler": "run", "namespace": "finance", "owner": "ops",
    "description": "nightly", "enabled": false, "start_date": "2026-11-24", "calendar": "cn",
    "schedule": {"cron": "0 0 1 * * 2", "dialect": "spring", "zone": "Asia/Shanghai",
      "start_at": "2026-01-01T00:00:00Z", "end_at": "2027-01-01T00:00:00.5Z", "tracking": "dated"},
    "biz_date": {"offset": 0, "unit": "business_day"},
    "catch_up": {"order": "independent", "max_backfill_days": 7, "source_retention_days": 90,
      "parallelism": 5},
    "misfire": {"policy": "fire_all", "window": "3600s", "cap": 7},
    "blocking": {"policy": "discard_later", "queue": 3},
    "routing": {"strategy": "sticky", "labels": {"zone": "a", "disk": "ssd"}},
    "retry": {"max_attempts": 9, "backoff": ["1s", "2.5s"], "jitter": 0},
    "timeouts": {"start": "31s", "run": "7200s", "lost_after": "301s", "reap_after": "7201s",
      "long_running": "1801s", "cancel_grace": "29s"},
    "on_lost": "WAIT", "expected_by": "09:30",
    "after": [{"job": "ledger-close"}, {"job": "fx", "offset": -1}],
    "params": {"bills": "/data/bills", "empty": "", "b": "中文\n\t\""}
  })",
                                                                  &spec);
  EXPECT_TRUE(status.ok()) << status.message().ToString();
  return spec;
}

TEST(JobCodec, LeavesNothingOutAndInventsNothing) {
  const v1::JobSpec full = Full();
  const absl::StatusOr<JobSpec> spec = JobSpecFromProto(full);
  ASSERT_TRUE(spec.ok()) << Message(spec.status());
  EXPECT_THAT(DiffJobSpecs(full, JobSpecToProto(*spec)), testing::IsEmpty());
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(full, JobSpecToProto(*spec)));
  // Were a field forgotten in all directions, this would be the only test to see it.
  std::vector<const google::protobuf::FieldDescriptor*> set;
  full.GetReflection()->ListFields(full, &set);
  EXPECT_EQ(static_cast<int>(set.size()), v1::JobSpec::descriptor()->field_count());
}

TEST(JobCodec, StoredTextReadsBackAndIsStable) {
  const JobSpec spec = *JobSpecFromProto(Full());
  const std::string text = EncodeJobSpec(spec);
  const absl::StatusOr<JobSpec> again = DecodeJobSpec(text);
  ASSERT_TRUE(again.ok()) << Message(again.status());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(EncodeJobSpec(*again), text);
}

TEST(JobCodec, StatedDefaultsAreTheSameAsUnstatedOnes) {
  v1::JobSpec stated = Recon();
  stated.set_namespace_("default");
  stated.set_enabled(true);
  stated.mutable_biz_date()->set_offset(-1);
  stated.mutable_biz_date()->set_unit("day");
  stated.mutable_catch_up()->set_order("strict");
  stated.mutable_catch_up()->set_max_backfill_days(30);
  stated.mutable_catch_up()->set_parallelism(3);
  stated.mutable_misfire()->set_policy("fire_once");
  *stated.mutable_misfire()->mutable_window() = Seconds(7 * 86400);
  stated.mutable_misfire()->set_cap(100);
  stated.mutable_blocking()->set_policy("serial");
  stated.mutable_blocking()->set_queue(100);
  stated.mutable_routing()->set_strategy("least_busy");
  stated.mutable_retry()->set_max_attempts(4);
  for (const int s : {0, 60, 300}) *stated.mutable_retry()->add_backoff() = Seconds(s);
  stated.mutable_retry()->set_jitter(0.1);
  *stated.mutable_timeouts()->mutable_start() = Seconds(30);
  *stated.mutable_timeouts()->mutable_lost_after() = Seconds(300);
  const absl::StatusOr<JobSpec> spec = JobSpecFromProto(stated);
  ASSERT_TRUE(spec.ok()) << Message(spec.status());
  EXPECT_EQ(EncodeJobSpec(*spec), EncodeJobSpec(*JobSpecFromProto(Recon())));
}

TEST(JobCodec, DiffNamesFieldsAsTheJobFileDoes) {
  v1::JobSpec after = Recon();
  after.mutable_schedule()->set_cron("0 0 2 * * ?");
  after.mutable_catch_up()->set_max_backfill_days(7);
  (*after.mutable_params())["bills"] = "/x";
  *after.mutable_timeouts()->mutable_run() = Seconds(5400);
  after.add_after()->set_job("fx");
  v1::JobSpec before = Recon();
  before.set_on_lost(v1::RETRY);
  std::vector<std::string> lines;
  for (const FieldDiff& d : DiffJobSpecs(before, after)) {
    lines.push_back(d.path + ": " + d.before + " > " + d.after);
  }
  EXPECT_THAT(lines,
              ElementsAre("after:  > [fx]", "catch_up.max_backfill_days:  > 7", "on_lost: retry > ",
                          "params.bills:  > /x", "schedule.cron: 0 0 1 * * ? > 0 0 2 * * ?",
                          "timeouts.run:  > 1h30m"));
}

TEST(JobCodec, TextsThatAreNoDefinition) {
  for (const std::string text :
       {"", "{", "[]", "7", R"({"name": 5})", R"({"nam": "x"})", R"({"name": "x"})"}) {
    const absl::StatusOr<JobSpec> spec = DecodeJobSpec(text);
    EXPECT_TRUE(absl::IsInvalidArgument(spec.status())) << text;
  }
}

TEST(JobCodec, ParamsReadBack) {
  const std::map<std::string, std::string> params = {{"a", ""}, {"中", "\"\n\\ x"}};
  EXPECT_EQ(*DecodeParams(EncodeParams(params)), params);
  EXPECT_EQ(EncodeParams({}), "");
  EXPECT_TRUE(DecodeParams("")->empty());
  EXPECT_FALSE(DecodeParams("{\"a\": 1}").ok());
  EXPECT_FALSE(DecodeParams("[").ok());
}

struct Bad {
  std::string name;
  std::function<void(v1::JobSpec*)> edit;
  std::string says;
};

class JobCodecRefuses : public testing::TestWithParam<Bad> {};

TEST_P(JobCodecRefuses, NamingTheField) {
  v1::JobSpec message = Recon();
  GetParam().edit(&message);
  const absl::StatusOr<JobSpec> spec = JobSpecFromProto(message);
  ASSERT_TRUE(absl::IsInvalidArgument(spec.status()));
  EXPECT_THAT(Message(spec.status()), HasSubstr(GetParam().says));
}

std::vector<Bad> BadSpecs() {
  using J = v1::JobSpec*;
  return {
      {"NoName", [](J j) { j->clear_name(); }, "name: is required"},
      {"LongName", [](J j) { j->set_name(std::string(65, 'x')); }, "name: is longer than 64"},
      {"ControlInName", [](J j) { j->set_name("a\nb"); }, "name: has a control character"},
      {"BlankName", [](J j) { j->set_name(" a"); }, "name: begins or ends with a blank"},
      {"NoApp", [](J j) { j->clear_app(); }, "app: is required"},
      {"NoHandler", [](J j) { j->clear_handler(); }, "handler: is required"},
      {"BadNamespace", [](J j) { j->set_namespace_("a\t"); }, "namespace: "},
      {"LongOwner", [](J j) { j->set_owner(std::string(257, 'x')); }, "owner: has 257 bytes"},
      {"LongDescription", [](J j) { j->set_description(std::string(1025, 'x')); }, "description: "},
      {"NoSchedule", [](J j) { j->clear_schedule(); }, "schedule: is required"},
      {"EmptySchedule", [](J j) { j->mutable_schedule()->Clear(); }, "schedule: says no time"},
      {"TwoSchedules", [](J j) { j->mutable_schedule()->set_manual(true); }, "more than one of"},
      {"NoZone", [](J j) { j->mutable_schedule()->clear_zone(); }, "schedule.zone: is required"},
      {"LongCron", [](J j) { j->mutable_schedule()->set_cron(std::string(257, '*')); },
       "schedule.cron: has 257 bytes"},
      {"Dialect", [](J j) { j->mutable_schedule()->set_dialect("quarz"); },
       "did you mean 'quartz'?"},
      {"DialectWithoutCron",
       [](J j) {
         j->mutable_schedule()->clear_cron();
         j->mutable_schedule()->set_manual(true);
         j->mutable_schedule()->set_dialect("quartz");
       },
       "schedule.dialect: is for cron only"},
      {"AnchorWithoutEvery", [](J j) { j->mutable_schedule()->mutable_anchor(); },
       "schedule.anchor: is for every only"},
      {"EveryZero",
       [](J j) {
         j->mutable_schedule()->clear_cron();
         *j->mutable_schedule()->mutable_every() = Seconds(0);
       },
       "schedule.every: 0s is not within 1s to"},
      {"EveryNegative",
       [](J j) {
         j->mutable_schedule()->clear_cron();
         *j->mutable_schedule()->mutable_every() = Seconds(-5);
       },
       "schedule.every: a negative"},
      {"EveryParts",
       [](J j) {
         j->mutable_schedule()->clear_cron();
         *j->mutable_schedule()->mutable_every() = Seconds(5);
         j->mutable_schedule()->mutable_every()->set_nanos(1);
       },
       "schedule.every: must be whole seconds"},
      {"EveryHuge",
       [](J j) {
         j->mutable_schedule()->clear_cron();
         *j->mutable_schedule()->mutable_every() = Seconds(INT64_MAX);
       },
       "schedule.every: "},
      {"AtBefore1970",
       [](J j) {
         j->mutable_schedule()->clear_cron();
         j->mutable_schedule()->mutable_at()->set_seconds(-1);
       },
       "schedule.at: is not an instant"},
      {"EndBeforeStart",
       [](J j) {
         j->mutable_schedule()->mutable_start_at()->set_seconds(2000);
         j->mutable_schedule()->mutable_end_at()->set_seconds(1000);
       },
       "schedule.end_at: is before"},
      {"Tracking", [](J j) { j->mutable_schedule()->set_tracking("daily"); },
       "schedule.tracking: 'daily' is none of dated, interval"},
      {"StartDate", [](J j) { j->set_start_date("2026-02-30"); }, "start_date: '2026-02-30'"},
      {"Offset", [](J j) { j->mutable_biz_date()->set_offset(367); },
       "biz_date.offset: 367 is not within -366 to 366"},
      {"Unit", [](J j) { j->mutable_biz_date()->set_unit("days"); }, "did you mean 'day'?"},
      {"Order", [](J j) { j->mutable_catch_up()->set_order("loose"); }, "catch_up.order: 'loose'"},
      {"BackfillZero", [](J j) { j->mutable_catch_up()->set_max_backfill_days(0); },
       "catch_up.max_backfill_days: 0 is not within 1 to 3660"},
      {"Retention", [](J j) { j->mutable_catch_up()->set_source_retention_days(99999); },
       "catch_up.source_retention_days: "},
      {"Parallelism", [](J j) { j->mutable_catch_up()->set_parallelism(101); },
       "catch_up.parallelism: 101"},
      {"Misfire", [](J j) { j->mutable_misfire()->set_policy("fire"); }, "misfire.policy: "},
      {"MisfireWindow", [](J j) { *j->mutable_misfire()->mutable_window() = Seconds(0); },
       "misfire.window: "},
      {"MisfireCap", [](J j) { j->mutable_misfire()->set_cap(0); }, "misfire.cap: 0"},
      {"Blocking", [](J j) { j->mutable_blocking()->set_policy("discard_latter"); },
       "did you mean 'discard_later'?"},
      {"Queue", [](J j) { j->mutable_blocking()->set_queue(0); }, "blocking.queue: 0"},
      {"ConcurrentWithoutNumber", [](J j) { j->mutable_blocking()->set_policy("concurrent"); },
       "blocking.concurrent: is required"},
      {"Routing", [](J j) { j->mutable_routing()->set_strategy("fastest"); },
       "routing.strategy: 'fastest'"},
      {"Label", [](J j) { (*j->mutable_routing()->mutable_labels())["a\n"] = "b"; },
       "routing.labels.a\\n: has a control character"},
      {"Attempts", [](J j) { j->mutable_retry()->set_max_attempts(0); }, "retry.max_attempts: 0"},
      {"Backoff", [](J j) { *j->mutable_retry()->add_backoff() = Seconds(31 * 86400); },
       "retry.backoff: 31d is not within 0s to 30d"},
      {"Jitter", [](J j) { j->mutable_retry()->set_jitter(1.5); }, "retry.jitter: "},
      {"JitterNan", [](J j) { j->mutable_retry()->set_jitter(std::nan("")); }, "retry.jitter: "},
      {"Timeout", [](J j) { *j->mutable_timeouts()->mutable_start() = Seconds(0); },
       "timeouts.start: 0s is not within 1s"},
      {"ExpectedBy", [](J j) { j->set_expected_by("9:00"); }, "expected_by: '9:00'"},
      {"ExpectedByLate", [](J j) { j->set_expected_by("24:00"); }, "expected_by: "},
      {"AfterNothing", [](J j) { j->add_after(); }, "after.job: is required"},
      {"AfterOffset",
       [](J j) {
         j->add_after()->set_job("x");
         j->mutable_after(0)->set_offset(400);
       },
       "after.offset: 400"},
      {"ParamName", [](J j) { (*j->mutable_params())[""] = "x"; }, "params.: is required"},
      {"ParamNul", [](J j) { (*j->mutable_params())["a"] = std::string("\0", 1); }, "params.a: "},
      {"ParamsTogether",
       [](J j) {
         for (const char* key : {"a", "b"}) (*j->mutable_params())[key] = std::string(40000, 'x');
       },
       "params: have 80002 bytes together"},
  };
}

INSTANTIATE_TEST_SUITE_P(All, JobCodecRefuses, testing::ValuesIn(BadSpecs()),
                         [](const testing::TestParamInfo<Bad>& i) { return i.param.name; });

TEST(JobCodec, TellsAllProblemsAtOnce) {
  v1::JobSpec message = Recon();
  message.clear_app();
  message.mutable_retry()->set_jitter(-1);
  EXPECT_THAT(Message(JobSpecFromProto(message).status()),
              testing::AllOf(HasSubstr("app: "), HasSubstr("; retry.jitter: ")));
}

struct BadPair {
  std::string name;
  std::function<void(JobSpec*)> edit;
  std::string says;
};

class CompileJobRefuses : public testing::TestWithParam<BadPair> {};

TEST_P(CompileJobRefuses, NamingTheField) {
  JobSpec spec = *JobSpecFromProto(Recon());
  GetParam().edit(&spec);
  const auto schedule = CompileJob(spec);
  ASSERT_TRUE(absl::IsInvalidArgument(schedule.status()));
  EXPECT_THAT(Message(schedule.status()), HasSubstr(GetParam().says));
}

void MakeInterval(JobSpec* j) {
  j->schedule.kind = ScheduleSpec::Kind::kEvery;
  j->schedule.every = absl::Minutes(5);
}

std::vector<BadPair> BadPairs() {
  using J = JobSpec*;
  return {
      {"Cron", [](J j) { j->schedule.cron = "0 0 25 * * ?"; }, "schedule: "},
      {"Zone", [](J j) { j->schedule.zone = "Asia/Shanghia"; }, "schedule: "},
      {"ZonePath", [](J j) { j->schedule.zone = "../../etc/passwd"; }, "schedule: "},
      {"Never", [](J j) { j->schedule.cron = "0 0 1 30 2 ?"; }, "schedule: "},
      {"StrictNeedsSerial", [](J j) { j->blocking.policy = BlockingPolicy::kDiscardLater; },
       "blocking.policy: a job whose dates run in strict order can only be 'serial'"},
      {"DatedConcurrent",
       [](J j) {
         j->blocking.policy = BlockingPolicy::kConcurrent;
         j->catch_up.order = CatchUpOrder::kIndependent;
       },
       "blocking.policy: 'concurrent' is for interval jobs"},
      {"IntervalStartDate",
       [](J j) {
         MakeInterval(j);
         j->start_date = absl::CivilDay(2026, 1, 1);
       },
       "start_date: "},
      {"IntervalExpectedBy",
       [](J j) {
         MakeInterval(j);
         j->expected_by = absl::Hours(9);
       },
       "expected_by: "},
      {"IntervalAfter",
       [](J j) {
         MakeInterval(j);
         j->after = {{"x", 0}};
       },
       "after: only jobs that are tracked by date"},
      {"GraceTooLong", [](J j) { j->timeouts.cancel_grace = j->timeouts.lost_after; },
       "timeouts.cancel_grace: "},
      {"ReapTooSoon", [](J j) { j->timeouts.reap_after = absl::Minutes(4); },
       "timeouts.reap_after: "},
      {"AfterItself", [](J j) { j->after = {{"recon", -1}}; }, "cannot wait for itself"},
      {"AfterTwice", [](J j) { j->after = {{"fx", 0}, {"fx", 0}}; }, "'fx' is listed twice"},
      {"ConcurrentUnused", [](J j) { j->blocking.concurrent = 2; }, "blocking.concurrent: needs"},
      {"BusinessDay", [](J j) { j->schedule.biz_unit = ScheduleSpec::Unit::kBusinessDay; },
       "calendar"},
  };
}

INSTANTIATE_TEST_SUITE_P(All, CompileJobRefuses, testing::ValuesIn(BadPairs()),
                         [](const testing::TestParamInfo<BadPair>& i) { return i.param.name; });

TEST(JobWarnings, SayWhatSurprises) {
  const absl::Time now = absl::FromUnixSeconds(1764400000);
  const auto warnings = [&](const std::function<void(JobSpec*)>& edit) {
    JobSpec spec = *JobSpecFromProto(Recon());
    edit(&spec);
    const auto schedule = CompileJob(spec);
    EXPECT_TRUE(schedule.ok()) << Message(schedule.status());
    return Join(JobWarnings(spec, **schedule, now), "\n");
  };
  EXPECT_EQ(warnings([](JobSpec*) {}), "");
  EXPECT_THAT(warnings([](JobSpec* j) { j->schedule.cron = "0 0 1 31 * ?"; }), HasSubstr("31"));
  EXPECT_THAT(warnings([](JobSpec* j) { j->misfire.cap = 7; }), HasSubstr("misfire: "));
  EXPECT_THAT(warnings([](JobSpec* j) { j->enabled = false; }), HasSubstr("does not fire"));
  EXPECT_THAT(warnings([](JobSpec* j) { j->timeouts.cancel_grace = absl::Seconds(290); }),
              HasSubstr("timeouts.lost_after: "));
}

}  // namespace
}  // namespace tidemark
