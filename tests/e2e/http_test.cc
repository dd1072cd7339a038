// The HTTP listener of a real scheduler, as curl, Prometheus and an orchestrator use it.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "tests/e2e/world.h"
#include "tests/support/raw_client.h"

namespace tidemark {
namespace {

class HttpWorld : public World {
 public:
  HttpWorld() {
    settings.scheduler_env["TIDEMARK_HTTP_LISTEN"] = "127.0.0.1:0";
    settings.scheduler_env["TIDEMARK_HTTP_ADDRESS_FILE"] = Path("http.addr");
  }
  void StartAndWait() {
    StartScheduler();
    ASSERT_TRUE(WaitFor([&] { return !ReadFile(Path("http.addr")).empty(); }));
    std::ifstream(Path("http.addr")) >> http_;
    ASSERT_TRUE(WaitFor([&] { return Get("/readyz").status == 200; }));
  }
  const std::string& http() const { return http_; }
  RawResponse Get(const std::string& path) const { return HttpGet(http_, path); }
  RawResponse Post(const std::string& method, const std::string& json) const {
    return HttpPost(http_, "/v1/" + method, json);
  }
  // The value of a line of /metrics that begins with `name`; -1 when there is none.
  double Metric(const std::string& name) const {
    const std::string text = "\n" + Get("/metrics").body;
    const size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::atof(text.c_str() + at + name.size() + 2);
  }

