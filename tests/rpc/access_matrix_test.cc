// Every method × every role × own and foreign namespace, made from the table of rules; and the
// audit of every change.
#include <map>
#include <set>
#include <string>

#include "common/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/access/access_rules.h"
#include "tests/rpc/access_bench.h"

namespace tidemark {
namespace {

using testing::HasSubstr;
using testing::Not;

// A request to each method, about the things of one namespace. Each would be carried out for who
// may give it.
const std::map<std::string, std::string>& Requests() {
  static const std::map<std::string, std::string> requests = {
      {"OperatorService/ListJobs", ""},
      {"OperatorService/GetJob", "name: '{job}'"},
      {"OperatorService/NextFires", "name: '{job}'"},
      {"OperatorService/ListCalendars", ""},
      {"OperatorService/GetCalendar", "name: 'shared'"},
      {"OperatorService/ListRuns", ""},
      {"OperatorService/GetRun", "run_id: '{run}'"},
      {"OperatorService/ReadRunLog", "run_id: '{run}'"},
      {"OperatorService/ListBackfills", ""},
      {"OperatorService/GetBackfill", "backfill_id: '{backfill}'"},
      {"OperatorService/GetDrill", "drill_id: '{drill}'"},
      {"OperatorService/ListWatermarks", "job: '{job}' from: '2026-01-01' to: '2026-01-03'"},
      {"OperatorService/ListExecutors", "all: true"},
      {"OperatorService/ListAlerts", "all: true"},
      {"OperatorService/ClusterStatus", ""},
      {"OperatorService/VerifyJobs", "from: '2026-01-01' to: '2026-01-02'"},
      {"AlertService/ListSilences", "all: true"},
      {"AlertService/ListDeliveries", ""},
      {"AlertService/ListChannels", ""},
      {"CheckService/RunCheck", ""},
      {"CheckService/ListVerdicts", ""},
      {"AccessService/WhoAmI", ""},
      {"OperatorService/ApplyJobs",
       "jobs {name: '{mark}-new' app: 'recon' handler: 'h' namespace: '{ns}' schedule {cron: '0 0 "
       "2 "
       "* * ?' zone: 'UTC'}}"},
      {"OperatorService/DeleteJob", "name: '{job}'"},
      {"OperatorService/TriggerJob", "name: '{beat}' reason: 'r'"},
      {"OperatorService/PauseJob", "name: '{job}' reason: 'r'"},
      {"OperatorService/ResumeJob", "name: '{job}'"},
      {"OperatorService/DrillJob", "name: '{job}' days: 1"},
      {"OperatorService/ResetCursor", "name: '{beat}' reason: 'r'"},
      {"OperatorService/CancelRun", "run_id: '{live}' reason: 'r'"},
      {"OperatorService/RerunRun", "run_id: '{ended}' reason: 'r'"},
      {"OperatorService/ReleaseRun", "run_id: '{live}' force: true reason: 'r'"},
      {"OperatorService/WaiveDates", "job: '{job}' biz_date: '2026-01-03' reason: 'r'"},
      {"OperatorService/ForceDone", "job: '{job}' biz_date: '2026-01-03' reason: 'r'"},
      {"OperatorService/UnwaiveDates", "job: '{job}' biz_date: '2026-01-03' reason: 'r'"},
      {"OperatorService/CreateBackfill", "job: '{job}' from: '2026-01-03' to: '2026-01-04'"},
      {"OperatorService/PauseBackfill", "backfill_id: '{backfill}' reason: 'r'"},
      {"OperatorService/ResumeBackfill", "backfill_id: '{backfill}'"},
      {"OperatorService/CancelBackfill", "backfill_id: '{backfill}'"},
      {"OperatorService/DrainExecutor", "executor_id: '{executor}' reason: 'r'"},
      {"OperatorService/DrainNode", "node_id: 'node-1' reason: 'r'"},
      {"OperatorService/ImportCalendar", "calendar {name: '{mark}' dates: '2027-01-01'}"},
      {"AlertService/AckAlert", "alert_id: '{alert}' note: 'r'"},
      {"AlertService/SilenceAlerts", "job: '{job}' duration {seconds: 60} reason: 'r'"},
      {"AlertService/DeleteSilence", "silence_id: '{silence}'"},
      {"AlertService/RetryDeliveries", ""},
      {"AlertService/TestChannel", "channel: 'ops'"},
      {"AccessService/ListAudit", ""},
      {"AccessService/ListApprovals", "all: true"},
      {"AccessService/ApproveOrder", "approval_id: '{approval}' reason: 'r'"},
      {"AccessService/RefuseOrder", "approval_id: '{approval}' reason: 'r'"},
      {"AccessService/CreateToken", "name: '{mark}-made' role: 'viewer' namespace: '{ns}'"},
      {"AccessService/ListTokens", "all: true"},
      {"AccessService/RevokeToken", "token_id: '{token}' reason: 'r'"},
  };
  return requests;
}

const std::string& RequestTo(const AccessRule& rule) {
  static const std::string none;
  const auto it = Requests().find(std::string(rule.method));
  if (it == Requests().end()) ADD_FAILURE() << rule.method << " has no request in this test";
  return it == Requests().end() ? none : it->second;
}

bool IsStream(const AccessRule& rule) { return rule.object == ObjectKind::kStream; }

// One thing that somebody names, and that is of one namespace.
bool IsObject(const AccessRule& rule) {
  switch (rule.object) {
    case ObjectKind::kJob:
    case ObjectKind::kRun:
    case ObjectKind::kBackfill:
    case ObjectKind::kDrill:
    case ObjectKind::kExecutor:
    case ObjectKind::kAlert:
    case ObjectKind::kSilence:
    case ObjectKind::kApproval:
      return true;
    case ObjectKind::kToken:
      return !rule.field.empty();
    default:
      return false;
  }
}

class AccessMatrixTest : public testing::Test {
 protected:
  AccessMatrixTest() {
    const std::string all = bench_.Token(Role::kAdmin, "", "maker");
    EXPECT_TRUE(bench_
                    .Call("OperatorService/ImportCalendar",
                          "calendar {name: 'shared' dates: '2027-01-01'}", all)
                    .ok());
    own_ = bench_.MakeThings("pay", "ours");
    foreign_ = bench_.MakeThings("ops", "zzforeign");
  }

