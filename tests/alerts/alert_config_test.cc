#include "scheduler/alerts/alert_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/status.h"
#include "scheduler/alerts/redact.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class AlertConfigTest : public ::testing::Test {
 protected:
  AlertConfigTest() {
    char dir[] = "/tmp/tidemark-alerts-XXXXXX";
    EXPECT_NE(mkdtemp(dir), nullptr);
    dir_ = dir;
  }
  ~AlertConfigTest() override { std::filesystem::remove_all(dir_); }

  std::string Secret(const std::string& name, const std::string& text) {
    std::ofstream(dir_ + "/" + name) << text;
    return dir_ + "/" + name;
  }
  static absl::StatusOr<AlertsConfig> Read(const std::string& yaml) {
    return ReadAlertsConfig(YAML::Load(yaml), "s.yaml");
  }
  static std::string Error(const std::string& yaml) { return Message(Read(yaml).status()); }

  std::string dir_;
};

TEST_F(AlertConfigTest, S02AWeakSecretOfASignatureIsRefused) {
  for (const char* weak : {"changeme\n", "default_token\n", "short\n"}) {
    const std::string error =
        Error("channels: [{name: a, type: webhook, url: 'http://x/', secret_file: " +
              Secret("weak", weak) + "}]");
    EXPECT_THAT(error, HasSubstr("secret_file: the secret in ")) << weak;
    EXPECT_THAT(error, ::testing::Not(HasSubstr("changeme")));
  }
}

TEST_F(AlertConfigTest, TheExampleOfAllThings) {
  const std::string url = Secret("url", "https://oapi.dingtalk.com/robot/send?access_token=abc\n");
  const std::string secret = Secret("secret", "SEC0123456789abcdef\r\n");
  const std::string password = Secret("password", "pw pw\n");
  const auto config = Read(
      "language: zh\n"
      "zone: Asia/Shanghai\n"
      "remind_every: 12h\n"
      "digest: {more_than: 5, window: 2m}\n"
      "channels:\n"
      "  - {name: ops, type: dingtalk, url_file: " +
      url + ", secret_file: " + secret +
      "}\n"
      "  - {name: am, type: alertmanager, url: 'http://am:9093/api/v2/alerts', language: en}\n"
      "  - {name: mail, type: email, server: 'smtp.example.com:587', user: u,\n"
      "     password_file: " +
      password +
      ", from: t@example.com, to: ops@example.com}\n"
      "routes:\n"
      "  - {job: [recon, 'settle-*'], severity: critical, channels: [ops, mail]}\n"
      "  - {channels: am}\n"
      "silences:\n"
      "  - {kind: run_long, from: '22:00', to: '06:30'}\n");
  ASSERT_TRUE(config.ok()) << Message(config.status());
  ASSERT_EQ(config->channels.size(), 3U);
  EXPECT_EQ(config->channels[0].style.language, AlertLanguage::kChinese);
  EXPECT_EQ(config->channels[1].style.language, AlertLanguage::kEnglish);
  EXPECT_EQ(config->channels[2].server.tls, SmtpTls::kStartTls);
  EXPECT_THAT(config->channels[2].to, ElementsAre("ops@example.com"));
  EXPECT_THAT(config->routes[0].match.jobs, ElementsAre("recon", "settle-*"));
  EXPECT_EQ(config->silences[0].to, 6 * 60 + 30);
  EXPECT_EQ(config->most_messages, 5);
  EXPECT_EQ(config->remind_every, absl::Hours(12));
  EXPECT_EQ(*ReadSecret(secret), "SEC0123456789abcdef");
}

