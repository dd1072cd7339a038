#include "scheduler/alerts/alert_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/text.h"
#include "scheduler/alerts/alert_words.h"
#include "scheduler/core/time/zone.h"
#include "scheduler/engine/alert_kinds.h"
#include "tests/alerts/facts.h"

namespace tidemark {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

AlertStyle Chinese() { return {AlertLanguage::kChinese, *LoadZone("Asia/Shanghai")}; }

TEST(AlertTextTest, EnglishHasWhatAPersonNeeds) {
  const AlertText text = WriteAlertText(MessageOf(FailedRecon()), {});
  EXPECT_EQ(text.title, "Tidemark [critical] recon 2026-11-27: run failed");
  EXPECT_THAT(text.lines, Contains("Since: 2026-11-28T01:00:00Z"));
  EXPECT_THAT(text.lines,
              Contains("At once: tidemark run rerun 0198e7a2-0000-7000-8000-0000000000aa"));
  EXPECT_THAT(text.lines,
              Contains("Acknowledge: tidemark alert ack 0198e7a2-0000-7000-8000-000000000001"));
}

TEST(AlertTextTest, ChineseHasWhatAPersonNeeds) {
  const AlertText text = WriteAlertText(MessageOf(FailedRecon()), Chinese());
  EXPECT_EQ(text.title, "Tidemark [严重] recon 2026-11-27：运行失败");
  EXPECT_THAT(text.lines, Contains("任务：recon"));
  EXPECT_THAT(text.lines, Contains("业务日期：2026-11-27"));
  EXPECT_THAT(text.lines, Contains("开始于：2026-11-28T09:00:00+08:00"));
  EXPECT_THAT(text.lines, Contains(HasSubstr("接下来：")));
  EXPECT_THAT(text.lines,
              Contains("命令：tidemark run rerun 0198e7a2-0000-7000-8000-0000000000aa"));
}

TEST(AlertTextTest, AKindWithoutWordsKeepsItsOwnText) {
  AlertFact fact = FailedRecon();
  fact.kind = "something_new";
  const AlertText text = WriteAlertText(MessageOf(fact), Chinese());
  EXPECT_THAT(text.title, HasSubstr("something_new"));
  EXPECT_THAT(text.lines, Contains(fact.detail));
}

TEST(AlertTextTest, TheEndSaysHowLongItTookAndAsksForNothing) {
  AlertFact fact = FailedRecon();
  fact.resolved_at = fact.raised_at + absl::Minutes(90);
  const AlertText text = WriteAlertText(MessageOf(fact, AlertPhase::kResolved), {});
  EXPECT_THAT(text.title, HasSubstr("[resolved]"));
  EXPECT_THAT(text.lines, Contains("Ended: 2026-11-28T02:30:00Z, after 1h30m"));
  EXPECT_THAT(text.lines, Not(Contains(HasSubstr("Acknowledge"))));
}

TEST(AlertTextTest, AReminderSaysThatItIsOne) {
  EXPECT_THAT(WriteAlertText(MessageOf(FailedRecon(), AlertPhase::kReminder), {}).title,
              HasSubstr("[critical, reminder 2]"));
}

TEST(AlertTextTest, ADigestHasALineEachAndCountsTheRest) {
  AlertMessage message = MessageOf(FailedRecon());
  message.items.resize(50, message.items.front());
  const AlertText text = WriteAlertText(message, {});
  EXPECT_EQ(text.title, "Tidemark: 50 alerts (50 critical)");
  EXPECT_THAT(text.lines, Contains("and 30 more"));
  EXPECT_EQ(text.lines.size(), 22U);
}

TEST(AlertTextTest, NamesCannotForgeLinesOrTurnText) {
  AlertFact fact = FailedRecon();
  fact.job = "a\nRun: forged\x1b[31m\u202E";
  fact.summary = fact.job;
  for (const AlertStyle& style : {AlertStyle(), Chinese()}) {
    const std::string all = JoinText(WriteAlertText(MessageOf(fact), style), 10000);
    EXPECT_THAT(all, Not(HasSubstr("\nRun: forged")));
    EXPECT_EQ(all.find('\x1b'), std::string::npos);
    EXPECT_THAT(all, Not(HasSubstr("\u202E")));
  }
}

TEST(AlertTextTest, EveryKindHasItsWords) {
  for (const AlertKind& kind : kAlertKinds) {
    const AlertWords* words = FindAlertWords(kind.name);
    ASSERT_NE(words, nullptr) << kind.name;
    EXPECT_FALSE(words->en.empty()) << kind.name;
    EXPECT_FALSE(words->zh.empty()) << kind.name;
    EXPECT_FALSE(words->zh_next.empty()) << kind.name;
  }
}

TEST(AlertTextTest, AnEventNeedsNoAcknowledgement) {
  AlertFact fact = FailedRecon();
  EXPECT_THAT(JoinText(WriteAlertText(MessageOf(fact), {}), 10000),
              HasSubstr("tidemark alert ack"));
  fact.event = true;
  EXPECT_THAT(JoinText(WriteAlertText(MessageOf(fact), {}), 10000),
              Not(HasSubstr("tidemark alert ack")));
}

}  // namespace
}  // namespace tidemark
