// The agent as a program: starts, serves, dies in every way, and leaves no command behind.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "tests/executor/fake_scheduler.h"
#include "tests/executor/process_check.h"
#include "tests/executor/temp_dir.h"

namespace tidemark::agent {
namespace {

using exec::FakeScheduler;

// A child process running tidemark-executor.
class AgentProcess {
 public:
  explicit AgentProcess(const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {TIDEMARK_AGENT};
    all.insert(all.end(), arguments.begin(), arguments.end());
    pid_ = fork();
    if (pid_ != 0) return;
    std::vector<char*> argv;
    for (std::string& argument : all) argv.push_back(argument.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  ~AgentProcess() {
    if (pid_ > 0) Kill(SIGKILL);
  }
  // Sends the signal and returns the wait status.
  int Kill(int signal) {
    kill(pid_, signal);
    return Wait();
  }
  int Wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

class AgentProcessTest : public testing::Test {
 protected:
  std::vector<std::string> Arguments(const std::string& script) {
    const std::string file = dir_.path() + "/agent.yaml";
    std::ofstream(file) << "app: ops\nschedulers: ['" << scheduler_.address()
                        << "']\nspool_dir: " << dir_.path() << "/spool\nhandlers:\n"
                        << "  - name: work\n    command: [/bin/sh, " << dir_.path()
                        << "/work.sh]\n";
    std::ofstream(dir_.path() + "/work.sh") << script;
    return {"--config", file};
  }
  std::string Path(const std::string& name) { return dir_.path() + "/" + name; }
  int AwaitPid(const std::string& name) {
    int pid = 0;
    AwaitTrue([&] {
      std::ifstream(Path(name)) >> pid;
      return pid > 0;
    });
    return pid;
  }
  // The guard: the child of the agent that ignores its signals.
  static std::vector<int> ChildrenOf(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) +
                       "/children");
    std::vector<int> children;
    for (int child = 0; file >> child;) children.push_back(child);
    return children;
  }

  TempDir dir_;
  FakeScheduler scheduler_;
};

TEST_F(AgentProcessTest, RunsACommandAndDrains) {
  AgentProcess agent(Arguments("echo hello $TIDEMARK_BIZ_DATE\n"));
  ASSERT_TRUE(scheduler_.AwaitHello());
  EXPECT_TRUE(scheduler_.hellos[0].handlers(0).interruptible());
  scheduler_.Trigger(1, "work");
  ASSERT_TRUE(scheduler_.AwaitFinished(1));
  EXPECT_EQ(scheduler_.LogOf(1), "hello 2026-11-28\n");
  const int status = agent.Kill(SIGTERM);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(scheduler_.goodbyes, 1);
}

TEST_F(AgentProcessTest, CancelKillsTheCommand) {
  AgentProcess agent(Arguments("sleep 300 & echo $! > " + Path("child") + "; wait\n"));
  ASSERT_TRUE(scheduler_.AwaitHello());
  scheduler_.Trigger(1, "work");
  const int child = AwaitPid("child");
  scheduler_.Cancel(1);
  ASSERT_TRUE(scheduler_.AwaitFinished(1));
  EXPECT_EQ(scheduler_.Finishes(1)[0].outcome(), v1::Finished::STOPPED);
  EXPECT_FALSE(IsAlive(child));
}

TEST_F(AgentProcessTest, DeathOfTheAgentKillsTheGroup) {
  AgentProcess agent(Arguments("sleep 300 & echo $! > " + Path("child") + "; wait\n"));
  ASSERT_TRUE(scheduler_.AwaitHello());
  scheduler_.Trigger(1, "work");
  const int child = AwaitPid("child");
  ASSERT_TRUE(IsAlive(child));
  agent.Kill(SIGKILL);
  EXPECT_TRUE(AwaitTrue([&] { return !IsAlive(child); }));
}

TEST_F(AgentProcessTest, SurvivorsAreKilledBeforeTheNextHello) {
  const auto arguments = Arguments("sleep 300 & echo $! > " + Path("child") + "; wait\n");
  AgentProcess agent(arguments);
  ASSERT_TRUE(scheduler_.AwaitHello());
  const std::vector<int> guards = ChildrenOf(agent.pid());
  ASSERT_EQ(guards.size(), 1u);
  scheduler_.Trigger(1, "work");
  const int child = AwaitPid("child");
  kill(guards[0], SIGKILL);  // nobody is left to clean up
  agent.Kill(SIGKILL);
  ASSERT_TRUE(IsAlive(child));
  AgentProcess next(arguments);
  ASSERT_TRUE(scheduler_.AwaitHello(2));
  EXPECT_FALSE(IsAlive(child));
}

TEST_F(AgentProcessTest, BadUsageAndBadFilesGiveExitCode2) {
  EXPECT_EQ(WEXITSTATUS(AgentProcess({}).Wait()), 2);
  EXPECT_EQ(WEXITSTATUS(AgentProcess({"--config", "/nowhere.yaml"}).Wait()), 2);
  auto arguments = Arguments("");
  arguments.push_back("--check-config");
  EXPECT_EQ(WEXITSTATUS(AgentProcess(arguments).Wait()), 0);
  std::ofstream(Path("agent.yaml")) << "app: ops\nhandler: []\n";
  EXPECT_EQ(WEXITSTATUS(AgentProcess(arguments).Wait()), 2);
}

}  // namespace
}  // namespace tidemark::agent
