// Channels against real receivers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/escaping.h"
#include "common/clock.h"
#include "common/status.h"
#include "common/text.h"
#include "scheduler/alerts/alert_channel.h"
#include "scheduler/alerts/http_client.h"
#include "scheduler/alerts/signature.h"
#include "tests/alerts/facts.h"
#include "tests/support/process.h"
#include "tests/support/receivers.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Manner = HttpReceiver::Manner;

class ChannelTest : public ::testing::Test {
 protected:
  ChannelTest() {
    char dir[] = "/tmp/tidemark-channel-XXXXXX";
    EXPECT_NE(mkdtemp(dir), nullptr);
    dir_ = dir;
  }
  ~ChannelTest() override { std::filesystem::remove_all(dir_); }

  std::string File(const std::string& name, const std::string& text) {
    std::ofstream(dir_ + "/" + name) << text << "\n";
    return dir_ + "/" + name;
  }
  ChannelConfig Config(ChannelType type, const std::string& target = "/hook") {
    ChannelConfig config;
    config.name = "ops";
    config.type = type;
    config.url = receiver_.Url(target);
    config.timeout = absl::Seconds(5);
    return config;
  }
  absl::StatusOr<std::string> Send(const ChannelConfig& config,
                                   const AlertMessage& message = MessageOf(FailedRecon())) {
    return MakeAlertChannel(config, clock_)->Send(message);
  }
  std::string Error(const ChannelConfig& config) { return Message(Send(config).status()); }

  std::string dir_;
  ManualClock clock_{absl::FromUnixMillis(1577262236757)};
  HttpReceiver receiver_;
};

TEST_F(ChannelTest, AWebhookIsSignedWithItsBody) {
  ChannelConfig config = Config(ChannelType::kWebhook);
  config.secret_file = File("secret", "whsec");
  const auto answer = Send(config);
  ASSERT_TRUE(answer.ok()) << Message(answer.status());
  EXPECT_EQ(*answer, "HTTP 200 ok");
  ASSERT_EQ(receiver_.Count(), 1U);
  const HttpReceiver::Request request = receiver_.Requests()[0];
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/hook");
  EXPECT_EQ(request.headers.at("content-type"), "application/json; charset=utf-8");
  EXPECT_EQ(request.headers.at("tidemark-signature"),
            "t=1577262236,v1=" + Hex(HmacSha256("whsec", "1577262236." + request.body)));
}

TEST_F(ChannelTest, DingTalkIsSignedInItsUrlAndAnswersInItsBody) {
  ChannelConfig config = Config(ChannelType::kDingTalk, "/robot/send?access_token=abc");
  config.secret_file = File("secret", "SEC0123456789abcdef");
  receiver_.SetAnswer({.body = "{\"errcode\":0,\"errmsg\":\"ok\"}"});
  EXPECT_TRUE(Send(config).ok());
  EXPECT_EQ(receiver_.Requests()[0].target,
            "/robot/send?access_token=abc&timestamp=1577262236757"
            "&sign=Pgr6tpIpjVrMPPJUPkaI9sivFPPTYOy5zIOMF2GPFMA%3D");
  // Refused, although HTTP says that all is well.
  receiver_.SetAnswer({.body = "{\"errcode\":310000,\"errmsg\":\"sign not match\"}"});
  EXPECT_THAT(Error(config), HasSubstr("sign not match"));
  receiver_.SetAnswer({.body = "<html>a login page</html>"});
  EXPECT_THAT(Error(config), HasSubstr("no JSON object"));
}

TEST_F(ChannelTest, FeishuIsSignedInItsBody) {
  ChannelConfig config = Config(ChannelType::kFeishu);
  config.secret_file = File("secret", "demo");
  receiver_.SetAnswer({.body = "{\"code\":0,\"msg\":\"success\"}"});
  EXPECT_TRUE(Send(config).ok());
  EXPECT_THAT(receiver_.Requests()[0].body, HasSubstr("\"timestamp\":\"1577262236\""));
  EXPECT_THAT(receiver_.Requests()[0].body,
              HasSubstr("\"sign\":\"" + FeishuSign("demo", 1577262236) + "\""));
  receiver_.SetAnswer({.body = "{\"code\":19021,\"msg\":\"sign match fail\"}"});
  EXPECT_THAT(Error(config), HasSubstr("sign match fail"));
}