  AccessBench bench_;
  std::map<std::string, std::string> own_;
  std::map<std::string, std::string> foreign_;
};

TEST_F(AccessMatrixTest, S01WithoutAValidTokenNothingIsAnsweredAndNothingHappens) {
  const std::string audits = bench_.db().Sql("SELECT count(*) FROM audit");
  const std::string expired = bench_.Token(Role::kAdmin, "", "late", absl::Minutes(1));
  bench_.db().Sql("UPDATE token SET expires_at = now() - interval '1 second' WHERE name = 'late'");
  const std::string revoked = bench_.Token(Role::kAdmin, "", "gone");
  bench_.db().Sql("UPDATE token SET revoked_at = now() WHERE name = 'gone'");
  bench_.Refresh();
  const std::string before = bench_.db().Sql("SELECT count(*) FROM audit");
  for (const AccessRule& rule : AccessRules()) {
    if (IsStream(rule)) continue;
    for (const std::string& token :
         {std::string(), std::string("tmk_"), NewToken(SystemRandom()), expired, revoked}) {
      const grpc::Status status =
          bench_.Call(std::string(rule.method), FillIn(RequestTo(rule), own_), token);
      EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED)
          << rule.method << ": " << status.error_message();
    }
  }
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM audit"), before);
}

TEST_F(AccessMatrixTest, ARoleMayWhatTheTableSaysAndNothingElse) {
  for (const AccessRule& rule : AccessRules()) {
    if (IsStream(rule)) continue;
    for (const Role role : {Role::kExecutor, Role::kViewer, Role::kOperator, Role::kAdmin}) {
      if (role >= rule.least) continue;
      const grpc::Status status =
          bench_.Call(std::string(rule.method), FillIn(RequestTo(rule), own_),
                      bench_.Token(role, role == Role::kExecutor ? "pay" : "", "low"));
      EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED)
          << rule.method << " " << Name(role) << ": " << status.error_message();
    }
  }
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM audit WHERE actor = 'low'"), "0");
}

