// The program as its users start it, against a server whose answers the test sets.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "common/status.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"
#include "tidemark/v1/operator.grpc.pb.h"

namespace tidemark {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kRun[] = "0190f2a0-0000-7000-8000-000000000001";

// Answers what the test set, and keeps what it was asked.
class FakeService : public v1::OperatorService::Service {
 public:
  grpc::Status status;
  v1::ApplyJobsRequest applied;
  v1::ApplyJobsResponse apply_answer;
  v1::ListJobsResponse jobs;
  v1::TriggerJobRequest triggered;
  v1::TriggerJobResponse trigger_answer;
  std::vector<v1::Run> run_states;  // one a look; the last one stays
  size_t looks = 0;
  v1::ListAlertsResponse alerts;
  v1::PauseJobRequest paused;
  v1::ListRunsRequest runs_asked;

  grpc::Status ApplyJobs(grpc::ServerContext*, const v1::ApplyJobsRequest* request,
                         v1::ApplyJobsResponse* response) override {
    applied = *request;
    *response = apply_answer;
    return status;
  }
  grpc::Status ListJobs(grpc::ServerContext*, const v1::ListJobsRequest*,
                        v1::ListJobsResponse* response) override {
    *response = jobs;
    return status;
  }
  grpc::Status TriggerJob(grpc::ServerContext*, const v1::TriggerJobRequest* request,
                          v1::TriggerJobResponse* response) override {
    triggered = *request;
    *response = trigger_answer;
    return status;
  }
  grpc::Status PauseJob(grpc::ServerContext*, const v1::PauseJobRequest* request,
                        v1::OrderResponse* response) override {
    paused = *request;
    response->set_message("paused");
    return status;
  }
  grpc::Status GetRun(grpc::ServerContext*, const v1::GetRunRequest*, v1::Run* response) override {
    *response = run_states[std::min(looks++, run_states.size() - 1)];
    return status;
  }
  grpc::Status ListRuns(grpc::ServerContext*, const v1::ListRunsRequest* request,
                        v1::ListRunsResponse*) override {
    runs_asked = *request;
    return status;
  }
  v1::VerifyJobsRequest verified;                // the last
  std::vector<v1::VerifyJobsResponse> verdicts;  // one a page
  size_t verdict = 0;
  grpc::Status VerifyJobs(grpc::ServerContext*, const v1::VerifyJobsRequest* request,
                          v1::VerifyJobsResponse* response) override {
    verified = *request;
    if (verdict < verdicts.size()) *response = verdicts[verdict++];
    return status;
  }
  v1::WaiveDatesRequest waived;
  grpc::Status WaiveDates(grpc::ServerContext*, const v1::WaiveDatesRequest* request,
                          v1::DatesResponse* response) override {
    waived = *request;
    response->set_message("recon: 2026-11-26 waived");
    return status;
  }
  std::vector<v1::ClusterStatusResponse> clusters;  // one a look; the last one stays
  size_t cluster_looks = 0;
  v1::DrainNodeRequest drained;
  grpc::Status ClusterStatus(grpc::ServerContext*, const v1::ClusterStatusRequest*,
                             v1::ClusterStatusResponse* response) override {
    *response = clusters[std::min(cluster_looks++, clusters.size() - 1)];
    return status;
  }
  grpc::Status DrainNode(grpc::ServerContext*, const v1::DrainNodeRequest* request,
                         v1::OrderResponse* response) override {
    drained = *request;
    response->set_message("node 'n1' gives its shards away");
    return status;
  }
  grpc::Status ListAlerts(grpc::ServerContext*, const v1::ListAlertsRequest*,
                          v1::ListAlertsResponse* response) override {
    *response = alerts;
    return status;
  }
};

struct Ended {
  int code = -1;
  std::string out;
  std::string err;
};

class CliProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    char dir[] = "/tmp/tidemark-cli-XXXXXX";
    ASSERT_NE(mkdtemp(dir), nullptr);
    dir_ = dir;
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  void TearDown() override {
    server_->Shutdown();
    (void)RunCommand({"rm", "-rf", dir_});
  }

