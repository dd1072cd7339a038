// Commands as handlers, with real processes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <string>

#include "common/status.h"
#include "executor/agent/command_handler.h"
#include "tests/executor/process_check.h"
#include "tests/executor/temp_dir.h"

namespace tidemark::agent {
namespace {

class CommandTest : public testing::Test {
 protected:
  CommandTest() {
    auto guard = ProcessGuard::Start();
    EXPECT_TRUE(guard.ok());
    guard_ = *std::move(guard);
    auto records = CommandRecords::Open(dir_.path() + "/commands");
    EXPECT_TRUE(records.ok());
    records_ = *std::move(records);
  }

  static CommandConfig Shell(const std::string& script) {
    CommandConfig config;
    config.name = "cmd";
    config.command = {"/bin/sh", "-c", script};
    config.kill_grace = absl::Seconds(5);
    return config;
  }

  RunResult Run(const CommandConfig& config, const RunRequest& request = {}) {
    const std::map<std::string, std::string> environment = {{"PATH", "/usr/bin:/bin"},
                                                            {"KEPT", "yes"}};
    const CommandHandler handler(config, std::nullopt, environment, *guard_, *records_,
                                 SystemClock());
    return RunOnce([&](Context& run) { return handler.Run(run); }, request);
  }

  int PidIn(const std::string& name) {
    int pid = 0;
    std::ifstream(dir_.path() + "/" + name) >> pid;
    return pid;
  }

