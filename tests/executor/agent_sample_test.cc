// The agent's sample file names every key of the code, and no other.
#include <regex>
#include <string>

#include "common/status.h"
#include "executor/agent/agent_config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

const char kAgentSample[] = TIDEMARK_SOURCE_DIR "/deploy/agent.sample.yaml";

TEST(AgentSampleTest, NamesEveryKeyAndLoads) {
  const absl::StatusOr<agent::AgentConfig> config = agent::ReadAgentConfig(kAgentSample);
  ASSERT_TRUE(config.ok()) << Message(config.status());
  const std::string code = ReadFile(TIDEMARK_SOURCE_DIR "/executor/agent/agent_config.cc");
  const std::string sample = ReadFile(kAgentSample);
  const std::regex key(R"re(reader(?:\.|->)[A-Z]\w+\("([a-z_]+)")re");
  int keys = 0;
  for (auto it = std::sregex_iterator(code.begin(), code.end(), key); it != std::sregex_iterator();
       ++it) {
    ++keys;
    EXPECT_THAT(sample, HasSubstr((*it)[1].str() + ":"));
  }
  EXPECT_GE(keys, 20);
}

}  // namespace
}  // namespace tidemark
