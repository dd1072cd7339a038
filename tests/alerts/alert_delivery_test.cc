// From the outbox's row to the channel, on a real database whose clock the test moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>

#include "common/status.h"
#include "scheduler/alerts/alert_rules.h"
#include "scheduler/alerts/alert_text.h"
#include "scheduler/alerts/channel_worker.h"
#include "scheduler/store/alert_desk_store.h"
#include "scheduler/store/alert_post.h"
#include "scheduler/store/alert_routes.h"
#include "scheduler/store/statements.h"
#include "tests/support/migrated_database.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Keeps what it is given; fails as the test says. The test's thread alone.
struct Inbox {
  bool down = false;
  std::string poison;                 // messages about this summary are refused
  std::vector<std::string> messages;  // "raised one" or "digest of 3"
  int tries = 0;
};

class FakeChannel : public AlertChannel {
 public:
  explicit FakeChannel(Inbox& inbox) : inbox_(inbox) {}
  absl::StatusOr<std::string> Send(const AlertMessage& message) override {
    ++inbox_.tries;
    const AlertItem& first = message.items.front();
    if (inbox_.down) return absl::UnavailableError("connection refused");
    if (!inbox_.poison.empty() && first.alert.summary == inbox_.poison) {
      return absl::FailedPreconditionError("it answered HTTP 400: bad message");
    }
    const char* phase = first.phase == AlertPhase::kRaised     ? "raised "
                        : first.phase == AlertPhase::kReminder ? "reminder "
                                                               : "resolved ";
    inbox_.messages.push_back(message.items.size() == 1
                                  ? phase + first.alert.summary
                                  : "digest of " + std::to_string(message.items.size()));
    return "taken";
  }
  void Abort() override {}

 private:
  Inbox& inbox_;
};

class AlertDeliveryTest : public ::testing::Test {
 protected:
  AlertDeliveryTest() : routes_(database_.options()), desk_(database_.options(), 1) {
    database_.Sql(
        "CREATE TABLE tidemark.test_clock AS SELECT '2026-11-28T01:00:00Z'::timestamptz AS at");
    database_.Sql(
        "CREATE OR REPLACE FUNCTION tidemark.tidemark_now() RETURNS timestamptz LANGUAGE sql "
        "VOLATILE AS $$ SELECT at FROM tidemark.test_clock $$");
    AddChannel("ops");
  }

  void AddChannel(const std::string& name) {
    ChannelConfig channel;
    channel.name = name;
    config_.channels.push_back(channel);
    workers_[name] = MakeWorker(name, "node-1");
  }
  std::unique_ptr<ChannelWorker> MakeWorker(const std::string& name, const std::string& node) {
    ChannelWorker::Options options;
    options.name = name;
    options.node = node;
    options.timeout = absl::Seconds(10);
    options.most_messages = config_.most_messages;
    options.window = config_.window;
    options.give_up_after = config_.give_up_after;
    return std::make_unique<ChannelWorker>(options, std::make_unique<FakeChannel>(inboxes_[name]),
                                           std::make_unique<AlertPost>(database_.options()), clock_,
                                           random_);
  }

  // As the engine's flush does it.
  void Raise(const std::string& summary, const std::string& severity = "critical",
             const std::string& job = "recon", bool event = false) {
    database_.Sql(
        std::string(sql::kRaiseAlerts),
        {"{" + NewUuid(clock_.WallNow(), random_) + "}", "{\"" + summary + "\"}", "{run_failed}",
         "{" + severity + "}", "{default}", "{" + job + "}", "{2026-11-27}", "{NULL}",
         "{\"" + summary + "\"}", "{detail}", event ? "{t}" : "{f}"});
  }
  void Resolve(const std::string& summary) {
    database_.Sql(std::string(sql::kResolveAlerts), {"{\"" + summary + "\"}"});
  }
  std::string Id(const std::string& summary) {
    return database_.Sql("SELECT alert_id FROM alert WHERE summary = $1", {summary});
  }
  int Route() {
    int all = 0;
    for (;;) {
      const auto count = routes_.RouteSome(
          100, [this](const AlertFact& alert, const std::vector<AlertSilence>& silences,
                      absl::Time now, bool) { return JudgeAlert(config_, alert, silences, now); });
      EXPECT_TRUE(count.ok()) << Message(count.status());
      if (!count.ok() || *count == 0) return all;
      all += *count;
    }
  }
  // Routes, and lets all channels send until there is nothing to do now.
  void Work() {
    for (bool more = true; more;) {
      more = Route() > 0;
      for (auto& [name, worker] : workers_) {
        while (worker->RunOnce() == absl::ZeroDuration()) more = true;
      }
    }
  }
  void Advance(absl::Duration d) {
    clock_.Advance(d);
    database_.Sql("UPDATE tidemark.test_clock SET at = at + make_interval(secs => $1::float8)",
                  {ToParam(absl::ToDoubleSeconds(d))});
  }
  // As a scheduler would that looks whenever something may be due.
  void WorkFor(absl::Duration d) {
    const absl::Duration step = std::max(absl::Seconds(30), d / 240);
    for (absl::Duration done; done < d; done += step) {
      Advance(step);
      Work();
    }
  }
  Inbox& ops() { return inboxes_["ops"]; }
  std::string States(const std::string& summary) {
    std::string all;
    for (const std::string& row : database_.Rows(
             "SELECT channel, phase, state FROM alert_delivery d JOIN alert a USING (alert_id) "
             "WHERE summary = $1 ORDER BY 1, d.episode, 2",
             {summary})) {
      all += row + " ";
    }
    return all;
  }