  Ended Run(const std::vector<std::string>& arguments, const std::string& input = "") {
    std::ofstream(dir_ + "/in") << input;
    std::vector<std::string> argv = {"/bin/sh", "-c",
                                     "\"$@\" <\"$D/in\" >\"$D/out\" 2>\"$D/err\"; echo $?", "sh",
                                     TIDEMARK_PROGRAM};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const absl::StatusOr<std::string> code =
        RunCommand(argv, {{"D", dir_}, {"TIDEMARK_SERVER", address_}, {"TIDEMARK_ACTOR", "ann"}});
    EXPECT_TRUE(code.ok()) << Message(code.status());
    return {std::stoi(code.value_or("-1")), ReadFile(dir_ + "/out"), ReadFile(dir_ + "/err")};
  }
  // Exit code for a call that the server refuses with `code`.
  int CodeOf(grpc::StatusCode code) {
    service_.status = {code, "what it is; do that"};
    const Ended ended = Run({"job", "list"});
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, AllOf(HasSubstr("error: "), HasSubstr("what it is")));
    return ended.code;
  }

  FakeService service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  std::string dir_;
};

TEST_F(CliProcessTest, ExitCodesTellWhatKindOfFailure) {
  EXPECT_EQ(Run({"job", "list"}).code, 0);
  EXPECT_EQ(CodeOf(grpc::StatusCode::INTERNAL), 1);
  EXPECT_EQ(CodeOf(grpc::StatusCode::INVALID_ARGUMENT), 2);
  EXPECT_EQ(CodeOf(grpc::StatusCode::NOT_FOUND), 3);
  EXPECT_EQ(CodeOf(grpc::StatusCode::FAILED_PRECONDITION), 4);
  EXPECT_EQ(CodeOf(grpc::StatusCode::UNAVAILABLE), 5);
}

TEST_F(CliProcessTest, RefusalsSayWhatAndWhatToDo) {
  service_.status = {grpc::StatusCode::FAILED_PRECONDITION,
                     "date of job 'a; b' is DONE; tidemark run rerun X --force\x1b[31m"};
  EXPECT_EQ(Run({"job", "list"}).err,
            "error: date of job 'a; b' is DONE\n  do:  tidemark run rerun X --force\\x1b[31m\n");
}

TEST_F(CliProcessTest, TheAdviceIsTheSentenceWithTheCommand) {
  const auto err = [&](const std::string& message) {
    service_.status = {grpc::StatusCode::FAILED_PRECONDITION, message};
    return Run({"job", "list"}).err;
  };
  EXPECT_EQ(err("it is behind: 1 first (strict). Run that: tidemark job trigger x; all follows"),
            "error: it is behind: 1 first (strict)\n"
            "  do:  Run that: tidemark job trigger x; all follows\n");
  EXPECT_EQ(err("it has live runs: let them end, or tidemark run cancel 1"),
            "error: it has live runs\n  do:  let them end, or tidemark run cancel 1\n");
  EXPECT_EQ(err("it is so; wait"), "error: it is so\n  do:  wait\n");
}

TEST_F(CliProcessTest, NobodyThereIsUnreachable) {
  const Ended ended = Run({"job", "list", "--server", "127.0.0.1:1"});
  EXPECT_EQ(ended.code, 5);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("127.0.0.1:1"), HasSubstr("TIDEMARK_SERVER")));
}

TEST_F(CliProcessTest, UsageErrors) {
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Ended ended = Run(arguments);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_EQ(ended.out, "");
    return ended.err;
  };
  EXPECT_THAT(refused({}), HasSubstr("tidemark --help"));
  EXPECT_THAT(refused({"jbo", "list"}), HasSubstr("did you mean tidemark job?"));
  EXPECT_THAT(refused({"job", "triger", "x"}), HasSubstr("did you mean tidemark job trigger?"));
  EXPECT_THAT(refused({"job", "pause", "x"}), HasSubstr("tidemark job pause --help"));
  EXPECT_THAT(refused({"job", "list", "-o", "xml"}), HasSubstr("xml"));
  EXPECT_THAT(refused({"job", "list", "--limit", "0"}), HasSubstr("--limit"));
  EXPECT_THAT(refused({"job", "list", "--colour"}), HasSubstr("--colour"));
  EXPECT_THAT(refused({"run", "list", "--status", "BROKEN"}), HasSubstr("BROKEN"));
  EXPECT_THAT(refused({"job", "trigger", "x", "--param", "a"}), HasSubstr("is not NAME=VALUE"));
  EXPECT_THAT(refused({"job", "next", "x", "--from", "monday"}), HasSubstr("RFC 3339"));
  EXPECT_THAT(refused({"job", "apply", "-f", dir_ + "/none"}), HasSubstr("cannot read"));
  EXPECT_THAT(refused({"cron", "next", "0 0 25 * * ?"}), HasSubstr("25"));
}