TEST_F(ChannelTest, WeComAndSlackAndAlertmanager) {
  receiver_.SetAnswer({.body = "{\"errcode\":0}"});
  EXPECT_TRUE(Send(Config(ChannelType::kWeCom)).ok());
  receiver_.SetAnswer({});
  EXPECT_TRUE(Send(Config(ChannelType::kSlack)).ok());
  EXPECT_TRUE(Send(Config(ChannelType::kAlertmanager, "/api/v2/alerts")).ok());
  EXPECT_THAT(receiver_.Requests()[2].body, StartsWith("[{\"labels\":"));
  EXPECT_THAT(Error(Config(ChannelType::kWeCom)), HasSubstr("no JSON object"));
}

TEST_F(ChannelTest, ASecretChangesWithoutARestart) {
  ChannelConfig config = Config(ChannelType::kWebhook);
  config.url.clear();
  config.url_file = File("url", receiver_.Url("/old"));
  const auto channel = MakeAlertChannel(config, clock_);
  EXPECT_TRUE(channel->Send(MessageOf(FailedRecon())).ok());
  File("url", receiver_.Url("/new"));
  EXPECT_TRUE(channel->Send(MessageOf(FailedRecon())).ok());
  EXPECT_EQ(receiver_.Requests()[1].target, "/new");
}

TEST_F(ChannelTest, RefusalsAreErrorsThatSayWhatCame) {
  const ChannelConfig config = Config(ChannelType::kWebhook);
  receiver_.SetAnswer({.status = 500, .body = "database is\ngone\x1b[2J"});
  EXPECT_EQ(Error(config), "it answered HTTP 500: database is\\ngone\\x1b[2J");
  receiver_.SetAnswer({.status = 302, .headers = "Location: " + receiver_.Url("/x") + "\r\n"});
  EXPECT_THAT(Error(config), HasSubstr("HTTP 302, a redirect, which is not followed"));
  EXPECT_EQ(receiver_.Count(), 2U) << "nobody went there";
  receiver_.SetAnswer({.status = 301, .headers = "Location: file:///etc/passwd\r\n"});
  EXPECT_THAT(Error(config), HasSubstr("HTTP 301"));
}

TEST_F(ChannelTest, GarbageAndSilenceEndInTime) {
  ChannelConfig config = Config(ChannelType::kWebhook);
  config.timeout = absl::Seconds(1);
  receiver_.SetAnswer({.manner = Manner::kGarbage});
  EXPECT_FALSE(Send(config).ok());
  receiver_.SetAnswer({.manner = Manner::kClose});
  EXPECT_FALSE(Send(config).ok());
  receiver_.SetAnswer({.manner = Manner::kHang});
  const absl::Duration start = SystemClock().Monotonic();
  EXPECT_THAT(Error(config), StartsWith("no answer within 1s"));
  EXPECT_LT(SystemClock().Monotonic() - start, absl::Seconds(5));
  receiver_.Stop();
  EXPECT_FALSE(Send(config).ok());
}

TEST_F(ChannelTest, AnEndlessAnswerIsNotReadToItsEnd) {
  receiver_.SetAnswer({.manner = Manner::kEndless});
  HttpClient client({});
  const auto response = client.Send({.url = receiver_.Url("/"), .body = "x"});
  ASSERT_TRUE(response.ok()) << Message(response.status());
  EXPECT_TRUE(response->cut);
  EXPECT_EQ(response->body.size(), 64U * 1024U);
}

TEST_F(ChannelTest, AbortEndsWhatHangs) {
  ChannelConfig config = Config(ChannelType::kWebhook);
  config.timeout = absl::Seconds(60);
  receiver_.SetAnswer({.manner = Manner::kHang});
  const auto channel = MakeAlertChannel(config, clock_);
  absl::Status status;
  std::thread sender([&] { status = channel->Send(MessageOf(FailedRecon())).status(); });
  ASSERT_TRUE(WaitFor([&] { return receiver_.Count() == 1; }));
  const absl::Duration start = SystemClock().Monotonic();
  channel->Abort();
  sender.join();
  EXPECT_LT(SystemClock().Monotonic() - start, absl::Seconds(10));
  EXPECT_TRUE(absl::IsCancelled(status)) << Message(status);
}

TEST_F(ChannelTest, NoErrorShowsASecret) {
  ChannelConfig config = Config(ChannelType::kDingTalk, "/robot/send?access_token=s3cr3t-t0k3n");
  config.secret_file = File("secret", "SEC-v3ry-s3cr3t");
  receiver_.SetAnswer(
      {.status = 404,
       .body = "cannot POST /robot/send?access_token=s3cr3t-t0k3n signed by SEC-v3ry-s3cr3t"});
  const std::string error = Error(config);
  EXPECT_THAT(error, HasSubstr("HTTP 404: cannot POST ***"));
  EXPECT_THAT(error, Not(HasSubstr("s3cr3t")));
  receiver_.Stop();
  EXPECT_THAT(Error(config), Not(HasSubstr("s3cr3t")));
}

