#include "scheduler/alerts/message_format.h"

#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "common/id.h"
#include "common/text.h"
#include "scheduler/alerts/mail_format.h"
#include "tests/alerts/facts.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

google::protobuf::Value Parse(const std::string& json) {
  google::protobuf::Value value;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &value);
  EXPECT_TRUE(status.ok()) << status.ToString() << "\n" << json.substr(0, 500);
  return value;
}

const google::protobuf::Value& Member(const google::protobuf::Value& value,
                                      const std::string& name) {
  return value.struct_value().fields().at(name);
}

std::vector<std::string> AllBodies(const AlertMessage& message, const AlertStyle& style) {
  const AlertText text = WriteAlertText(message, style);
  return {WebhookBody(message, style), AlertmanagerBody(message, style),
          DingTalkBody(text),          WeComBody(text),
          FeishuBody(text, 1, "sign"), SlackBody(text)};
}

// Bytes that break formats more often than chance would.
std::string RandomText(SeededRandom& random, size_t most) {
  static const std::vector<std::string> kPieces = {"\"",
                                                   "\\",
                                                   "\n",
                                                   "\r\n",
                                                   std::string(1, '\0'),
                                                   "\x1b[31m",
                                                   "\xff",
                                                   "\xc3",
                                                   "\xe5\xaf",
                                                   "对账",
                                                   "😀",
                                                   "\u202e",
                                                   "\u2028",
                                                   "<at user_id=\"all\">",
                                                   "<!channel>",
                                                   "{{",
                                                   "}}",
                                                   "%s",
                                                   "&",
                                                   "=?UTF-8?",
                                                   "\r\n.\r\n",
                                                   "a",
                                                   " ",
                                                   "\x7f",
                                                   "\xed\xa0\x80",
                                                   "\xf4\x90\x80\x80"};
  std::string text;
  const size_t size = random.Next() % (most + 1);
  while (text.size() < size) {
    text += random.Next() % 4 == 0 ? std::string(1, static_cast<char>(random.Next()))
                                   : kPieces[random.Next() % kPieces.size()];
  }
  return text;
}

AlertFact RandomFact(SeededRandom& random) {
  AlertFact fact = FailedRecon();
  fact.kind = random.Next() % 2 == 0 ? "run_failed" : RandomText(random, 40);
  fact.job = RandomText(random, 64);
  fact.ns = RandomText(random, 64);
  fact.run_id = random.Next() % 2 == 0 ? "" : fact.run_id;
  const size_t most = random.Next() % 8 == 0 ? 70000 : 300;
  fact.summary = RandomText(random, most);
  fact.detail = RandomText(random, most);
  if (random.Next() % 2 == 0) fact.biz_date.reset();
  if (random.Next() % 2 == 0) fact.resolved_at = fact.raised_at + absl::Minutes(1);
  return fact;
}

TEST(MessageFormatTest, WhateverAnAlertHoldsItIsValidJsonOfBoundedSize) {
  SeededRandom random(20261129);
  for (int round = 0; round < 400; ++round) {
    AlertMessage message = MessageOf(RandomFact(random), static_cast<AlertPhase>(round % 3));
    const size_t count = round % 5 == 0 ? random.Next() % 500 : 0;
    for (size_t i = 0; i < count; ++i) message.items.push_back(message.items.front());
    if (count > 0) message.items.back().alert = RandomFact(random);
    const AlertLanguage language =
        round % 2 == 0 ? AlertLanguage::kEnglish : AlertLanguage::kChinese;
    for (const std::string& body : AllBodies(message, {language, absl::UTCTimeZone()})) {
      ASSERT_LE(body.size(), kMostBody);
      ASSERT_TRUE(IsCleanUtf8(body));
      Parse(body);
      ASSERT_FALSE(HasFailure()) << "round " << round;
    }
  }
}

TEST(MessageFormatTest, WhateverAnAlertHoldsAMailIsPlainAscii) {
  SeededRandom random(7);
  for (int round = 0; round < 300; ++round) {
    const AlertMessage message = MessageOf(RandomFact(random));
    const std::string mail =
        WriteMail(message, WriteAlertText(message, {}), {"a@b.c", {"d@e.f"}, absl::UnixEpoch()});
    ASSERT_LE(mail.size(), kMostBody);
    size_t begin = 0;
    for (size_t end = mail.find("\r\n"); end != std::string::npos;
         begin = end + 2, end = mail.find("\r\n", begin)) {
      ASSERT_LE(end - begin, 78U);
      for (size_t i = begin; i < end; ++i) {
        ASSERT_GE(mail[i], ' ');
        ASSERT_LT(static_cast<unsigned char>(mail[i]), 0x7F);
      }
    }
    ASSERT_EQ(begin, mail.size()) << "the last line ends";
  }
}

