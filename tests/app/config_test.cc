// The configuration: precedence, refusals, and samples that name every key.
#include "scheduler/config.h"

#include <cstdlib>
#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/advertise.h"
#include "tests/support/process.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

const char kSample[] = TIDEMARK_SOURCE_DIR "/deploy/scheduler.sample.yaml";

class ConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    char dir[] = "/tmp/tidemark-config-XXXXXX";
    ASSERT_NE(mkdtemp(dir), nullptr);
    dir_ = dir;
  }
  void TearDown() override {
    for (const char* name : {"TIDEMARK_LOG_LEVEL", "TIDEMARK_MAX_STREAMS"}) unsetenv(name);
    EXPECT_EQ(std::system(("rm -rf " + dir_).c_str()), 0);
  }
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ + "/" + name) << text;
    return dir_ + "/" + name;
  }
  std::optional<SchedulerConfig> Read(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "tidemark-scheduler");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    code_ = 0;
    std::optional<SchedulerConfig> config =
        ReadConfig(static_cast<int>(argv.size()), argv.data(), &code_);
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return config;
  }

  std::string dir_;
  int code_ = 0;
  std::string out_;
  std::string err_;
};

TEST_F(ConfigTest, FlagsWinOverVariablesAndVariablesOverTheFile) {
  const std::string file =
      Write("c.yaml", "dev: true\nlog-level: error\nmax_streams: 7\nmax-inbox: 1MiB\n");
  std::optional<SchedulerConfig> config = Read({"--config", file});
  ASSERT_TRUE(config.has_value()) << err_;
  EXPECT_EQ(config->log_level, "error");
  EXPECT_EQ(config->limits.max_streams, 7);
  EXPECT_EQ(config->limits.max_inbox, 1u << 20);
  EXPECT_EQ(config->config_file, file);
  setenv("TIDEMARK_LOG_LEVEL", "warn", 1);
  setenv("TIDEMARK_MAX_STREAMS", "8", 1);
  config = Read({"--config", file, "--max-streams", "9"});
  ASSERT_TRUE(config.has_value()) << err_;
  EXPECT_EQ(config->log_level, "warn");
  EXPECT_EQ(config->limits.max_streams, 9);
}

TEST_F(ConfigTest, AnUnknownKeyIsRefusedWithTheNearest) {
  EXPECT_FALSE(Read({"--config", Write("c.yaml", "dev: true\nlog-levl: warn\n")}).has_value());
  EXPECT_EQ(code_, 2);
  EXPECT_THAT(out_ + err_, HasSubstr("c.yaml:2"));
  EXPECT_THAT(out_ + err_, HasSubstr("log-level"));
}

TEST_F(ConfigTest, WhatIsOutOfRangeIsRefused) {
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"--max-inbox", "1"},
                                             {"--max-message", "much"},
                                             {"--max-streams", "0"},
                                             {"--http-max-connections", "-1"},
                                             {"--log-format", "xml"},
                                             {"--http-listen", "0.0.0.0"}}) {
    std::vector<std::string> arguments = {"--dev"};
    arguments.insert(arguments.end(), bad.begin(), bad.end());
    EXPECT_FALSE(Read(arguments).has_value()) << bad[0];
    EXPECT_EQ(code_, 2) << bad[0];
    EXPECT_THAT(out_ + err_, HasSubstr(bad[0]));
  }
}

TEST_F(ConfigTest, ASecretComesFromAFileAndIsShownNowhere) {
  const std::string secret = Write("url", "postgresql://u:hunter2@db.example/tidemark\n");
  std::optional<SchedulerConfig> config = Read({"--database-url-file", secret});
  ASSERT_TRUE(config.has_value()) << err_;
  EXPECT_EQ(config->database_url, "postgresql://u:hunter2@db.example/tidemark");
  EXPECT_FALSE(Read({"--database-url-file", secret, "--check-config"}).has_value());
  EXPECT_EQ(code_, 0) << err_;
  EXPECT_THAT(out_, HasSubstr("log-level: info\n"));
  EXPECT_EQ((out_ + err_).find("hunter2"), std::string::npos) << out_ << err_;
  Read({"--database-url", "postgresql://u:hunter2@db.example/tidemark", "--check-config"});
  EXPECT_EQ(code_, 0) << err_;
  EXPECT_EQ((out_ + err_).find("hunter2"), std::string::npos) << out_ << err_;
  EXPECT_THAT(out_, HasSubstr("db.example"));
  config = Read({"--database-url-file", secret, "--database-listen-url-file", secret});
  ASSERT_TRUE(config.has_value()) << err_;
  EXPECT_EQ(config->database_listen_url, config->database_url);
  Read({"--database-url-file", secret, "--database-listen-url",
        "postgresql://u:hunter2@direct.example/tidemark", "--check-config"});
  EXPECT_EQ(code_, 0) << err_;
  EXPECT_THAT(out_, HasSubstr("direct.example"));
  EXPECT_EQ((out_ + err_).find("hunter2"), std::string::npos) << out_ << err_;
  EXPECT_FALSE(Read({"--database-url-file", dir_ + "/none"}).has_value());
  EXPECT_EQ(code_, 2);
  EXPECT_THAT(err_, HasSubstr(dir_ + "/none"));
}