TEST_F(CliProcessTest, HelpHasExamplesEverywhere) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{},
                                             {"job"},
                                             {"job", "apply"},
                                             {"job", "list"},
                                             {"job", "get"},
                                             {"job", "next"},
                                             {"job", "trigger"},
                                             {"job", "pause"},
                                             {"job", "resume"},
                                             {"job", "delete"},
                                             {"job", "verify"},
                                             {"run"},
                                             {"run", "list"},
                                             {"run", "get"},
                                             {"run", "logs"},
                                             {"run", "watch"},
                                             {"run", "cancel"},
                                             {"run", "rerun"},
                                             {"watermark", "list"},
                                             {"watermark", "waive"},
                                             {"watermark", "force-done"},
                                             {"watermark", "unwaive"},
                                             {"executor", "list"},
                                             {"alert", "list"},
                                             {"cluster", "status"},
                                             {"cluster", "drain"},
                                             {"cron", "next"},
                                             {"cron", "explain"}}) {
    std::vector<std::string> arguments = command;
    arguments.push_back("--help");
    const Ended ended = Run(arguments);
    EXPECT_EQ(ended.code, 0);
    EXPECT_THAT(ended.out, HasSubstr("Examples:\n  tidemark"));
  }
}

v1::ClusterStatusResponse TwoNodes(uint32_t of_first) {
  v1::ClusterStatusResponse cluster;
  cluster.set_shards(128);
  cluster.mutable_database_time()->set_seconds(1'000'000'000);
  cluster.add_warnings("look");
  for (const char* id : {"n1", "n2"}) {
    v1::Node* node = cluster.add_nodes();
    node->set_node_id(id);
    node->set_state("UP");
    node->set_shards(id == std::string("n1") ? of_first : 128 - of_first);
    node->mutable_lease_until()->set_seconds(1'000'000'008);
  }
  v1::Node* first = cluster.mutable_nodes(0);
  first->mutable_clock_offset()->set_nanos(-250'000'000);
  first->mutable_clock_uncertainty()->set_nanos(2'000'000);
  first->mutable_lag()->set_nanos(3'000'000);
  return cluster;
}

TEST_F(CliProcessTest, ClusterStatusShowsLeasesLagAndClocks) {
  service_.clusters = {TwoNodes(64)};
  const Ended ended = Run({"cluster", "status"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("LEASE LEFT"));
  EXPECT_THAT(ended.out, testing::ContainsRegex("n1 +UP +64 +8s +3ms +-250ms ±2ms "));
  EXPECT_THAT(ended.out, HasSubstr("warning: look\n"));
  EXPECT_THAT(Run({"cluster", "status", "-o", "json"}).out,
              HasSubstr("\"clock_offset\": \"-0.250s\""));
}

TEST_F(CliProcessTest, ClusterDrainWaitsUntilAllIsGivenAway) {
  service_.clusters = {TwoNodes(64), TwoNodes(64), TwoNodes(0)};
  service_.clusters[1].set_unowned_shards(64);
  service_.clusters[1].mutable_nodes(0)->set_shards(0);
  const Ended ended = Run({"cluster", "drain", "n1", "--wait", "--reason", "disk"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(service_.cluster_looks, 3U);
  EXPECT_EQ(service_.drained.reason(), "disk");
  EXPECT_EQ(service_.drained.actor(), "ann");
  EXPECT_THAT(ended.out, HasSubstr("owns no shard any more"));
  service_.clusters = {TwoNodes(64)};
  EXPECT_EQ(Run({"cluster", "drain", "n1", "--wait", "--wait-minutes", "0.01"}).code, 1);
  EXPECT_EQ(Run({"cluster", "drain", "n1", "--wait", "--undo"}).code, 2);
  EXPECT_EQ(Run({"cluster", "drain", "n1", "--undo"}).code, 0);
  EXPECT_TRUE(service_.drained.undo());
}

TEST_F(CliProcessTest, ApplySendsTheFileAndPrintsTheDifference) {
  v1::AppliedJob* job = service_.apply_answer.add_jobs();
  job->set_name("recon");
  job->set_outcome(v1::AppliedJob::UPDATED);
  job->set_version(3);
  v1::FieldChange* change = job->add_changes();
  change->set_field("schedule.cron");
  change->set_after("0 0 2 * * ?\n");
  job->add_warnings("look");
  const Ended ended = Run({"job", "apply", "-f", "-", "--dry-run"},
                          "jobs: [{name: recon, app: a, handler: h, schedule: {every: 5m}}]");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out,
            "job recon: would be updated (version 3)\n"
            "  schedule.cron: (default) → 0 0 2 * * ?\\n\n"
            "  warning: look\n");
  EXPECT_TRUE(service_.applied.dry_run());
  EXPECT_EQ(service_.applied.actor(), "ann");
  ASSERT_EQ(service_.applied.jobs_size(), 1);
  EXPECT_EQ(service_.applied.jobs(0).schedule().every().seconds(), 300);
}

TEST_F(CliProcessTest, ABadFileIsNotSent) {
  const Ended ended = Run({"job", "apply", "-f", "-"}, "jobs: [{nam: x}]");
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("stdin:1: jobs[0].nam: unknown key; did you mean 'name'?"),
                               HasSubstr("nothing was applied")));
  EXPECT_EQ(service_.applied.jobs_size(), 0);
}

TEST_F(CliProcessTest, JsonHasTheNamesOfTheProto) {
  v1::Job* job = service_.jobs.add_jobs();
  job->mutable_spec()->set_name(
      "re\x1b"
      "con");
  job->set_job_id(7);
  const Ended ended = Run({"job", "list", "-o", "json"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("\"job_id\": \"7\""), HasSubstr("\"high_watermark\": \"\""),
                    HasSubstr("\"more\": false"), Not(HasSubstr("\x1b"))));
  v1::ListJobsResponse read;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(ended.out, &read).ok());
  EXPECT_EQ(read.jobs(0).spec().name(), job->spec().name());
}

TEST_F(CliProcessTest, TablesEscapeWhatServersSend) {
  v1::Alert* alert = service_.alerts.add_alerts();
  alert->set_kind("run_failed");
  alert->set_summary("boom\x1b]0;owned\a\r\n2026 forged");
  const Ended ended = Run({"alert", "list"});
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("boom\\x1b]0;owned\\x07\\r\\n2026 forged"), Not(HasSubstr("\x1b"))));
}