  MigratedDatabase database_;
  ManualClock clock_{absl::FromUnixSeconds(1795827600)};
  SeededRandom random_{11};
  AlertsConfig config_;
  std::map<std::string, Inbox> inboxes_;
  std::map<std::string, std::unique_ptr<ChannelWorker>> workers_;
  AlertRoutes routes_;
  AlertDeskStore desk_;
};

TEST_F(AlertDeliveryTest, OneMessageAFactAndOneForItsEnd) {
  AddChannel("mail");
  for (int i = 0; i < 100; ++i) {
    Raise("one");
    if (i % 10 == 0) Work();
  }
  EXPECT_THAT(ops().messages, ElementsAre("raised one"));
  EXPECT_THAT(inboxes_["mail"].messages, ElementsAre("raised one"));
  EXPECT_NE(database_.Sql("SELECT delivered_at FROM alert"), "");
  Resolve("one");
  Resolve("one");
  Work();
  Work();
  EXPECT_THAT(ops().messages, ElementsAre("raised one", "resolved one"));
  EXPECT_EQ(States("one"),
            "mail|raised|delivered mail|resolved|delivered ops|raised|delivered "
            "ops|resolved|delivered ");
}

TEST_F(AlertDeliveryTest, WhatComesAgainIsToldAgain) {
  Raise("one");
  Work();
  Resolve("one");
  Work();
  Raise("one");
  Work();
  EXPECT_THAT(ops().messages, ElementsAre("raised one", "resolved one", "raised one"));
}

TEST_F(AlertDeliveryTest, AReceiverThatIsDownForAnHourGetsEachMessageOnce) {
  ops().down = true;
  Raise("one");
  Raise("two");
  WorkFor(absl::Hours(1));
  EXPECT_THAT(ops().messages, IsEmpty());
  EXPECT_GE(ops().tries, 10);
  EXPECT_LE(ops().tries, 40) << "backs off";
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM alert WHERE delivered_at IS NOT NULL"), "0");
  ops().down = false;
  WorkFor(absl::Minutes(6));
  EXPECT_THAT(ops().messages, ::testing::UnorderedElementsAre("raised one", "raised two"));
}

TEST_F(AlertDeliveryTest, AnEndIsToldOnlyAfterItsBeginning) {
  ops().down = true;
  Raise("one");
  Work();
  Resolve("one");
  WorkFor(absl::Minutes(2));
  ops().down = false;
  WorkFor(absl::Minutes(6));
  EXPECT_THAT(ops().messages, ElementsAre("raised one", "resolved one"));
}

TEST_F(AlertDeliveryTest, OneBadMessageHoldsUpNoOther) {
  ops().poison = "bad";
  Raise("bad");
  Raise("good");
  WorkFor(absl::Minutes(1));
  EXPECT_THAT(ops().messages, ElementsAre("raised good"));
}

TEST_F(AlertDeliveryTest, AfterADayItIsADeadLetterThatCanBeTriedAgain) {
  ops().poison = "bad";
  Raise("bad");
  WorkFor(absl::Hours(25));
  EXPECT_EQ(States("bad"), "ops|raised|dead ");
  const auto dead = desk_.ListDeliveries({.dead = true});
  ASSERT_TRUE(dead.ok());
  ASSERT_EQ(dead->size(), 1U);
  EXPECT_THAT((*dead)[0].last_error, HasSubstr("HTTP 400: bad message"));
  const int tries = ops().tries;
  WorkFor(absl::Hours(1));
  EXPECT_EQ(ops().tries, tries) << "given up";
  ops().poison.clear();
  EXPECT_EQ(desk_.Retry("", "", "ann").value(), 1);
  Work();
  EXPECT_THAT(ops().messages, ElementsAre("raised bad"));
}

