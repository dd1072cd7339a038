// The next attempt goes on from the last checkpoint, on whatever executor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/e2e/world.h"

namespace tidemark {
namespace {

const char kShortLimits[] = "    timeouts: {lost_after: 8s, cancel_grace: 1s}\n";

std::string AttemptsOf(World& world) {
  return world.Sql(
      "SELECT string_agg(attempt || ' ' || executor_id || ' ' || outcome, ',' ORDER BY attempt) "
      "FROM attempt");
}

double PercentOf(World& world, int attempt) {
  const std::string text = world.Sql("SELECT progress_percent FROM active_run WHERE attempt = " +
                                     std::to_string(attempt));
  return text.empty() ? -1 : std::atof(text.c_str());
}

const char kFingerprint[] =
    "SELECT status || ' ' || result_rows || ' ' || result_digest FROM job_watermark";

TEST(ResumeTest, ReconGoesOnInTheMiddleOfADateOnAnotherExecutor) {
  World world;
  world.StartScheduler();
  world.StartRecon("r1", {"tidemark-recon"}, /*chunk_delay_ms=*/500);
  const auto dates = world.ApplyDaily("recon", "recon", "recon", 1, kShortLimits);
  ASSERT_TRUE(WaitFor([&] { return PercentOf(world, 1) >= 30; }));
  world.Kill("r1");
  const double reached = PercentOf(world, 1);
  ASSERT_LT(reached, 90) << "it must have been half-way";
  world.StartRecon("r2", {"tidemark-recon"}, /*chunk_delay_ms=*/500);
  double least = 100;
  ASSERT_TRUE(WaitFor([&] {
    const double percent = PercentOf(world, 2);
    if (percent >= 0) least = std::min(least, percent);
    return world.StatusOf("recon", dates[0]) == "DONE";
  }));
  EXPECT_GE(least, reached) << "it began anew";
  EXPECT_LT(least, 100);
  EXPECT_EQ(AttemptsOf(world), "1 r1 LOST,2 r2 SUCCEEDED");
  // An undisturbed run of the same date leaves the same.
  const std::string left = world.Sql(kFingerprint);
  EXPECT_EQ(left.substr(0, 5), "DONE ");
  const std::string run = world.Sql("SELECT run_id FROM run_history");
  ASSERT_EQ(world.Cli({"run", "rerun", run, "--force", "--reason", "compare"}).code, 0);
  ASSERT_TRUE(WaitFor([&] {
    return world.Sql("SELECT count(*) FROM run_history WHERE status = 'COMPLETED'") == "2";
  }));
  EXPECT_EQ(world.Sql(kFingerprint), left);
}

TEST(ResumeTest, ACommandGoesOnFromWhatItWroteToItsProgressDescriptor) {
  World world;
  world.StartScheduler();
  const std::string script =
      "if [ -z \"$TIDEMARK_CHECKPOINT\" ]; then printf 'a b ' > $WORLD/out; "
      "echo '50 b half of it' >&$TIDEMARK_PROGRESS_FD; sleep 600; "
      "else echo \"after $TIDEMARK_CHECKPOINT\" > $WORLD/resumed; printf 'c d' >> $WORLD/out; fi";
  world.StartAgent("a1", script);
  const auto dates = world.ApplyDaily("daily", "ops", "work", 1, kShortLimits);
  ASSERT_TRUE(WaitFor([&] { return world.Sql("SELECT checkpoint FROM active_run") == "b"; }));
  world.Kill("a1");
  world.StartAgent("a2", script);
  ASSERT_TRUE(world.AllDone("daily", dates));
  EXPECT_EQ(AttemptsOf(world), "1 a1 LOST,2 a2 SUCCEEDED");
  EXPECT_EQ(ReadFile(world.Path("resumed")), "after b\n");
  EXPECT_EQ(ReadFile(world.Path("out")), "a b c d");
}

// deploy/backup.sh, as the demo runs it.
TEST(ResumeTest, TheBackupScriptLeavesAWholeDumpOrNone) {
  World world;
  world.StartScheduler();
  const std::string bin = world.Sql("SELECT setting FROM pg_config WHERE name = 'BINDIR'");
  world.StartAgent("a1", TIDEMARK_SOURCE_DIR "/deploy/backup.sh",
                   {{"BACKUP_DATABASE_URL", world.database_url()},
                    {"BACKUP_DIR", world.Path("")},
                    {"PG_BIN", bin}});
  const auto dates = world.ApplyDaily("backup", "ops", "work", 1);
  ASSERT_TRUE(world.AllDone("backup", dates));
  const auto list =
      RunCommand({bin + "/pg_restore", "--list", world.Path("backup-" + dates[0] + ".dump")});
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_NE(list->find("TABLE DATA tidemark job "), std::string::npos);

  world.Terminate("a1");
  world.StartAgent("a1", TIDEMARK_SOURCE_DIR "/deploy/backup.sh",
                   {{"BACKUP_DATABASE_URL", world.database_url() + " dbname=nowhere"},
                    {"BACKUP_DIR", world.Path("empty-")},
                    {"PG_BIN", bin}});
  world.ApplyDaily("broken", "ops", "work", 1, "    retry: {max_attempts: 1}\n");
  ASSERT_TRUE(WaitFor([&] { return world.StatusOf("broken", dates[0]) == "FAILED"; }));
  EXPECT_EQ(ReadFile(world.Path("empty-/backup-" + dates[0] + ".dump")), "");
}

}  // namespace
}  // namespace tidemark