 private:
  std::string http_;
};

// The text behind "key":" of an answer.
std::string Field(const std::string& json, const std::string& key) {
  const std::string mark = "\"" + key + "\":\"";
  const size_t at = json.find(mark);
  if (at == std::string::npos) return "";
  return json.substr(at + mark.size(), json.find('"', at + mark.size()) - at - mark.size());
}

TEST(HttpTest, TriggerLookAndAcknowledge) {
  HttpWorld world;
  world.StartAndWait();
  world.StartAgent("a1", "exit 1");
  world.Apply(
      "jobs:\n  - name: bad\n    app: ops\n    handler: work\n"
      "    schedule: {manual: true, zone: UTC}\n    retry: {max_attempts: 1}\n");
  RawResponse response = world.Post("OperatorService/TriggerJob", R"({"name":"bad"})");
  ASSERT_EQ(response.status, 200) << response.body;
  const std::string run = Field(response.body, "run_id");
  EXPECT_EQ(run.size(), 36u) << response.body;
  EXPECT_TRUE(WaitFor([&] {
    response = world.Post("OperatorService/GetRun", R"({"run_id":")" + run + "\"}");
    return response.body.find(R"("status":"FAILED")") != std::string::npos;
  })) << response.body;
  response = world.Post("OperatorService/ListRuns", R"({"job":"bad","statuses":["FAILED"]})");
  EXPECT_NE(response.body.find(run), std::string::npos) << response.body;
  // The alert that it left is acknowledged; the database and the CLI agree.
  response = world.Post("OperatorService/ListAlerts", R"({"job":"bad"})");
  const std::string alert = Field(response.body, "alert_id");
  ASSERT_FALSE(alert.empty()) << response.body;
  response = world.Post("AlertService/AckAlert",
                        R"({"alert_id":")" + alert + R"(","note":"seen","actor":"curl"})");
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(world.Sql("SELECT acked_by IS NOT NULL FROM alert WHERE alert_id = '" + alert + "'"),
            "t");
  response = world.Post("OperatorService/TriggerJob", R"({"name":"bat"})");
  EXPECT_EQ(response.status, 404);
  EXPECT_NE(response.body.find("bad"), std::string::npos) << response.body;
  EXPECT_EQ(world.Post("OperatorService/TriggerJob", R"({"nome":"bad"})").status, 400);
}

// Every name that the documentation promises is there, and the values move.
TEST(HttpTest, MetricsMoveWithWhatHappens) {
  HttpWorld world;
  world.StartAndWait();
  world.StartAgent("a1", "[ $TIDEMARK_ATTEMPT -ge 2 ]");
  world.Apply(
      "jobs:\n  - name: tick\n    app: ops\n    handler: work\n"
      "    schedule: {every: 1s, zone: UTC}\n    retry: {max_attempts: 3, backoff: [0s]}\n"
      "  - name: far\n    app: nobody\n    handler: work\n"
      "    schedule: {cron: \"0 0 1 * * ?\", zone: Asia/Shanghai}\n    start_date: " +
      DueDates(2).front() + "\n");
  const std::string ops = "{app=\"ops\"}";
  EXPECT_TRUE(WaitFor([&] {
    return world.Metric("tidemark_runs_finished_total{app=\"ops\",status=\"COMPLETED\"}") >= 3;
  })) << world.Get("/metrics").body;
  EXPECT_GE(world.Metric("tidemark_due_total" + ops), 3);
  EXPECT_GE(world.Metric("tidemark_fired_total" + ops), 3);
  EXPECT_GE(world.Metric("tidemark_retries_total" + ops), 3);
  EXPECT_GE(world.Metric("tidemark_attempts_ended_total{app=\"ops\",outcome=\"FAILED_RETRYABLE\"}"),
            3);
  EXPECT_GE(world.Metric("tidemark_lateness_seconds_count"), 3);
  EXPECT_GT(world.Metric("tidemark_lateness_seconds_sum"), 0);
  EXPECT_GE(world.Metric("tidemark_flush_rows_count"), 3);
  EXPECT_GT(world.Metric("tidemark_flush_seconds_sum"), 0);
  EXPECT_GT(world.Metric("tidemark_loop_lag_seconds_count"), 3);
  EXPECT_TRUE(
      WaitFor([&] { return world.Metric("tidemark_executors{app=\"ops\",state=\"up\"}") == 1; }));
  EXPECT_EQ(world.Metric("tidemark_slots" + ops), 4);
  EXPECT_GE(world.Metric("tidemark_slots_used" + ops), 0);
  EXPECT_EQ(world.Metric("tidemark_executor_streams"), 1);
  EXPECT_EQ(world.Metric("tidemark_jobs"), 2);
  EXPECT_EQ(world.Metric("tidemark_shards_owned"), 128);
  EXPECT_EQ(world.Metric("tidemark_active"), 1);
  EXPECT_GT(world.Metric("tidemark_lease_remaining_seconds"), 0);
  EXPECT_GT(world.Metric("tidemark_lease_age_seconds"), 0);
  EXPECT_LT(world.Metric("tidemark_clock_offset_seconds"), 5);
  EXPECT_GE(world.Metric("tidemark_clock_uncertainty_seconds"), 0);
  // Nobody runs "far": its dates wait, and grow older.
  EXPECT_TRUE(WaitFor([&] { return world.Metric("tidemark_unsettled_dates") == 2; }));
  EXPECT_GT(world.Metric("tidemark_oldest_unsettled_date_age_seconds"), 3600);
  EXPECT_GE(world.Metric("tidemark_alerts_open"), 0);
  EXPECT_EQ(world.Metric("tidemark_alerts_pending"), 0);
  EXPECT_GE(world.Metric("tidemark_runs_waiting{app=\"nobody\"}"), 1);
  EXPECT_GE(world.Metric("tidemark_catch_up_waiting{app=\"nobody\"}"), 0);
}

TEST(HttpTest, HealthSaysWhyNot) {
  HttpWorld world;
  world.StartAndWait();
  EXPECT_EQ(world.Get("/healthz").status, 200);
  // Another node with this one's shards: there is nothing that this one may do.
  world.Sql("UPDATE node_fence SET fenced = true RETURNING 1");
  world.Sql("ALTER TABLE scheduler_node RENAME TO scheduler_node_away");
  EXPECT_TRUE(WaitFor([&] { return world.Get("/readyz").status == 503; }, absl::Seconds(40)));
  EXPECT_GT(world.Get("/readyz").body.size(), 5u);
  EXPECT_EQ(world.Get("/healthz").status, 200) << "a restart would mend nothing";
  world.Sql("ALTER TABLE scheduler_node_away RENAME TO scheduler_node");
  EXPECT_TRUE(WaitFor([&] { return world.Get("/readyz").status == 200; }, absl::Seconds(40)));
}

TEST(HttpTest, TheLogLevelChangesWithoutARestart) {
  HttpWorld world;
  std::ofstream(world.Path("scheduler.yaml")) << "log-level: error\nlog-format: json\n";
  world.StartAndWait();
  EXPECT_EQ(ReadFile(world.Path("scheduler.log")).find("\"level\":\"info\""), std::string::npos);
  std::ofstream(world.Path("scheduler.yaml"), std::ios::trunc)
      << "log-level: info\nlog-format: json\n";
  world.program("scheduler").Signal(SIGHUP);
  ASSERT_TRUE(WaitFor([&] {
    return ReadFile(world.Path("scheduler.log")).find("log level read again") != std::string::npos;
  }));
  world.StartAgent("a1", "true");
  EXPECT_TRUE(WaitFor([&] {
    return ReadFile(world.Path("scheduler.log"))
               .find(
                   R"("level":"info","program":"tidemark-scheduler","event":"executor registered")") !=
           std::string::npos;
  }));
}

TEST(HttpTest, TheAgentsLogLevelChangesWithoutARestart) {
  World world;
  world.settings.agent_yaml = "log_level: info\nlog_format: json\n";
  world.StartScheduler();
  world.StartAgent("a1", "true");
  const auto log = [&] { return ReadFile(world.Path("a1.log")); };
  std::string file = ReadFile(world.Path("a1.yaml"));
  file.replace(file.find("log_level: info"), 15, "log_level: warn");
  std::ofstream(world.Path("a1.yaml"), std::ios::trunc) << file;
  world.program("a1").Signal(SIGHUP);
  const std::string told = "\"event\":\"log level read again\",\"level\":\"warn\"";
  ASSERT_TRUE(WaitFor([&] { return log().find(told) != std::string::npos; })) << log();
  EXPECT_TRUE(WaitFor([&] { return world.Sql("SELECT state FROM executor") == "UP"; }))
      << "SIGHUP does not end it";
  // It says by an info that it drains.
  EXPECT_NE(log().find("\"level\":\"info\""), std::string::npos) << log();
  world.program("a1").Signal(SIGTERM);
  EXPECT_TRUE(WaitFor([&] { return !world.program("a1").Running(); }));
  const std::string after = log();
  EXPECT_EQ(after.find("\"level\":\"info\"", after.find(told)), std::string::npos) << after;
}

}  // namespace
}  // namespace tidemark