TEST_F(AlertDeliveryTest, AChannelThatFailsIsToldThroughTheOthersAndItsEndToo) {
  AddChannel("mail");
  ops().down = true;
  Raise("one", "warning");
  WorkFor(absl::Minutes(15));
  std::vector<std::string>& mail = inboxes_["mail"].messages;
  ASSERT_EQ(mail.size(), 2U);
  EXPECT_THAT(mail[1], HasSubstr("raised Alert channel ops has taken no message since "
                                 "2026-11-28T01:00:"));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM alert_delivery d JOIN alert a USING (alert_id) "
                          "WHERE kind = 'channel_failing' AND channel = 'ops'"),
            "0");
  ops().down = false;
  WorkFor(absl::Minutes(6));
  EXPECT_EQ(mail.size(), 3U);
  EXPECT_THAT(mail.back(), HasSubstr("resolved Alert channel ops"));
  EXPECT_THAT(ops().messages, ElementsAre("raised one"));
}

TEST_F(AlertDeliveryTest, WhenAllFailThereIsNoLoop) {
  AddChannel("mail");
  ops().down = inboxes_["mail"].down = true;
  Raise("one");
  WorkFor(absl::Hours(6));
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM alert"), "3") << "one, and one a channel";
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM alert_delivery"), "4");
}

TEST_F(AlertDeliveryTest, AFloodBecomesADigest) {
  for (int i = 0; i < 60; ++i) Raise("alert " + std::to_string(i), "warning");
  Work();
  EXPECT_THAT(ops().messages, ElementsAre("digest of 60"));
  // Ten a minute, then what came beyond at the end of the minute, as one.
  for (int i = 0; i < 20; ++i) {
    Raise("more " + std::to_string(i), "warning");
    Work();
  }
  EXPECT_EQ(ops().messages.size(), 10U);
  WorkFor(absl::Minutes(1));
  EXPECT_EQ(ops().messages.size(), 11U);
  EXPECT_EQ(ops().messages.back(), "digest of 11");
  EXPECT_EQ(database_.Sql("SELECT count(*) FROM alert WHERE delivered_at IS NULL"), "0");
}

TEST_F(AlertDeliveryTest, UnacknowledgedCriticalOnesAreToldAgainDaily) {
  Raise("one");
  Raise("minor", "warning");
  Work();
  ops().messages.clear();
  WorkFor(absl::Hours(23));
  EXPECT_THAT(ops().messages, IsEmpty());
  WorkFor(absl::Hours(2));
  EXPECT_THAT(ops().messages, ElementsAre("reminder one"));
  WorkFor(absl::Hours(24));
  EXPECT_THAT(ops().messages, ElementsAre("reminder one", "reminder one"));
  const auto ack = desk_.Ack(Id("one"), "on it", "ann");
  ASSERT_TRUE(ack.ok()) << Message(ack.status());
  EXPECT_FALSE(ack->existing);
  EXPECT_TRUE(desk_.Ack(Id("one"), "", "bob")->existing);
  EXPECT_EQ(desk_.Ack(Id("one"), "", "bob")->acked_by, "ann");
  WorkFor(absl::Hours(48));
  EXPECT_EQ(ops().messages.size(), 2U);
  Resolve("one");
  Work();
  EXPECT_EQ(ops().messages.back(), "resolved one");
  EXPECT_EQ(database_.Sql("SELECT actor FROM audit WHERE action = 'alert_ack'"), "ann");
}

TEST_F(AlertDeliveryTest, ASilenceKeepsBackUntilItEnds) {
  AlertSilence silence;
  silence.silence_id = NewUuid(clock_.WallNow(), random_);
  silence.job = "recon";
  silence.reason = "holiday";
  silence.actor = "ann";
  ASSERT_TRUE(desk_.AddSilence(silence, absl::Hours(2)).ok());
  Raise("stays");
  Raise("passes");
  Raise("other", "critical", "ledger");
  Work();
  EXPECT_THAT(ops().messages, ElementsAre("raised other"));
  EXPECT_EQ(desk_.ListSilences(false)->at(0).kept_back, 2);
  Resolve("passes");
  WorkFor(absl::Minutes(119));
  EXPECT_THAT(ops().messages, ElementsAre("raised other"));
  WorkFor(absl::Minutes(2));
  EXPECT_THAT(ops().messages, ElementsAre("raised other", "raised stays"));
  EXPECT_THAT(*desk_.ListSilences(false), IsEmpty());
  EXPECT_EQ(desk_.ListSilences(true)->size(), 1U);
}