TEST_F(AlertConfigTest, ErrorsNameThePlaceAndTheMend) {
  EXPECT_EQ(Error("chanels: []"),
            "s.yaml:1: alerts: unknown key \"chanels\"; did you mean \"channels\"?");
  EXPECT_THAT(
      Error("channels:\n  - {name: a, type: webhook, ulr: x}"),
      HasSubstr("s.yaml:2: alerts.channels[0]: unknown key \"ulr\"; did you mean \"url\"?"));
  EXPECT_THAT(Error("channels:\n  - {name: a, type: dingding, url: 'http://x/'}"),
              HasSubstr("type: \"dingding\" is none of webhook, alertmanager, dingtalk"));
  EXPECT_THAT(Error("channels: [{name: a, type: webhook}]"), HasSubstr("either url or url_file"));
  EXPECT_THAT(Error("channels: [{name: a, type: webhook, url: 'file:///etc/passwd'}]"),
              HasSubstr("must be an http or https URL"));
  EXPECT_THAT(Error("channels: [{name: a, type: slack, url: 'http://x/', secret_file: y}]"),
              HasSubstr("has no signature"));
  EXPECT_THAT(Error("channels: [{name: a, type: webhook, url: 'http://x/'}]\n"
                    "routes: [{channels: [b]}]"),
              HasSubstr("there is no channel \"b\""));
  EXPECT_THAT(Error("channels: [{name: a, type: webhook, url: 'http://x/'}]\n"
                    "routes: [{channels: []}]"),
              HasSubstr("somebody must be told"));
  EXPECT_THAT(Error("channels: [{name: a, type: webhook, url: 'http://x/'},\n"
                    "{name: a, type: webhook, url: 'http://x/'}]"),
              HasSubstr("there twice"));
  EXPECT_THAT(Error("silences: [{from: '9', to: '10:00'}]"), HasSubstr("as \"22:00\""));
  EXPECT_THAT(Error("zone: Mars/Base"), HasSubstr("zone"));
}

TEST_F(AlertConfigTest, MailCannotBeConfiguredToLeakOrToBeForged) {
  const std::string password = Secret("p", "x");
  EXPECT_THAT(Error("channels: [{name: m, type: email, server: 'h:25', tls: none, user: u, "
                    "password_file: " +
                    password + ", from: a@b.c, to: d@e.f}]"),
              HasSubstr("plain text"));
  EXPECT_THAT(Error("channels: [{name: m, type: email, server: 'h:25', from: a@b.c, "
                    "to: \"d@e.f>\\r\\nRCPT TO:<x@y.z\"}]"),
              HasSubstr("not a plain mail address"));
  EXPECT_THAT(Error("channels: [{name: m, type: email, server: 'h:25/x', from: a@b.c, to: d@e.f}]"),
              HasSubstr("HOST:PORT"));
}

TEST_F(AlertConfigTest, AnErrorAboutASecretDoesNotShowIt) {
  const std::string url = Secret("url", "htps://robot/send?access_token=s3cr3t-t0k3n");
  const std::string error = Error("channels: [{name: a, type: dingtalk, url_file: " + url + "}]");
  EXPECT_THAT(error, HasSubstr("url_file"));
  EXPECT_THAT(error, Not(HasSubstr("s3cr3t")));
  EXPECT_THAT(Error("channels: [{name: a, type: dingtalk, url_file: /nowhere}]"),
              HasSubstr("cannot read /nowhere"));
}

TEST(RedactTest, SecretsOfAUrlAreTakenOut) {
  Redactor redactor;
  redactor.AddUrl(
      "https://me:pass-word@hooks.slack.com/services/T0000/B0000/XXXXXXXXXXXXXXXX?k=abcdefghijkl");
  redactor.AddSecret("SEC-123456");
  EXPECT_EQ(redactor.Clean("no /services/T0000/B0000/XXXXXXXXXXXXXXXX?k=abcdefghijkl here"),
            "no *** here");
  EXPECT_EQ(redactor.Clean("XXXXXXXXXXXXXXXX abcdefghijkl SEC-123456 pass-word"),
            "*** *** *** ***");
  EXPECT_EQ(redactor.Clean("services of hooks.slack.com"), "services of hooks.slack.com");
}

}  // namespace
}  // namespace tidemark
