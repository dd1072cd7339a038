// Bad input from outside: each gets a clear error that says what is wrong and what to do.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/e2e/world.h"

namespace tidemark {
namespace {

// Runs the scheduler with `arguments` and expects it to end by itself with `code` and these words.
void ExpectRefusedStart(std::vector<std::string> arguments, int code, const std::string& words) {
  arguments.insert(arguments.begin(), TIDEMARK_BIN_DIR "/tidemark-scheduler");
  char output[] = "/tmp/tidemark-refused-XXXXXX";
  ASSERT_GE(mkstemp(output), 0);
  ProcessOptions options;
  options.argv = std::move(arguments);
  options.output_file = output;
  absl::StatusOr<Process> process = Process::Start(options);
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(process->Wait(absl::Seconds(20)), code) << ReadFile(output);
  EXPECT_NE(ReadFile(output).find(words), std::string::npos) << ReadFile(output);
  unlink(output);
}

TEST(BadInputTest, TheSchedulerSaysWhyItDoesNotStart) {
  ExpectRefusedStart({}, 2, "--database-url");
  ExpectRefusedStart({"--dev", "--database-url", "x"}, 2, "exclude each other");
  ExpectRefusedStart({"--dev", "--listen", "0.0.0.0:7400"}, 2, "not a loopback address");
  ExpectRefusedStart({"--dev", "--listen", "nonsense"}, 2, "HOST:PORT");
  ExpectRefusedStart({"--nonsense"}, 2, "--nonsense");
  ExpectRefusedStart({"--dev", "--data-dir", "/proc/tidemark"}, 1, "data directory");
}

TEST(BadInputTest, ATakenPortIsNamed) {
  World world;
  world.StartScheduler();
  ExpectRefusedStart({"--database-url", "host=/nonexistent", "--listen", world.address()}, 1,
                     "cannot listen on " + world.address());
}

class Operators : public testing::Test {
 protected:
  void SetUp() override {
    world_.StartScheduler();
    ASSERT_TRUE(WaitFor([&] { return world_.Cli({"cluster", "status"}).code == 0; }));
  }
  // Applies a job file with this text.
  World::Answer Apply(const std::string& text) {
    std::ofstream(world_.Path("bad.yaml")) << text;
    return world_.Cli({"job", "apply", "-f", world_.Path("bad.yaml")});
  }
  void ExpectRefused(const World::Answer& answer, int code, const std::string& words) {
    EXPECT_EQ(answer.code, code) << answer.output;
    EXPECT_NE(answer.output.find(words), std::string::npos) << answer.output;
  }
  World world_;
};

TEST_F(Operators, JobFilesThatAreWrongAreRefusedWithTheFieldNamed) {
  const std::string head = "jobs:\n  - {name: j, app: a, handler: h, ";
  ExpectRefused(Apply(head + "schedule: {cron: \"0 0 25 * * ?\", zone: UTC}}\n"), 2, "hour");
  ExpectRefused(Apply(head + "schedule: {cron: \"0 0 1 * * ?\", zone: Asia/Shangai}}\n"), 2,
                "Asia/Shanghai");
  ExpectRefused(Apply(head + "shedule: {cron: \"0 0 1 * * ?\", zone: UTC}}\n"), 2, "schedule");
  ExpectRefused(Apply(head + "retry: {max_attempts: many}, schedule: {manual: true, zone: UTC}}\n"),
                2, "max_attempts");
  ExpectRefused(Apply("jobs: [\n"), 2, "bad.yaml");
  EXPECT_EQ(world_.Sql("SELECT count(*) FROM job"), "0") << "all or none";
}

TEST_F(Operators, OrdersAboutWhatDoesNotExistSayWhatDoes) {
  const auto dates = world_.ApplyDaily("recon", "ops", "work", 2);
  ExpectRefused(world_.Cli({"job", "get", "recom"}), 3, "recon");
  ExpectRefused(world_.Cli({"job", "trigger", "recon", "--biz-date", "2999-01-01"}), 2,
                "2999-01-01");
  ExpectRefused(world_.Cli({"job", "trigger", "recon", "--biz-date", "2001-01-01"}), 2,
                "2001-01-01");
  ExpectRefused(world_.Cli({"run", "get", "00000000-0000-7000-8000-000000000000"}), 3, "run");
  // No executor of the app: the first date waits; a second trigger of it is refused.
  ASSERT_TRUE(WaitFor([&] { return world_.Sql("SELECT count(*) FROM active_run") == "1"; }));
  ExpectRefused(world_.Cli({"job", "trigger", "recon", "--biz-date", dates[0]}), 4, "live already");
  ExpectRefused(world_.Cli({"job", "delete", "recon"}), 4, "run cancel");
}

TEST_F(Operators, AnUnknownHandlerIsToldNotLost) {
  world_.StartAgent("a1", "true");
  world_.ApplyDaily("typo", "ops", "wrok", 1);
  ASSERT_TRUE(WaitFor([&] { return world_.Sql("SELECT count(*) FROM active_run") == "1"; }));
  EXPECT_EQ(world_.Sql("SELECT status || attempt FROM active_run"), "PENDING0");
}

TEST_F(Operators, ARerunOfADoneDateNeedsForce) {
  world_.StartAgent("a1", "true");
  const auto dates = world_.ApplyDaily("daily", "ops", "work", 1);
  ASSERT_TRUE(world_.AllDone("daily", dates));
  const std::string run = world_.Sql("SELECT run_id FROM job_watermark");
  ExpectRefused(world_.Cli({"run", "rerun", run}), 4, "--force");
  const World::Answer forced = world_.Cli({"run", "rerun", run, "--force", "--reason", "audit"});
  EXPECT_EQ(forced.code, 0) << forced.output;
  ASSERT_TRUE(WaitFor([&] { return world_.Sql("SELECT count(*) FROM run_history") == "2"; }));
  EXPECT_EQ(world_.StatusOf("daily", dates[0]), "DONE");
}

}  // namespace
}  // namespace tidemark