TEST_F(AlertDeliveryTest, ASilenceAlsoKeepsBackWhatIsRoutedButNotSent) {
  AddChannel("mail");
  inboxes_["mail"].down = true;
  Raise("known");
  Raise("other", "critical", "ledger");
  Work();
  EXPECT_THAT(ops().messages, ElementsAre("raised known", "raised other"));
  AlertSilence silence;
  silence.silence_id = NewUuid(clock_.WallNow(), random_);
  silence.job = "recon";
  silence.reason = "holiday";
  silence.actor = "ann";
  ASSERT_TRUE(desk_.AddSilence(silence, absl::Hours(2)).ok());
  inboxes_["mail"].down = false;
  WorkFor(absl::Minutes(119));
  EXPECT_THAT(inboxes_["mail"].messages, ElementsAre("raised other"));
  WorkFor(absl::Minutes(2));
  EXPECT_THAT(inboxes_["mail"].messages, ElementsAre("raised other", "raised known"));
  EXPECT_THAT(ops().messages, ElementsAre("raised known", "raised other")) << "it had been told";
}

TEST_F(AlertDeliveryTest, WhatEndsWhileItIsTakenBackIsToldOnlyWhereItBegan) {
  AddChannel("mail");
  inboxes_["mail"].down = true;
  Raise("known");
  Work();
  AlertSilence silence;
  silence.silence_id = NewUuid(clock_.WallNow(), random_);
  silence.job = "recon";
  silence.reason = "holiday";
  silence.actor = "ann";
  ASSERT_TRUE(desk_.AddSilence(silence, absl::Hours(2)).ok());
  inboxes_["mail"].down = false;
  WorkFor(absl::Minutes(10));
  Resolve("known");
  WorkFor(absl::Hours(3));
  EXPECT_THAT(ops().messages, ElementsAre("raised known", "resolved known"));
  EXPECT_THAT(inboxes_["mail"].messages, IsEmpty());
}

TEST_F(AlertDeliveryTest, AnEventIsToldOnceAndHasNoEnd) {
  Raise("closed", "info", "recon", /*event=*/true);
  Work();
  EXPECT_THAT(ops().messages, ElementsAre("raised closed"));
  Raise("closed", "info", "recon", /*event=*/true);
  WorkFor(absl::Hours(30));
  EXPECT_THAT(ops().messages, ElementsAre("raised closed"));
}

TEST_F(AlertDeliveryTest, AnEventInASilenceIsToldAtItsEnd) {
  AlertSilence silence;
  silence.silence_id = NewUuid(clock_.WallNow(), random_);
  silence.job = "recon";
  silence.reason = "night";
  silence.actor = "ann";
  ASSERT_TRUE(desk_.AddSilence(silence, absl::Hours(2)).ok());
  Raise("closed", "info", "recon", /*event=*/true);
  WorkFor(absl::Minutes(110));
  EXPECT_THAT(ops().messages, IsEmpty());
  WorkFor(absl::Minutes(20));
  EXPECT_THAT(ops().messages, ElementsAre("raised closed"));
}

TEST_F(AlertDeliveryTest, ASilenceThatIsDeletedLetsGoAtOnce) {
  AlertSilence silence;
  silence.silence_id = NewUuid(clock_.WallNow(), random_);
  silence.kind = "run_failed";
  silence.reason = "test";
  silence.actor = "ann";
  ASSERT_TRUE(desk_.AddSilence(silence, absl::Hours(2)).ok());
  Raise("one");
  Work();
  EXPECT_THAT(ops().messages, IsEmpty());
  EXPECT_EQ(desk_.DeleteSilence(silence.silence_id, "bob")->kept_back, 1);
  EXPECT_TRUE(absl::IsNotFound(desk_.DeleteSilence(silence.silence_id, "bob").status()));
  Work();
  EXPECT_THAT(ops().messages, ElementsAre("raised one"));
}