TEST_F(ConfigTest, CheckConfigLooksAtCertificatesToo) {
  const auto check = [&](const std::string& cert) {
    Read({"--dev", "--tls-cert", cert, "--tls-key", cert, "--check-config"});
  };
  check(dir_ + "/none.crt");
  EXPECT_EQ(code_, 2);
  EXPECT_THAT(err_, HasSubstr(dir_ + "/none.crt: cannot be read"));
  const std::string garbage = Write("garbage.crt", "-----BEGIN CERTIFICATE-----\nx\n");
  check(garbage);
  EXPECT_EQ(code_, 2);
  EXPECT_THAT(err_, HasSubstr(garbage + ": holds no certificate"));
}

TEST_F(ConfigTest, TheAddressThatOthersAreTold) {
  EXPECT_EQ(AdvertisedAddress("", "127.0.0.1:7400", "box"), "127.0.0.1:7400");
  EXPECT_EQ(AdvertisedAddress("", "0.0.0.0:7401", "box"), "box:7401");
  EXPECT_EQ(AdvertisedAddress("", "[::]:7401", "box"), "box:7401");
  EXPECT_EQ(AdvertisedAddress("s1.example:80", "0.0.0.0:7401", "box"), "s1.example:80");
  EXPECT_EQ(AdvertisedAddress("s1.example:0", "0.0.0.0:7401", "box"), "s1.example:7401");
  EXPECT_EQ(AdvertisedAddress("[fd00::1]:0", "[::]:7401", "box"), "[fd00::1]:7401");
  for (const char* bad : {"s1.example", "0.0.0.0:7400", "[::]:1", ":7400"}) {
    EXPECT_FALSE(Read({"--dev", "--advertise", bad}).has_value()) << bad;
    EXPECT_EQ(code_, 2);
    EXPECT_THAT(err_, HasSubstr("--advertise"));
  }
  EXPECT_EQ(Read({"--dev", "--advertise", "s1.example:7400"})->advertise, "s1.example:7400");
}

TEST_F(ConfigTest, CheckConfigSaysWhatIsWrong) {
  EXPECT_FALSE(Read({"--check-config"}).has_value());
  EXPECT_EQ(code_, 2);
  EXPECT_THAT(err_, HasSubstr("--database-url"));
}

// Keys at the beginning of lines, those in comments too ("# dev: true").
std::set<std::string> KeysOf(const std::string& text) {
  std::set<std::string> keys;
  const std::regex line("(?:^|\n)(?:# )?([a-z][a-z_-]*):(?= |\n)");
  for (auto it = std::sregex_iterator(text.begin(), text.end(), line); it != std::sregex_iterator();
       ++it) {
    keys.insert((*it)[1]);
  }
  return keys;
}

TEST_F(ConfigTest, TheSampleNamesEveryKeyAndLoads) {
  const std::string sample = ReadFile(kSample);
  std::set<std::string> known = KeysOf(SchedulerOptionLines());
  known.insert({"alerts", "tls", "watch"});  // not of one value
  EXPECT_EQ(KeysOf(sample), known);
  // It loads once its files are there.
  const std::string url = Write("url", "host=db\n");
  const std::string ping = Write("ping", "https://ping.example/x\n");
  std::string here = std::regex_replace(sample, std::regex("/etc/tidemark/database.url"), url);
  here = std::regex_replace(here, std::regex("/etc/tidemark/ping.url"), ping);
  const std::string file = Write("sample.yaml", here);
  Read({"--config", file, "--check-config"});
  EXPECT_EQ(code_, 0) << err_;
  EXPECT_THAT(out_, HasSubstr("max-inboxes"));
}

}  // namespace
}  // namespace tidemark
