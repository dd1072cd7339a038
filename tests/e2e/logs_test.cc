// Logs of runs, from the command's output to the operator's terminal.
#include <gtest/gtest.h>

#include <fstream>

#include "scheduler/engine/run_log.h"
#include "tests/e2e/world.h"

namespace tidemark {
namespace {

class LogsTest : public testing::Test {
 protected:
  // One run of a command that waits for the file "go" where the script says $WAIT.
  void StartRun(const std::string& script, const std::string& more = "") {
    world_.StartScheduler();
    const std::string wait = "while [ ! -e $WORLD/go ]; do sleep 0.02; done";
    std::string text = script;
    if (const size_t at = text.find("$WAIT"); at != std::string::npos) text.replace(at, 5, wait);
    world_.StartAgent("a1", text);
    world_.ApplyDaily("daily", "ops", "work", 1, more);
    ASSERT_TRUE(WaitFor([&] { return !world_.Journal().empty(); }));
    run_id_ = world_.Sql("SELECT run_id FROM run ORDER BY run_id LIMIT 1");
  }
  void Follow(std::vector<std::string> more = {}) {
    std::vector<std::string> argv = {"tidemark", "run", "logs", run_id_, "-f"};
    argv.insert(argv.end(), more.begin(), more.end());
    world_.StartProgram("follow", argv);
  }
  std::string Followed() const { return ReadFile(world_.Path("follow.out")); }
  std::string FollowedErr() const { return ReadFile(world_.Path("follow.err")); }
  bool Shows(const std::string& words) {
    return WaitFor([&] { return Followed().find(words) != std::string::npos; });
  }
  void ExpectFollowEnds() {
    EXPECT_EQ(world_.program("follow").Wait(absl::Seconds(30)), 0) << FollowedErr();
  }

  World world_;
  std::string run_id_;
};

std::string Numbered(size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += "line " + std::to_string(i) + "\n";
  text.resize(bytes);
  return text;
}

TEST_F(LogsTest, TenMebibytesAndEveryByteAreKeptUpToTheLimit) {
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes += static_cast<char>(i % 256);
  std::ofstream(world_.Path("bytes"), std::ios::binary) << bytes;
  const std::string big = Numbered(10u << 20);
  std::ofstream(world_.Path("big"), std::ios::binary) << big;
  StartRun(
      "cat $WORLD/bytes; $WAIT; for i in $(seq 0 159); do "
      "dd if=$WORLD/big bs=65536 skip=$i count=1 2>/dev/null; done; echo the end >&2");
  Follow({"--raw"});
  // Long before the run's end, and byte-exact.
  ASSERT_TRUE(WaitFor([&] { return Followed() == bytes; }));
  world_.Touch("go");
  ExpectFollowEnds();
  const std::string got = Followed();
  EXPECT_EQ(std::to_string(got.size()), world_.Sql("SELECT sum(octet_length(data)) FROM run_log"));
  // An executor that prints faster than it can send says itself what it dropped.
  if (got.find("bytes of log dropped") == std::string::npos) {
    EXPECT_EQ(got.size(), kRunLogLimit);
    EXPECT_TRUE(got == (bytes + big).substr(0, kRunLogLimit));
    const size_t cut = bytes.size() + big.size() + std::string("the end\n").size() - kRunLogLimit;
    EXPECT_EQ(FollowedErr(),
              "[" + std::to_string(cut) + " bytes are cut: the first 4 MiB of a log are kept]\n");
  }
  // A second look shows the same.
  world_.StartProgram("again", {"tidemark", "run", "logs", run_id_, "--raw"});
  EXPECT_EQ(world_.program("again").Wait(absl::Seconds(30)), 0);
  EXPECT_TRUE(ReadFile(world_.Path("again.out")) == got);
  EXPECT_EQ(world_.Sql("SELECT status FROM run_history"), "COMPLETED");
}

TEST_F(LogsTest, FollowingGoesOnOverARetryAndEndsWithTheRun) {
  StartRun(
      "echo attempt $TIDEMARK_ATTEMPT; if [ $TIDEMARK_ATTEMPT = 1 ]; then $WAIT; "
      "printf 'torn \\033[31m'; exit 1; fi; echo well",
      "    retry: {max_attempts: 2, backoff: [0s]}\n");
  Follow();
  ASSERT_TRUE(Shows("attempt 1\n"));
  EXPECT_EQ(Followed(), "attempt 1\n");
  world_.Touch("go");
  ExpectFollowEnds();
  EXPECT_EQ(Followed(), "attempt 1\ntorn \\x1b[31m\nattempt 2\nwell\n");
  EXPECT_NE(FollowedErr().find("==> attempt 2 <=="), std::string::npos);
  const World::Answer one = world_.Cli({"run", "logs", run_id_, "--attempt", "1"});
  EXPECT_EQ(one.output, "attempt 1\ntorn \\x1b[31m\n");
  const World::Answer none = world_.Cli({"run", "logs", run_id_, "--attempt", "3"});
  EXPECT_EQ(none.code, 3) << none.output;
}

// Every stored byte is one that the command printed, at its place; a gap may only be there where
// the scheduler was killed, and is said.
TEST_F(LogsTest, AKilledSchedulerLosesAtMostWhatItHadNotWritten) {
  StartRun(
      "i=0; while [ ! -e $WORLD/go ]; do echo line $i; i=$((i+1)); sleep 0.005; done; echo last");
  Follow();
  for (int kill = 0; kill < 3; ++kill) {
    const size_t before = Followed().size();
    ASSERT_TRUE(WaitFor([&] { return Followed().size() > before + 500; })) << FollowedErr();
    world_.Kill("scheduler");
    world_.StartScheduler();
  }
  const size_t before = Followed().size();
  ASSERT_TRUE(WaitFor([&] { return Followed().size() > before + 500; })) << FollowedErr();
  world_.Touch("go");
  ExpectFollowEnds();
  EXPECT_EQ(world_.Sql("SELECT status || attempt FROM run_history"), "COMPLETED1");

  const std::string wrong = world_.Sql(
      "WITH text AS (SELECT string_agg('line ' || i || E'\\n', '' ORDER BY i) AS t "
      "FROM generate_series(0, 200000) i) "
      "SELECT count(*) FROM run_log, text WHERE octet_length(data) > 0 AND "
      "convert_from(data, 'UTF8') <> substr(t, start_byte::integer + 1, octet_length(data)) AND "
      "convert_from(data, 'UTF8') !~ 'last\\n$'");
  EXPECT_EQ(wrong, "0");
  const int gaps = std::stoi(world_.Sql(
      "SELECT count(*) FROM (SELECT start_byte, lag(start_byte + octet_length(data), 1, 0::bigint) "
      "OVER (ORDER BY start_byte) AS after FROM run_log) s WHERE start_byte > after"));
  EXPECT_LE(gaps, 3);
  int said = 0;
  const std::string shown = Followed();
  for (size_t at = shown.find("bytes are missing here"); at != std::string::npos;
       at = shown.find("bytes are missing here", at + 1)) {
    ++said;
  }
  EXPECT_EQ(said, gaps) << shown;
  EXPECT_TRUE(shown.ends_with("last\n")) << shown;
}

}  // namespace
}  // namespace tidemark