TEST(MessageFormatTest, AWebhookGetsTheAlertInFields) {
  const auto body = Parse(WebhookBody(MessageOf(FailedRecon()), {}));
  EXPECT_EQ(Member(body, "version").number_value(), 1);
  const auto& alert = Member(body, "alerts").list_value().values(0);
  EXPECT_EQ(Member(alert, "id").string_value(), "0198e7a2-0000-7000-8000-000000000001/1/raised/0");
  EXPECT_EQ(Member(alert, "job").string_value(), "recon");
  EXPECT_EQ(Member(alert, "biz_date").string_value(), "2026-11-27");
  EXPECT_EQ(Member(alert, "raised_at").string_value(), "2026-11-28T01:00:00Z");
  EXPECT_THAT(Member(body, "text").string_value(), HasSubstr("tidemark run rerun"));
}

TEST(MessageFormatTest, AlertmanagerSeesOneAlertBeginAndEnd) {
  AlertFact fact = FailedRecon();
  const auto raised = Parse(AlertmanagerBody(MessageOf(fact), {})).list_value().values(0);
  fact.resolved_at = fact.raised_at + absl::Hours(1);
  const auto ended =
      Parse(AlertmanagerBody(MessageOf(fact, AlertPhase::kResolved), {})).list_value().values(0);
  EXPECT_EQ(Member(Member(raised, "labels"), "alertname").string_value(), "Tidemark_run_failed");
  EXPECT_EQ(Member(raised, "labels").DebugString(), Member(ended, "labels").DebugString());
  EXPECT_EQ(Member(raised, "startsAt").string_value(), "2026-11-28T01:00:00Z");
  EXPECT_EQ(Member(raised, "endsAt").string_value(), "2027-11-29T01:00:00Z");
  EXPECT_EQ(Member(ended, "endsAt").string_value(), "2026-11-28T02:00:00Z");
  fact = FailedRecon();
  fact.event = true;
  const auto event = Parse(AlertmanagerBody(MessageOf(fact), {})).list_value().values(0);
  EXPECT_EQ(Member(event, "endsAt").string_value(), "2026-11-29T01:00:00Z") << "a day";
}

TEST(MessageFormatTest, ChatsGetPlainTextThatCannotMentionAnybody) {
  AlertFact fact = FailedRecon();
  fact.job = "<!channel> <at user_id=\"all\"></at> @all & *bold*";
  const AlertText text = WriteAlertText(MessageOf(fact), {});
  const auto slack = Parse(SlackBody(text));
  EXPECT_THAT(Member(slack, "text").string_value(), HasSubstr("&lt;!channel&gt;"));
  EXPECT_THAT(Member(slack, "text").string_value(), Not(HasSubstr("<")));
  const auto& section = Member(slack, "blocks").list_value().values(0);
  EXPECT_EQ(Member(Member(section, "text"), "type").string_value(), "plain_text");

  const auto feishu = Parse(FeishuBody(text, 1599360473, "SIGN"));
  EXPECT_EQ(Member(feishu, "msg_type").string_value(), "post");
  EXPECT_EQ(Member(feishu, "timestamp").string_value(), "1599360473");
  EXPECT_EQ(Member(feishu, "sign").string_value(), "SIGN");
  const auto& page = Member(Member(Member(feishu, "content"), "post"), "zh_cn");
  const auto& element = Member(page, "content").list_value().values(0).list_value().values(0);
  EXPECT_EQ(Member(element, "tag").string_value(), "text");

  EXPECT_EQ(Member(Parse(DingTalkBody(text)), "msgtype").string_value(), "text");
  const auto wecom = Parse(WeComBody(text));
  EXPECT_EQ(Member(wecom, "msgtype").string_value(), "text");
  EXPECT_LE(Member(Member(wecom, "text"), "content").string_value().size(), 2048U);
}

TEST(MessageFormatTest, AnswersAreJudgedAsEachReceiverMeansThem) {
  EXPECT_TRUE(JudgeStatus({204, "", false}).ok());
  for (const int status : {100, 301, 302, 404, 429, 500}) {
    EXPECT_FALSE(JudgeStatus({status, "no", false}).ok()) << status;
  }
  EXPECT_TRUE(JudgeErrcode({200, "{\"errcode\":0,\"errmsg\":\"ok\"}", false}).ok());
  EXPECT_TRUE(JudgeFeishu({200, "{\"code\":0,\"msg\":\"success\"}", false}).ok());
  for (const char* body : {"{\"errcode\":310000,\"errmsg\":\"sign not match\"}", "ok", "", "[]",
                           "{}", "{\"errcode\":\"0\"}", "null", "<html>"}) {
    EXPECT_FALSE(JudgeErrcode({200, body, false}).ok()) << body;
  }
  const absl::Status refused =
      JudgeErrcode({200, "{\"errcode\":310000,\"errmsg\":\"sign not match\"}", false});
  EXPECT_THAT(std::string(refused.message()), HasSubstr("sign not match"));
}

}  // namespace
}  // namespace tidemark
