// The oracle finds what it is there for, and lets pass what a kill explains.
#include "tests/chaos/journal.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

JournalLine At(double seconds, const std::string& event, const std::string& executor, int pid,
               int attempt = 1) {
  return {event, "day/2026-11-01", attempt, executor, pid, seconds, "token"};
}

JournalLine Killed(double seconds, const std::string& executor) {
  return {"killed", "-", 0, executor, 1, seconds, "-"};
}

std::vector<std::string> Violations(const std::vector<JournalLine>& lines,
                                    bool commits_may_be_lost = false) {
  return JudgeJournal(lines, commits_may_be_lost).violations;
}

TEST(JournalTest, OneAfterTheOtherIsWell) {
  const std::vector<JournalLine> lines = {At(1, "enter", "e1", 10), At(2, "fail", "e1", 10),
                                          At(3, "enter", "e2", 20, 2), At(4, "leave", "e2", 20, 2)};
  const JournalVerdict verdict = JudgeJournal(lines, false);
  EXPECT_TRUE(verdict.violations.empty());
  EXPECT_EQ(verdict.done_batches.count("day/2026-11-01"), 1U);
  EXPECT_EQ(verdict.enters, 2);
}

TEST(JournalTest, TwoAtOnceAreFound) {
  EXPECT_EQ(Violations({At(1, "enter", "e1", 10), At(2, "enter", "e2", 20)}).size(), 1U);
}

TEST(JournalTest, AKilledOneIsNotInsideAnyMore) {
  EXPECT_TRUE(
      Violations({At(1, "enter", "e1", 10), Killed(2, "e1"), At(3, "enter", "e2", 20, 2)}).empty());
  // … but the death of another one explains nothing.
  EXPECT_EQ(
      Violations({At(1, "enter", "e1", 10), Killed(2, "e3"), At(3, "enter", "e2", 20, 2)}).size(),
      1U);
}

TEST(JournalTest, DoneIsDone) {
  EXPECT_EQ(
      Violations({At(1, "enter", "e1", 10), At(2, "leave", "e1", 10), At(3, "enter", "e2", 20, 2)})
          .size(),
      1U);
}

TEST(JournalTest, AKillRightAfterTheEndMayLoseTheResultButNotOneLongAfter) {
  const std::vector<JournalLine> soon = {At(1, "enter", "e1", 10), At(2, "leave", "e1", 10),
                                         Killed(2.5, "e1"), At(9, "enter", "e2", 20, 2)};
  EXPECT_TRUE(Violations(soon).empty());
  EXPECT_EQ(JudgeJournal(soon, false).again_after_kill, 1);
  EXPECT_EQ(Violations({At(1, "enter", "e1", 10), At(2, "leave", "e1", 10), Killed(8, "e1"),
                        At(9, "enter", "e2", 20, 2)})
                .size(),
            1U);
}

TEST(JournalTest, ACommandThatOutlivesItsAgentBesideTheNextAttemptIsFound) {
  EXPECT_EQ(Violations({At(1, "enter", "a1", 10), Killed(2, "a1"), At(3, "enter", "a2", 20, 2),
                        At(4, "leave", "a1", 10), At(5, "leave", "a2", 20, 2)})
                .size(),
            1U);
  // Before the next one began it harms nobody.
  EXPECT_TRUE(Violations({At(1, "enter", "a1", 10), Killed(2, "a1"), At(2.1, "fail", "a1", 10),
                          At(3, "enter", "a2", 20, 2), At(5, "leave", "a2", 20, 2)})
                  .empty());
}

TEST(JournalTest, OnlyAFailOverThatMayLoseCommitsExplainsARepetition) {
  const JournalLine failover = {"failover", "-", 0, "postgres", 0, 3, "-"};
  const std::vector<JournalLine> lines = {At(1, "enter", "e1", 10), At(2, "leave", "e1", 10),
                                          failover, At(9, "enter", "e2", 20)};
  EXPECT_EQ(Violations(lines).size(), 1U);
  EXPECT_TRUE(Violations(lines, true).empty());
}

TEST(JournalTest, LinesAreReadAsTheyWereWritten) {
  const std::string file = testing::TempDir() + "/journal";
  remove(file.c_str());
  AppendJournal(file, At(1.25, "enter", "e1", 10));
  AppendJournal(file, At(2.5, "leave", "e1", 10));
  const std::vector<JournalLine> lines = ReadJournal(file);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1].event, "leave");
  EXPECT_EQ(lines[1].job(), "day");
  EXPECT_EQ(lines[1].seconds, 2.5);
  EXPECT_EQ(lines[1].token, "token");
}

}  // namespace
}  // namespace tidemark