TEST_F(AlertDeliveryTest, TwoNodesShareAChannelAndSendNothingTwice) {
  config_.most_messages = 1000;
  workers_["ops"] = MakeWorker("ops", "node-1");
  const auto other = MakeWorker("ops", "node-2");
  for (int i = 0; i < 20; ++i) Raise("alert " + std::to_string(i));
  Route();
  for (int i = 0; i < 30; ++i) {
    workers_["ops"]->RunOnce();
    other->RunOnce();
  }
  EXPECT_EQ(ops().messages.size(), 20U);
}

TEST_F(AlertDeliveryTest, AClaimOfANodeThatDiedIsTakenOverAfterItsLease) {
  Raise("one");
  Route();
  AlertPost dead(database_.options());
  ClaimRequest request;
  request.channel = "ops";
  request.node = "node-2";
  request.message_id = NewUuid(clock_.WallNow(), random_);
  request.lease = absl::Seconds(40);
  request.window = absl::Minutes(1);
  EXPECT_EQ(dead.Claim(request)->message.items.size(), 1U);
  Work();
  EXPECT_THAT(ops().messages, IsEmpty()) << "it may be on its way";
  Advance(absl::Seconds(41));
  Work();
  EXPECT_THAT(ops().messages, ElementsAre("raised one"));
}

TEST_F(AlertDeliveryTest, ANodeThatComesBackGoesOnAtOnce) {
  Raise("one");
  Route();
  AlertPost dead(database_.options());
  ClaimRequest request;
  request.channel = "ops";
  request.node = "node-1";
  request.message_id = NewUuid(clock_.WallNow(), random_);
  request.lease = absl::Seconds(40);
  request.window = absl::Minutes(1);
  EXPECT_EQ(dead.Claim(request)->message.items.size(), 1U);
  ASSERT_TRUE(routes_.Recover("node-1", {"ops"}).ok());
  Work();
  EXPECT_THAT(ops().messages, ElementsAre("raised one"));
}

TEST_F(AlertDeliveryTest, AReportThatTheDatabaseDidNotTakeIsReportedLater) {
  Raise("one");
  Route();
  database_.Sql("ALTER TABLE alert_channel ADD CHECK (last_ok_at IS NULL)");
  workers_["ops"]->RunOnce();
  EXPECT_THAT(ops().messages, ElementsAre("raised one"));
  EXPECT_EQ(States("one"), "ops|raised|pending ");
  database_.Sql("ALTER TABLE alert_channel DROP CONSTRAINT alert_channel_last_ok_at_check");
  Work();
  Advance(absl::Hours(1));
  Work();
  EXPECT_THAT(ops().messages, ElementsAre("raised one")) << "not sent again";
  EXPECT_EQ(States("one"), "ops|raised|delivered ");
}

TEST_F(AlertDeliveryTest, WhatNoNodeHasAChannelForBecomesADeadLetter) {
  Raise("one");
  config_.routes.push_back({{}, {"gone"}});
  Route();
  ASSERT_TRUE(routes_.BuryUnknown({"ops"}, absl::Hours(24)).ok());
  EXPECT_EQ(States("one"), "gone|raised|pending ");
  Advance(absl::Hours(25));
  ASSERT_TRUE(routes_.BuryUnknown({"ops"}, absl::Hours(24)).ok());
  EXPECT_EQ(States("one"), "gone|raised|dead ");
}

TEST_F(AlertDeliveryTest, AnAlertThatAFlushHasLockedDelaysNobody) {
  Raise("locked");
  Raise("free");
  const std::unique_ptr<Connection> flush = database_.Connect();
  const absl::Status status = flush->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_RETURN_IF_ERROR(tx.Run("UPDATE alert SET detail = 'x' WHERE summary = 'locked'").status());
    Work();
    EXPECT_THAT(ops().messages, ElementsAre("raised free"));
    return absl::OkStatus();
  });
  ASSERT_TRUE(status.ok());
  Work();
  EXPECT_THAT(ops().messages, ElementsAre("raised free", "raised locked"));
}

TEST_F(AlertDeliveryTest, AcknowledgingByTheBeginningOfAnId) {
  Raise("one");
  EXPECT_TRUE(absl::IsNotFound(desk_.Ack("ffffffff", "", "ann").status()));
  EXPECT_TRUE(desk_.Ack(Id("one").substr(0, 13), "", "ann").ok());
  Raise("two");
  Resolve("two");
  EXPECT_TRUE(absl::IsFailedPrecondition(desk_.Ack(Id("two"), "", "ann").status()));
}

}  // namespace
}  // namespace tidemark