  TempDir dir_;
  std::unique_ptr<ProcessGuard> guard_;
  std::unique_ptr<CommandRecords> records_;
};

TEST_F(CommandTest, OutputIsTheLogAndExitCodeTheOutcome) {
  const RunResult good = Run(Shell("echo out; echo err >&2; exit 0"));
  EXPECT_TRUE(good.outcome.ok());
  EXPECT_EQ(good.log, "out\nerr\n");
  const RunResult bad = Run(Shell("exit 3"));
  EXPECT_EQ(bad.outcome.kind, Outcome::Kind::kRetry);
  EXPECT_EQ(bad.outcome.message, "exit code 3");
  const RunResult killed = Run(Shell("kill -9 $$"));
  EXPECT_EQ(killed.outcome.kind, Outcome::Kind::kRetry);
  EXPECT_NE(killed.outcome.message.find("signal 9"), std::string::npos);
}

TEST_F(CommandTest, RetryLists) {
  CommandConfig listed = Shell("exit $TIDEMARK_PARAM_CODE");
  listed.retry_on = {75};
  RunRequest request;
  request.params = {{"code", "75"}};
  EXPECT_EQ(Run(listed, request).outcome.kind, Outcome::Kind::kRetry);
  request.params = {{"code", "1"}};
  EXPECT_EQ(Run(listed, request).outcome.kind, Outcome::Kind::kFailed);
  CommandConfig excluded = Shell("exit $TIDEMARK_PARAM_CODE");
  excluded.no_retry_on = {2};
  EXPECT_EQ(Run(excluded, request).outcome.kind, Outcome::Kind::kRetry);
  request.params = {{"code", "2"}};
  EXPECT_EQ(Run(excluded, request).outcome.kind, Outcome::Kind::kFailed);
}

TEST_F(CommandTest, EnvironmentSaysWhatToDo) {
  CommandConfig config = Shell(
      "echo $TIDEMARK_BIZ_DATE $TIDEMARK_JOB $TIDEMARK_ATTEMPT $TIDEMARK_CHECKPOINT "
      "$TIDEMARK_BATCH_ID $TIDEMARK_NOMINAL_TIME $TIDEMARK_FIRE_TIME $OWN $KEPT; "
      "printf %s \"$TIDEMARK_PARAM_BILL_DIR\"");
  config.env = {{"OWN", "mine"}};
  RunRequest request;
  request.attempt = 2;
  request.checkpoint = "row-9";
  request.params = {{"bill-dir", "/data; rm -rf $HOME"}};  // no shell sees it on the way
  EXPECT_EQ(Run(config, request).log,
            "2026-01-01 test 2 row-9 test/2026-01-01 2026-01-02T01:00:00 1970-01-01T00:00:00Z mine "
            "yes\n/data; rm -rf $HOME");
}

TEST_F(CommandTest, ArgumentsAreNotInterpreted) {
  CommandConfig config;
  config.name = "echo";
  config.command = {"echo", "$HOME", "a b", "*"};
  EXPECT_EQ(Run(config).log, "$HOME a b *\n");
}

TEST_F(CommandTest, WorkingDirectoryAndEmptyStdin) {
  CommandConfig config = Shell("pwd; cat; ls /proc/self/fd | wc -l");
  config.workdir = "/usr";
  // stdin, stdout, stderr, the progress descriptor and ls's own: nothing of the agent leaks in.
  EXPECT_EQ(Run(config).log, "/usr\n5\n");
}

TEST_F(CommandTest, WhatCannotRunSaysWhy) {
  CommandConfig missing;
  missing.command = {"no-such-program"};
  const RunResult result = Run(missing);
  EXPECT_EQ(result.outcome.kind, Outcome::Kind::kFailed);
  EXPECT_NE(result.outcome.message.find("no such program in PATH"), std::string::npos);
  missing.command = {"/etc/passwd"};
  EXPECT_NE(Run(missing).outcome.message.find("Permission denied"), std::string::npos);
  CommandConfig lost = Shell("exit 0");
  lost.workdir = "/nowhere";
  EXPECT_NE(Run(lost).outcome.message.find("cannot enter /nowhere"), std::string::npos);
}

TEST_F(CommandTest, ProgressDescriptor) {
  const RunResult result =
      Run(Shell("echo '50 row-5 half way' >&$TIDEMARK_PROGRESS_FD; "
                "echo 'result_rows=7 result_digest=d' >&$TIDEMARK_PROGRESS_FD"));
  EXPECT_EQ(result.percent, 50);
  EXPECT_EQ(result.checkpoint, "row-5");
  EXPECT_EQ(result.fingerprint, (Fingerprint{7, "d"}));
}

TEST_F(CommandTest, CancelKillsTheGroupGrandchildrenIncluded) {
  RunRequest request;
  request.cancel_at_percent = 10;
  const RunResult result =
      Run(Shell("sh -c 'trap \"\" TERM; sh -c \"trap : TERM; echo \\$\\$ > " + dir_.path() +
                "/grandchild; while :; do sleep 1; done\"' & "
                "while ! [ -s " +
                dir_.path() + "/grandchild ]; do sleep 0.01; done; echo 10 >&3; sleep 60"),
          request);
  EXPECT_EQ(result.outcome.kind, Outcome::Kind::kStopped);
  const int grandchild = PidIn("grandchild");
  ASSERT_GT(grandchild, 0);
  EXPECT_FALSE(IsAlive(grandchild));
}

TEST_F(CommandTest, TermIsTriedBeforeKill) {
  RunRequest request;
  request.cancel_at_percent = 10;
  const RunResult polite = Run(
      Shell("trap 'echo bye; exit 0' TERM; echo 10 >&3; while :; do sleep 0.05; done"), request);
  EXPECT_NE(polite.log.find("bye\n"), std::string::npos);
  EXPECT_EQ(polite.outcome.kind, Outcome::Kind::kStopped);  // exit code 0, but told to stop
  CommandConfig deaf = Shell("trap '' TERM; echo 10 >&3; while :; do sleep 0.05; done");
  deaf.kill_grace = absl::Milliseconds(200);
  const RunResult killed = Run(deaf, request);
  EXPECT_NE(killed.outcome.message.find("ignored TERM"), std::string::npos);
}

TEST_F(CommandTest, TimeoutStopsAndIsRetried) {
  CommandConfig slow = Shell("sleep 60");
  slow.timeout = absl::Milliseconds(200);
  const RunResult result = Run(slow);
  EXPECT_EQ(result.outcome.kind, Outcome::Kind::kRetry);
  EXPECT_NE(result.outcome.message.find("over its timeout of 200ms"), std::string::npos);
}

TEST_F(CommandTest, NothingOfTheGroupOutlivesTheRun) {
  const RunResult result =
      Run(Shell("sleep 60 & echo $! > " + dir_.path() + "/background; exit 0"));
  EXPECT_TRUE(result.outcome.ok());
  EXPECT_FALSE(IsAlive(PidIn("background")));
}

TEST_F(CommandTest, LargeBinaryOutputIsTakenWithoutBlocking) {
  const RunResult result = Run(Shell("head -c 3000000 /dev/zero; exit 4"));
  EXPECT_EQ(result.outcome.message, "exit code 4");
  EXPECT_EQ(result.log.size(), 3000000u);
}

TEST_F(CommandTest, GuardThatWasKilledIsReplaced) {
  const pid_t first = guard_->pid();
  kill(first, SIGKILL);
  ASSERT_TRUE(AwaitTrue([&] { return !IsAlive(first); }));
  EXPECT_TRUE(Run(Shell("exit 0")).outcome.ok());
  EXPECT_NE(guard_->pid(), first);
  EXPECT_TRUE(IsAlive(guard_->pid()));
}

TEST_F(CommandTest, RecordsAreHeldByOneAgent) {
  EXPECT_TRUE(absl::IsFailedPrecondition(CommandRecords::Open(dir_.path() + "/commands").status()));
}

TEST_F(CommandTest, ARecordOfAnotherProcessKillsNobody) {
  // The group number is taken by somebody else by now: here, by this test itself.
  std::ofstream(dir_.path() + "/commands/" + std::to_string(getpgrp()) + ".command")
      << getpgrp() << " 12345 unknown " << "run";
  const auto killed = records_->KillSurvivors(SystemClock(), absl::Seconds(5));
  ASSERT_TRUE(killed.ok());
  EXPECT_EQ(*killed, 0);
}

}  // namespace
}  // namespace tidemark::agent