// With the least role that the table asks for, of the namespace itself.
TEST_F(AccessMatrixTest, WhoMayDoesAndItIsInTheAudit) {
  for (const AccessRule& rule : AccessRules()) {
    if (IsStream(rule)) continue;
    const std::string method(rule.method);
    if (method == "OperatorService/ResumeJob") {
      bench_.db().Sql("UPDATE job SET paused = true, pause_reason = 'r' WHERE name = $1",
                      {own_["job"]});
    }
    if (method == "OperatorService/ResumeBackfill") {
      bench_.db().Sql("UPDATE backfill SET state = 'PAUSED'");
    }
    if (method == "OperatorService/DrainNode") {
      bench_.db().Sql(
          "WITH node AS (INSERT INTO scheduler_node (node_id, incarnation, address, version, "
          "lease_until, started_at) SELECT 'node-' || n, gen_random_uuid(), 'h:1', '1', "
          "tidemark_now() + interval '1 hour', tidemark_now() FROM generate_series(1, 2) n "
          "RETURNING node_id, incarnation) "
          "INSERT INTO node_fence SELECT node_id, incarnation, false, tidemark_now() FROM node");
    }
    if (method == "AccessService/RefuseOrder") {
      bench_.db().Sql("UPDATE approval SET state = 'WAITING', decided_at = NULL");
    }
    const std::string ns = rule.object == ObjectKind::kShared ? "" : "pay";
    const std::string token = bench_.Token(rule.least, ns, "doer");
    const std::string id =
        bench_.db().Sql("SELECT token_id FROM token ORDER BY created_at DESC LIMIT 1");
    const grpc::Status status = bench_.Call(method, FillIn(RequestTo(rule), own_), token);
    EXPECT_TRUE(status.ok()) << method << ": " << status.error_code() << " "
                             << status.error_message();
    const std::string rows =
        bench_.db().Sql("SELECT count(*) FROM audit WHERE token_id = $1", {id});
    if (!rule.changes) {
      EXPECT_EQ(rows, "0") << method;
      continue;
    }
    EXPECT_NE(rows, "0") << method << " changes something and left no row in the audit";
    EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM audit WHERE token_id = $1 AND peer LIKE "
                              "'ipv4:127.0.0.1:%' AND starts_with(actor, 'doer') IS NOT true AND "
                              "actor NOT LIKE '%doer)'",
                              {id}),
              "0")
        << method << ": who, or from where, is missing";
    if (RequestTo(rule).find("reason: 'r'") != std::string::npos &&
        method != "OperatorService/TriggerJob") {
      EXPECT_NE(
          bench_.db().Sql("SELECT count(*) FROM audit WHERE token_id = $1 AND reason = 'r'", {id}),
          "0")
          << method << ": why is missing";
    }
  }
}

TEST_F(AccessMatrixTest, S05WhatIsForeignIsAsIfItDidNotExist) {
  const std::string token = bench_.Token(Role::kAdmin, "pay", "stranger");
  // Of the same form, and nowhere.
  std::map<std::string, std::string> nowhere = foreign_;
  for (auto& [name, value] : nowhere) {
    if (IsUuid(value)) value = NewUuid(SystemClock().WallNow(), SystemRandom());
  }
  nowhere["job"] = "zznowhere-daily";
  nowhere["beat"] = "zznowhere-beat";
  nowhere["executor"] = "zznowhere-executor";
  nowhere["token"] = "000000000000";
  for (const AccessRule& rule : AccessRules()) {
    // A silence keeps the words of who asked for it; that it reaches nothing foreign, see below.
    if (IsStream(rule) || rule.method == "AlertService/SilenceAlerts") continue;
    const std::string method(rule.method);
    const std::string& request = RequestTo(rule);
    std::string answer;
    const grpc::Status status = bench_.Call(method, FillIn(request, foreign_), token, &answer);
    EXPECT_THAT(answer, Not(HasSubstr("zzforeign"))) << method;
    if (!IsObject(rule)) continue;
    EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND)
        << method << ": " << status.error_message();
    const grpc::Status none = bench_.Call(method, FillIn(request, nowhere), token);
    EXPECT_EQ(none.error_code(), grpc::StatusCode::NOT_FOUND) << method;
    std::string expected = none.error_message();
    for (const auto& [name, value] : nowhere) {
      if (value == foreign_[name]) continue;
      for (size_t at = expected.find(value); value.size() > 5 && at != std::string::npos;
           at = expected.find(value)) {
        expected.replace(at, value.size(), foreign_[name]);
      }
    }
    EXPECT_EQ(status.error_message(), expected) << method << " tells that it exists";
  }
  EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM audit WHERE actor = 'stranger' AND namespace = "
                            "'ops'"),
            "0");
}