TEST_F(CliProcessTest, TriggerSendsAllItWasTold) {
  service_.trigger_answer.set_run_id(kRun);
  service_.trigger_answer.set_biz_date("2026-11-27");
  const Ended ended =
      Run({"job", "trigger", "--param", "a=1=2", "--param", "b=", "recon", "--biz-date",
           "2026-11-27", "--executor", "e1", "--request-id", "r1", "--reason", "why"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "run " + std::string(kRun) + " for 2026-11-27\n");
  EXPECT_EQ(service_.triggered.name(), "recon");
  EXPECT_EQ(service_.triggered.params().at("a"), "1=2");
  EXPECT_EQ(service_.triggered.params().at("b"), "");
  EXPECT_EQ(service_.triggered.executor_id(), "e1");
  EXPECT_EQ(service_.triggered.request_id(), "r1");
  EXPECT_EQ(service_.triggered.reason(), "why");
  EXPECT_EQ(service_.triggered.actor(), "ann");
}

TEST_F(CliProcessTest, WaitFollowsTheRunToItsEnd) {
  service_.trigger_answer.set_run_id(kRun);
  v1::Run run;
  run.set_run_id(kRun);
  run.set_progress_percent(-1);
  for (const v1::RunStatus status : {v1::PENDING, v1::RUNNING, v1::COMPLETED}) {
    run.set_status(status);
    service_.run_states.push_back(run);
  }
  Ended ended = Run({"job", "trigger", "recon", "--wait"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "run " + std::string(kRun) + "\nPENDING\nRUNNING\nCOMPLETED\n");
  service_.run_states.back().set_status(v1::FAILED);
  service_.run_states.back().set_reason("retries");
  service_.looks = 0;
  ended = Run({"run", "watch", kRun});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.out, HasSubstr("FAILED (retries)\n"));
}

TEST_F(CliProcessTest, QueuedIsSaid) {
  service_.trigger_answer.set_queued(true);
  EXPECT_THAT(Run({"job", "trigger", "recon"}).out, HasSubstr("queued"));
  EXPECT_EQ(Run({"job", "trigger", "recon"}).code, 0);
  EXPECT_EQ(Run({"job", "trigger", "recon", "--wait"}).code, 1);
}

TEST_F(CliProcessTest, WaiveSendsADateOrARangeAndNeedsAReason) {
  Ended ended = Run({"watermark", "waive", "recon", "2026-11-26", "--reason", "closed"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "recon: 2026-11-26 waived\n");
  EXPECT_EQ(service_.waived.biz_date(), "2026-11-26");
  EXPECT_EQ(service_.waived.reason(), "closed");
  EXPECT_EQ(service_.waived.actor(), "ann");
  ended = Run({"watermark", "waive", "recon", "--from", "2026-11-01", "--to", "2026-11-07",
               "--reason", "closed"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(service_.waived.from(), "2026-11-01");
  EXPECT_EQ(service_.waived.to(), "2026-11-07");
  EXPECT_EQ(service_.waived.biz_date(), "");
  EXPECT_EQ(Run({"watermark", "waive", "recon", "2026-11-26"}).code, 2);
  EXPECT_EQ(
      Run({"watermark", "waive", "recon", "2026-11-26", "--to", "2026-11-27", "--reason", "x"})
          .code,
      2);
}

TEST_F(CliProcessTest, VerifySaysByItsExitCodeWhetherAnythingWasFound) {
  v1::VerifyJobsResponse page;
  page.set_jobs(1);
  page.set_judged(5);
  service_.verdicts = {page};
  Ended ended = Run({"job", "verify", "recon", "--from", "2026-11-01", "--to", "2026-11-30"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "0 findings in 5 due dates and fires of 1 job\n");
  EXPECT_EQ(service_.verified.job(), "recon");
  EXPECT_EQ(service_.verified.from(), "2026-11-01");
  EXPECT_EQ(service_.verified.to(), "2026-11-30");

  v1::VerifyFinding* finding = page.add_findings();
  finding->set_kind("missed");
  finding->set_job("recon");
  finding->set_biz_date("2026-11-26");
  finding->set_text("due, and\x1b nothing came");
  page.add_notes("beat: looked at in part");
  service_.verdicts = {page};
  service_.verdict = 0;
  ended = Run({"job", "verify", "recon"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("2026-11-26"), HasSubstr("missed"), HasSubstr("and\\x1b nothing"),
                    HasSubstr("note: beat"), HasSubstr("1 finding in 5 due dates")));
}

TEST_F(CliProcessTest, VerifyOfAllJobsIsOneJsonOverAllPages) {
  v1::VerifyJobsResponse page;
  page.set_jobs(1);
  page.set_judged(5);
  page.set_more(true);
  page.set_last_name("beat");
  service_.verdicts = {page};
  v1::VerifyFinding* finding = page.add_findings();
  finding->set_kind("duplicate");
  finding->set_job("recon");
  finding->add_run_ids(kRun);
  page.set_more(false);
  service_.verdicts.push_back(page);
  const Ended ended = Run({"job", "verify", "-o", "json"});
  EXPECT_EQ(ended.code, 1) << "a finding on any page";
  EXPECT_EQ(service_.verified.after_name(), "beat");
  v1::VerifyJobsResponse read;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(ended.out, &read).ok()) << ended.out;
  EXPECT_EQ(read.jobs(), 2U);
  EXPECT_EQ(read.judged(), 10U);
  ASSERT_EQ(read.findings_size(), 1);
  EXPECT_EQ(read.findings(0).kind(), "duplicate");
  EXPECT_EQ(read.findings(0).run_ids(0), kRun);
}

TEST_F(CliProcessTest, VerifyOfAnUnknownJobIsNotFound) {
  service_.status = {grpc::StatusCode::NOT_FOUND, "there is no job 'reckon'"};
  const Ended ended = Run({"job", "verify", "reckon", "-o", "json"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("there is no job 'reckon'"));
}

TEST_F(CliProcessTest, RunListFilters) {
  EXPECT_EQ(Run({"run", "list", "--job", "a", "--status", "failed", "--status", "RUNNING"}).code,
            0);
  EXPECT_EQ(service_.runs_asked.job(), "a");
  ASSERT_EQ(service_.runs_asked.statuses_size(), 2);
  EXPECT_EQ(service_.runs_asked.statuses(0), v1::FAILED);
  EXPECT_EQ(service_.runs_asked.statuses(1), v1::RUNNING);
}

TEST_F(CliProcessTest, CronNeedsNoServer) {
  server_->Shutdown();
  const Ended ended = Run({"cron", "next", "0 0 1 * * ?", "--zone", "Asia/Shanghai", "--from",
                           "2026-11-28T00:00:00Z", "-n", "1", "-o", "json"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("2026-11-29T01:00:00+08:00"));
}

}  // namespace
}  // namespace tidemark
