// Case D05: too long texts. What a handler gives is cut with a mark and the run ends; what a person
// gives is refused whole.
#include <gtest/gtest.h>

#include <fstream>

#include "common/text.h"
#include "tests/e2e/world.h"

namespace tidemark {
namespace {

class D05TooLongText : public testing::Test {
 protected:
  void SetUp() override {
    world_.StartScheduler();
    world_.StartProgram("limits", {"limits-executor", world_.address()});
    ASSERT_TRUE(WaitFor([&] {
      return world_.Sql(
                 "SELECT count(*) FROM executor WHERE executor_id = 'limits-1' AND "
                 "state = 'UP'") == "1";
    }));
  }

  World::Answer Apply(const std::string& handler, const std::string& more) {
    std::ofstream(world_.Path("job.yaml"))
        << "jobs:\n  - name: " << handler << "\n    app: limits\n    handler: " << handler
        << "\n    schedule: {manual: true}\n    biz_date: {offset: 0}\n"
        << more;
    return world_.Cli({"job", "apply", "-f", world_.Path("job.yaml")});
  }
  // Runs it to its end.
  World::Answer Trigger(const std::string& job) {
    return world_.Cli({"job", "trigger", job, "--wait"});
  }
  // At most `limit` bytes of whole characters with a mark at their end.
  void ExpectCut(const std::string& text, size_t limit) {
    EXPECT_LE(text.size(), limit);
    EXPECT_GT(text.size(), limit - 16);
    EXPECT_TRUE(IsCleanUtf8(text));
    const std::string mark = "…[cut]";
    ASSERT_GT(text.size(), mark.size());
    EXPECT_EQ(text.substr(text.size() - mark.size()), mark);
    EXPECT_EQ(text.substr(0, 9), "账账账");
  }

  World world_;
};

TEST_F(D05TooLongText, AResultOfTenMebibytesIsCutWithAMarkAndTheRunEnds) {
  ASSERT_EQ(Apply("long-result", "").code, 0);
  const World::Answer answer = Trigger("long-result");
  EXPECT_EQ(answer.code, 0) << answer.output;
  EXPECT_EQ(world_.Sql("SELECT status FROM run_history"), "COMPLETED");
  ExpectCut(world_.Sql("SELECT result FROM run_history"), 16 * 1024);
}

TEST_F(D05TooLongText, AnErrorOfTenMebibytesIsCutWithAMarkAndTheRunEnds) {
  ASSERT_EQ(Apply("long-error", "").code, 0);
  const World::Answer answer = Trigger("long-error");
  EXPECT_EQ(answer.code, 1) << answer.output.substr(0, 1000);
  EXPECT_EQ(world_.Sql("SELECT status FROM run_history"), "FAILED");
  ExpectCut(world_.Sql("SELECT message FROM attempt"), 4096);
}

TEST_F(D05TooLongText, ParametersOf64KibibytesArriveByteExact) {
  // 65,536 bytes with the name; every kind of character that JSON, YAML or SQL could bend.
  std::string value = "quote\" back\\slash 'single' {brace} $1 账🙂\u0001\u007f\t ";
  while (value.size() < 65533) value += static_cast<char>('a' + value.size() % 26);
  std::string quoted;
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\x01') {
      quoted += "\\x01";
    } else if (c == '\x7f') {
      quoted += "\\x7f";
    } else if (c == '\t') {
      quoted += "\\t";
    } else {
      quoted += c;
    }
  }
  const World::Answer applied = Apply("params", "    params: {big: \"" + quoted + "\"}\n");
  ASSERT_EQ(applied.code, 0) << applied.output.substr(0, 1000);
  const World::Answer answer = Trigger("params");
  EXPECT_EQ(answer.code, 0) << answer.output.substr(0, 1000);
  const std::string got = ReadFile(world_.Path("param"));
  EXPECT_EQ(got.size(), value.size());
  EXPECT_TRUE(got == value);
  // What the handler logs is the run's log.
  const World::Answer logs =
      world_.Cli({"run", "logs", "-f", world_.Sql("SELECT run_id FROM run_history")});
  EXPECT_EQ(logs.output, "the parameter has 65533 bytes\n");
}

TEST_F(D05TooLongText, ParametersOverTheLimitAreRefusedAtSaveAndAtTheTrigger) {
  const World::Answer applied =
      Apply("params", "    params: {big: \"" + std::string(65534, 'x') + "\"}\n");
  EXPECT_EQ(applied.code, 2) << applied.output.substr(0, 1000);
  EXPECT_NE(applied.output.find("65536"), std::string::npos) << applied.output.substr(0, 1000);
  EXPECT_EQ(world_.Sql("SELECT count(*) FROM job"), "0");

  ASSERT_EQ(Apply("params", "").code, 0);
  const World::Answer triggered =
      world_.Cli({"job", "trigger", "params", "--param", "big=" + std::string(65534, 'x')});
  EXPECT_EQ(triggered.code, 2) << triggered.output.substr(0, 1000);
  EXPECT_NE(triggered.output.find("65536"), std::string::npos) << triggered.output.substr(0, 1000);
  EXPECT_EQ(world_.Sql("SELECT count(*) FROM active_run"), "0");
  EXPECT_EQ(world_.Sql("SELECT count(*) FROM run_history"), "0");
}

}  // namespace
}  // namespace tidemark