TEST_F(AccessMatrixTest, S05AThousandForeignRuns) {
  const std::string token = bench_.Token(Role::kAdmin, "pay", "stranger");
  for (int i = 1; i <= 1000; ++i) {
    const std::string id = "00000000-0000-7000-8000-" +
                           std::string(12 - std::to_string(i).size(), '0') + std::to_string(i);
    if (i % 100 == 0) {  // some of them exist
      bench_.db().Sql(
          "INSERT INTO run_history SELECT now(), $2, job_id, 'D', $3, namespace, name, app, 'h', "
          "1, "
          "NULL, NULL, now(), 'SCHEDULE', '', '', '', '', NULL, '{}', 'FAILED', '', 1, 1, 0, 'x', "
          "1, "
          "'host', 1, 5, 50, '', '', '', 7, '', now(), now(), now() FROM job WHERE name = $1",
          {foreign_["job"], id, "k" + std::to_string(i)});
    }
    for (const char* method : {"OperatorService/GetRun", "OperatorService/ReadRunLog",
                               "OperatorService/CancelRun", "OperatorService/RerunRun"}) {
      if (i % 100 != 0 && method != std::string("OperatorService/GetRun")) continue;
      EXPECT_EQ(bench_.Call(method, "run_id: '" + id + "'", token).error_code(),
                grpc::StatusCode::NOT_FOUND)
          << method << " " << id;
    }
  }
}

TEST_F(AccessMatrixTest, ListsShowTheCallersNamespace) {
  const std::string token = bench_.Token(Role::kAdmin, "pay", "ann");
  const std::string all = bench_.Token(Role::kAdmin, "", "root");
  for (const AccessRule& rule : AccessRules()) {
    const std::string method(rule.method);
    if (rule.object != ObjectKind::kList || rule.changes) continue;
    std::string seen;
    ASSERT_TRUE(bench_.Call(method, FillIn(RequestTo(rule), own_), token, &seen).ok()) << method;
    EXPECT_THAT(seen, Not(HasSubstr("zzforeign"))) << method;
    std::string everything;
    ASSERT_TRUE(bench_.Call(method, FillIn(RequestTo(rule), own_), all, &everything).ok());
    if (method == "OperatorService/VerifyJobs") continue;  // it tells findings alone
    if (method != "AlertService/ListDeliveries") {
      EXPECT_THAT(seen, HasSubstr("ours")) << method;
      EXPECT_THAT(everything, HasSubstr("zzforeign")) << method;
    }
    EXPECT_GT(everything.size(), seen.size()) << method;
  }
}

