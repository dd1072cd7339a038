#include "common/log.h"

#include <algorithm>
#include <functional>
#include <string>

#include "common/log_control.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

struct Output {
  std::string out;
  std::string err;
};

Output Capture(const std::function<void()>& act) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  act();
  return {testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

// First in the file: nothing has called InitLogging yet.
TEST(Log, GoesToStderrWithoutInitLogging) {
  const Output output = Capture([] { LogInfo("hello", {{"run_id", "42"}}); });
  EXPECT_THAT(output.out, IsEmpty());
  EXPECT_THAT(output.err, EndsWith(" hello run_id=42\n"));
}

TEST(Log, NamesTheProgramAndKeepsTheLevel) {
  const Output output = Capture([] {
    InitLogging("log-test", "warn");
    LogInfo("left out");
    LogWarn("kept");
    Log(LogLevel::kError, "worse");
  });
  EXPECT_THAT(output.out, IsEmpty());
  EXPECT_THAT(output.err, HasSubstr(" warning log-test kept\n"));
  EXPECT_THAT(output.err, EndsWith(" error log-test worse\n"));
  EXPECT_EQ(output.err.find("left out"), std::string::npos);
}

TEST(Log, AnUnknownLevelIsInfoNotSilence) {
  const Output output = Capture([] {
    InitLogging("log-test", "chatty");
    LogInfo("heard");
    Log(LogLevel::kDebug, "not heard");
  });
  EXPECT_THAT(output.err, EndsWith(" heard\n"));
}

TEST(Log, NoInputForgesALine) {
  const Output output = Capture([] {
    InitLogging("log-test", "info");
    LogInfo("a\nb", {{"text", "x\r\n2026 error forged"}, {"quote", "say \"hi\" \\"}, {"none", ""}});
  });
  EXPECT_EQ(std::count(output.err.begin(), output.err.end(), '\n'), 1);
  EXPECT_THAT(output.err, EndsWith("a\\nb text=\"x\\\\r\\\\n2026 error forged\" "
                                   "quote=\"say \\\"hi\\\" \\\\\" none=\"\"\n"));
}

TEST(Log, JsonIsOneObjectALine) {
  const Output output = Capture([] {
    InitLogging("log-test", "info", "json");
    LogInfo("said \"so\"\n", {{"run_id", "42"}, {"bytes", std::string("a\x01\xff\\", 4)}});
  });
  EXPECT_THAT(output.err, HasSubstr(R"("level":"info","program":"log-test",)"
                                    R"("event":"said \"so\"\u000a","run_id":"42",)"));
  EXPECT_THAT(output.err, HasSubstr("\"bytes\":\"a\\u0001\xef\xbf\xbd\\\\\"}\n"));
  EXPECT_EQ(output.err.front(), '{');
  EXPECT_EQ(std::count(output.err.begin(), output.err.end(), '\n'), 1);
}

TEST(Log, TheLevelChangesAtRunTime) {
  const Output output = Capture([] {
    InitLogging("log-test", "error");
    LogInfo("before");
    SetLogLevel("debug");
    Log(LogLevel::kDebug, "after");
  });
  EXPECT_THAT(output.err, EndsWith(" debug log-test after\n"));
  EXPECT_EQ(output.err.find("before"), std::string::npos);
}

TEST(Log, WhatRepeatsTooOftenIsCountedInstead) {
  const int64_t before = SuppressedLogs();
  const Output output = Capture([] {
    InitLogging("log-test", "info");
    for (int i = 0; i < kMostRepeats + 100; ++i) LogWarn("again", {{"n", std::to_string(i)}});
  });
  EXPECT_EQ(std::count(output.err.begin(), output.err.end(), '\n'), kMostRepeats);
  EXPECT_EQ(SuppressedLogs() - before, 100);
}

}  // namespace
}  // namespace tidemark