// ---------------------------------------------------------------- mail

std::string Unfold(std::string text) {
  for (size_t at = 0; (at = text.find("\r\n ")) != std::string::npos;) text.erase(at, 3);
  return text;
}

std::string Decode(const std::string& base64) {
  std::string text;
  EXPECT_TRUE(absl::Base64Unescape(base64, &text)) << base64;
  return text;
}

// The text of encoded words, each decoded on its own.
std::string DecodeSubject(const std::string& header) {
  std::string text;
  for (size_t at = 0; (at = header.find("=?UTF-8?B?", at)) != std::string::npos;) {
    const size_t end = header.find("?=", at + 10);
    const std::string word = Decode(header.substr(at + 10, end - at - 10));
    EXPECT_TRUE(IsCleanUtf8(word)) << "whole characters in each word";
    text += word;
    at = end;
  }
  return text;
}

class MailTest : public ChannelTest {
 protected:
  ChannelConfig MailConfig() {
    ChannelConfig config;
    config.name = "mail";
    config.type = ChannelType::kEmail;
    config.server = {smtp_.Address(), SmtpTls::kNone, "", ""};
    config.from = "tidemark@example.com";
    config.to = {"ops@example.com", "boss@example.com"};
    config.timeout = absl::Seconds(5);
    return config;
  }
  SmtpReceiver smtp_;
};

TEST_F(MailTest, ArrivesAndDecodes) {
  ChannelConfig config = MailConfig();
  config.style.language = AlertLanguage::kChinese;
  AlertFact fact = FailedRecon();
  fact.job = "夜间对账与结算一二三四五六七八九十一二三四五六七八九十";
  const auto answer = Send(config, MessageOf(fact));
  ASSERT_TRUE(answer.ok()) << Message(answer.status());
  EXPECT_THAT(*answer, HasSubstr("SMTP 250, accepted for ops@example.com, boss@example.com"));
  ASSERT_EQ(smtp_.Mails().size(), 1U);
  const SmtpReceiver::Mail mail = smtp_.Mails()[0];
  EXPECT_EQ(mail.from, "<tidemark@example.com>");
  EXPECT_THAT(mail.to, ElementsAre("<ops@example.com>", "<boss@example.com>"));
  const size_t blank = mail.data.find("\r\n\r\n");
  const std::string head = Unfold(mail.data.substr(0, blank + 2));
  const AlertText text = WriteAlertText(MessageOf(fact), config.style);
  const size_t subject = head.find("Subject: ");
  EXPECT_EQ(DecodeSubject(head.substr(subject, head.find("\r\n", subject) - subject)), text.title);
  EXPECT_THAT(head, HasSubstr("Date: Wed, 25 Dec 2019 08:23:56 +0000\r\n"));
  EXPECT_THAT(head, HasSubstr("Message-ID: <0198e7a2-0000-7000-8000-000000000001.1@tidemark>"));
  std::string body = mail.data.substr(blank + 4);
  for (size_t at = 0; (at = body.find("\r\n")) != std::string::npos;) body.erase(at, 2);
  std::string expected;
  for (const std::string& line : text.lines) expected += line + "\r\n";
  EXPECT_EQ(Decode(body), expected);
}

TEST_F(MailTest, ANameCannotBecomeAHeaderOrALineOfSmtp) {
  AlertFact fact = FailedRecon();
  fact.job = "x\r\nBcc: victim@example.com\r\n\r\n.\r\nMAIL FROM:<a@b.c>";
  fact.summary = fact.detail = "\r\n.\r\nQUIT\r\n";
  ASSERT_TRUE(Send(MailConfig(), MessageOf(fact)).ok());
  ASSERT_EQ(smtp_.Mails().size(), 1U);
  const SmtpReceiver::Mail mail = smtp_.Mails()[0];
  EXPECT_EQ(mail.to.size(), 2U);
  EXPECT_THAT(mail.data, Not(HasSubstr("\r\nBcc:")));
  EXPECT_THAT(mail.data, Not(HasSubstr("victim")));
}

TEST_F(MailTest, ARefusedRecipientIsAnError) {
  smtp_.Refuse("<boss@example.com>");
  const auto answer = Send(MailConfig());
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(Message(answer.status()), HasSubstr("550"));
  EXPECT_TRUE(smtp_.Mails().empty());
}

TEST_F(MailTest, WithoutStartTlsNothingIsSentWhenItIsAskedFor) {
  ChannelConfig config = MailConfig();
  config.server.tls = SmtpTls::kStartTls;
  EXPECT_FALSE(Send(config).ok());
  EXPECT_TRUE(smtp_.Mails().empty());
}

}  // namespace
}  // namespace tidemark