TEST_F(AccessMatrixTest, ANamespaceIsNotLeftByWhatARequestSays) {
  const std::string token = bench_.Token(Role::kAdmin, "pay", "ann");
  EXPECT_EQ(
      bench_
          .Call("OperatorService/ApplyJobs",
                FillIn(RequestTo(*FindAccessRule("OperatorService/ApplyJobs")), foreign_), token)
          .error_code(),
      grpc::StatusCode::PERMISSION_DENIED);
  // A name that is taken elsewhere is not taken over.
  const grpc::Status taken =
      bench_.Call("OperatorService/ApplyJobs",
                  FillIn("jobs {name: 'zzforeign-daily' app: 'recon' handler: 'h' namespace: 'pay' "
                         "schedule {cron: '0 0 2 * * ?' zone: 'UTC'}}",
                         own_),
                  token);
  EXPECT_EQ(taken.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(taken.error_message(), HasSubstr("names of jobs are unique"));
  EXPECT_EQ(bench_.db().Sql("SELECT version FROM job WHERE name = 'zzforeign-daily'"), "1");
  EXPECT_EQ(
      bench_.Call("AccessService/CreateToken", "name: 'x' role: 'admin' namespace: 'ops'", token)
          .error_code(),
      grpc::StatusCode::PERMISSION_DENIED);
  ASSERT_TRUE(bench_.Call("AccessService/CreateToken", "name: 'x' role: 'admin'", token).ok());
  EXPECT_EQ(bench_.db().Sql("SELECT namespace FROM token WHERE name = 'x'"), "pay");
  EXPECT_EQ(bench_
                .Call("AlertService/SilenceAlerts",
                      "namespace: 'ops' duration {seconds: 60} reason: 'r'", token)
                .error_code(),
            grpc::StatusCode::NOT_FOUND);
  ASSERT_TRUE(bench_
                  .Call("AlertService/SilenceAlerts",
                        "kind: 'run_failed' duration {seconds: 60} reason: 'mine'", token)
                  .ok());
  EXPECT_EQ(bench_.db().Sql("SELECT namespace FROM alert_silence WHERE reason = 'mine'"), "pay");
  EXPECT_EQ(bench_
                .Call("OperatorService/TriggerJob",
                      FillIn("name: '{beat}' executor_id: 'zzforeign-executor'", own_), token)
                .error_code(),
            bench_
                .Call("OperatorService/TriggerJob",
                      FillIn("name: '{beat}' executor_id: 'zznowhere-executor'", own_), token)
                .error_code());
}

TEST_F(AccessMatrixTest, ACascadeDoesNotLeaveTheNamespace) {
  const std::string all = bench_.Token(Role::kAdmin, "", "root");
  const std::string ann = bench_.Token(Role::kOperator, "pay", "ann");
  const std::string rerun = FillIn("run_id: '{ended}' force: true cascade: true", own_);
  EXPECT_TRUE(bench_.Call("OperatorService/RerunRun", rerun, ann).ok());
  ASSERT_TRUE(bench_
                  .Call("OperatorService/ApplyJobs",
                        FillIn("jobs {name: 'zzforeign-after' app: 'x' handler: 'h' namespace: "
                               "'ops' after {job: '{job}'} schedule {cron: '0 0 2 * * ?' zone: "
                               "'UTC'}}",
                               own_),
                        all)
                  .ok());
  EXPECT_EQ(bench_.Call("OperatorService/RerunRun", rerun, ann).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(bench_.Call("OperatorService/RerunRun", rerun, all).ok());
  EXPECT_EQ(
      bench_
          .Call("OperatorService/ApplyJobs",
                FillIn("jobs {name: '{mark}-spy' app: 'x' handler: 'h' namespace: 'pay' after "
                       "{job: 'zzforeign-daily'} schedule {cron: '0 0 2 * * ?' zone: 'UTC'}}",
                       own_),
                ann)
          .error_code(),
      grpc::StatusCode::INVALID_ARGUMENT)
      << "nobody looks at a foreign job by waiting for it";
}

TEST_F(AccessMatrixTest, TheActorIsWhoseTokenItIsWhateverTheRequestSays) {
  const std::string token = bench_.Token(Role::kOperator, "pay", "ann");
  ASSERT_TRUE(bench_
                  .Call("OperatorService/PauseJob",
                        FillIn("name: '{job}' reason: 'r' actor: 'the boss'", own_), token)
                  .ok());
  EXPECT_EQ(bench_.db().Sql("SELECT actor FROM command WHERE kind = 'pause'"), "ann");
  EXPECT_EQ(bench_.db().Sql("SELECT actor || ' ' || before FROM audit WHERE action = 'pause'"),
            "ann not paused");
}

TEST_F(AccessMatrixTest, TheAuditTellsWhatCameOfAnOrderAndIsFiltered) {
  const std::string ann = bench_.Token(Role::kOperator, "pay", "ann");
  const std::string pause = FillIn("name: '{job}' reason: 'stocktaking'", own_);
  for (const char* end :
       {"code = 0, result = '{\"message\": \"it is paused\"}'", "code = 0, result = ''",
        "code = 0, result = '{\"run_id\": \"r1\"}'", "code = 9, result = 'it is paused already'"}) {
    ASSERT_TRUE(bench_.Call("OperatorService/PauseJob", pause, ann).ok());
    bench_.db().Sql(std::string("UPDATE command SET done_at = now(), ") + end +
                    " WHERE kind = 'pause' AND done_at IS NULL");
  }
  ASSERT_TRUE(bench_.Call("OperatorService/PauseJob", pause, ann).ok());  // still open
  const auto list = [&](const std::string& request) {
    std::string answer;
    EXPECT_TRUE(bench_.Call("AccessService/ListAudit", request, ann, &answer).ok()) << request;
    return answer;
  };
  const auto entries = [](const std::string& answer) {
    size_t count = 0;
    for (size_t at = answer.find("entries {"); at != std::string::npos;
         at = answer.find("entries {", at + 1)) {
      ++count;
    }
    return count;
  };
  const std::string all = list("action: 'pause'");
  EXPECT_EQ(entries(all), 5u);
  EXPECT_THAT(all, HasSubstr("after: \"it is paused\""));
  EXPECT_THAT(all, HasSubstr("after: \"run r1\""));
  EXPECT_THAT(all, HasSubstr("outcome: \"OK\""));
  EXPECT_THAT(all, HasSubstr("outcome: \"refused: it is paused already\""));
  EXPECT_THAT(all, HasSubstr("reason: \"stocktaking\""));
  EXPECT_EQ(entries(list("action: 'pause' limit: 2")), 2u);
  EXPECT_EQ(entries(list(FillIn("action: 'pause' job: '{job}' actor: 'ann'", own_))), 5u);
  EXPECT_EQ(entries(list(FillIn("action: 'pause' job: '{beat}'", own_))), 0u);
  EXPECT_EQ(entries(list("action: 'pause' actor: 'bob'")), 0u);
  EXPECT_EQ(entries(list("action: 'pause' from {seconds: 1}")), 5u);
  EXPECT_EQ(entries(list("action: 'pause' from {seconds: 9999999999}")), 0u);
  EXPECT_EQ(entries(list("action: 'pause' to {seconds: 1}")), 0u);
}

TEST_F(AccessMatrixTest, ARevokedTokenIsRefusedAndItsSuccessorIsNot) {
  const std::string admin = bench_.Token(Role::kAdmin, "", "root");
  const std::string old_token = bench_.Token(Role::kViewer, "pay", "ann");
  const std::string new_token = bench_.Token(Role::kViewer, "pay", "ann");
  EXPECT_TRUE(bench_.Call("OperatorService/ListJobs", "", old_token).ok());
  EXPECT_TRUE(bench_.Call("OperatorService/ListJobs", "", new_token).ok());
  const std::string id =
      bench_.db().Sql("SELECT token_id FROM token WHERE name = 'ann' ORDER BY created_at LIMIT 1");
  ASSERT_TRUE(bench_.Call("AccessService/RevokeToken", "token_id: '" + id + "'", admin).ok());
  EXPECT_EQ(bench_.Call("OperatorService/ListJobs", "", old_token).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(bench_.Call("OperatorService/ListJobs", "", new_token).ok());
  std::string list;
  ASSERT_TRUE(bench_.Call("AccessService/ListTokens", "all: true", admin, &list).ok());
  for (const std::string& secret : {old_token, new_token, admin}) {
    EXPECT_THAT(list, Not(HasSubstr(secret.substr(4))));
    EXPECT_THAT(list, Not(HasSubstr(TokenHash(secret))));
    EXPECT_EQ(bench_.db().Sql("SELECT count(*) FROM token t WHERE t::text LIKE '%' || $1 || '%'",
                              {secret.substr(4)}),
              "0");
  }
}

TEST_F(AccessMatrixTest, WhatTokensMayBe) {
  const std::string admin = bench_.Token(Role::kAdmin, "", "root");
  for (const char* bad :
       {"name: 'x'", "role: 'admin'", "name: 'x' role: 'executor'", "name: 'x' role: 'root'",
        "name: 'x' role: 'viewer' app: 'recon'", "name: 'x\\n' role: 'viewer'",
        "name: 'x' role: 'viewer' valid_for {seconds: 59}",
        "name: 'x' role: 'viewer' valid_for {seconds: 999999999}"}) {
    EXPECT_EQ(bench_.Call("AccessService/CreateToken", bad, admin).error_code(),
              grpc::StatusCode::INVALID_ARGUMENT)
        << bad;
  }
  ASSERT_TRUE(bench_.Call("AccessService/CreateToken", "app: 'ledger'", admin).ok());
  EXPECT_EQ(bench_.db().Sql("SELECT name || role || namespace || app || (expires_at - created_at > "
                            "interval '364 days') FROM token WHERE app = 'ledger'"),
            "ledgerexecutordefaultledgertrue");
}

}  // namespace
}  // namespace tidemark
