#include "scheduler/watch/watch_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/status.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<WatchConfig> Read(const std::string& yaml) {
  return ReadWatchConfig(YAML::Load(yaml), "scheduler.yaml");
}

TEST(WatchConfigTest, ReadsWhatTheReadmeShows) {
  const auto config =
      Read("{ping_url: 'https://hc.example/uuid', interval: 30s, every: 5m, grace: 10m}");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->pings());
  EXPECT_EQ(config->interval, absl::Seconds(30));
  EXPECT_EQ(config->every, absl::Minutes(5));
  EXPECT_EQ(config->grace, absl::Minutes(10));
}

TEST(WatchConfigTest, NothingHasToBeSaid) {
  const auto config = Read("{}");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_FALSE(config->pings());
  EXPECT_EQ(config->every, absl::Minutes(10));
  EXPECT_EQ(config->interval, absl::Minutes(1));
}

TEST(WatchConfigTest, ErrorsNameThePlaceAndNeverTheUrl) {
  const std::pair<const char*, const char*> cases[] = {
      {"{pign_url: x}", "ping_url"},
      {"{every: 0s}", "watch: every"},
      {"{interval: 2h}", "from 1s to 1h"},
      {"{ping_url: 'https://a/b', ping_url_file: /etc/hosts}", "either"},
      {"{ping_url: 'ftp://host/s3cr3t'}", "watch: ping_url"},
      {"{ping_url_file: /no/such/file}", "/no/such/file"},
  };
  for (const auto& [yaml, words] : cases) {
    const auto config = Read(yaml);
    ASSERT_FALSE(config.ok()) << yaml;
    EXPECT_THAT(Message(config.status()), HasSubstr(words));
    EXPECT_THAT(Message(config.status()), HasSubstr("scheduler.yaml:1"));
    EXPECT_THAT(Message(config.status()), ::testing::Not(HasSubstr("s3cr3t")));
  }
}

}  // namespace
}  // namespace tidemark
