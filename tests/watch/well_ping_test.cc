// The ping in virtual time: given while all is well, withheld with a reason, given again.
#include "scheduler/watch/well_ping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "scheduler/watch/watch_service.h"
#include "tests/support/process.h"
#include "tests/support/receivers.h"
#include "tests/watch/fake_port.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Pinging {
  explicit Pinging(bool channels = true)
      : ping(
            WatchConfig(), "node-1", channels,
            [this] {
              ++sent;
              return answer;
            },
            port, clock) {}
  void Advance(absl::Duration d) {
    for (absl::Duration left = d; left > absl::ZeroDuration(); left -= absl::Seconds(5)) {
      clock.Advance(absl::Seconds(5));
      ping.Turn();
    }
  }
  FakePort port;
  ManualClock clock{At("2026-11-29T00:00:00Z")};
  int sent = 0;
  absl::Status answer;
  WellPing ping;
};

TEST(WellPingTest, OnceAMinuteWhileAllIsWell) {
  Pinging p;
  p.Advance(absl::Minutes(10));
  EXPECT_EQ(p.sent, 10);
  EXPECT_TRUE(p.port.pings.back().pinged);
  EXPECT_TRUE(p.port.pings.back().pings);
  EXPECT_EQ(p.port.late_asked, absl::Minutes(15));
  EXPECT_EQ(p.port.blind_asked, absl::Minutes(20)) << "two cadences of the watch";
}

TEST(WellPingTest, WithheldForEachReasonAndGivenAgainByItself) {
  using Break = std::function<void(WatchHealth&)>;
  const std::vector<std::pair<std::string, Break>> breaks = {
      {"3 shards have no live owner", [](WatchHealth& h) { h.unowned_shards = 3; }},
      {"1 alert was taken by no channel for more than 15m, the oldest since 2026-11-29T00:00:00Z",
       [](WatchHealth& h) {
         h.undelivered = 1;
         h.undelivered_since = At("2026-11-29T00:00:00Z");
       }},
      {"no verdict for 2 dates", [](WatchHealth& h) { h.missing = 2; }},
      {"wrong about 1 date", [](WatchHealth& h) { h.disagreeing = 1; }},
      {"node n2 has not watched the daily check since 2026-11-28T00:00:00Z",
       [](WatchHealth& h) { h.blind = {{"n2", At("2026-11-28T00:00:00Z")}}; }},
      {"node n2 has not watched the daily check since it started",
       [](WatchHealth& h) { h.blind = {{"n2", std::nullopt}}; }},
  };
  for (const auto& [reason, break_it] : breaks) {
    Pinging p;
    p.Advance(absl::Minutes(2));
    ASSERT_EQ(p.sent, 2);
    break_it(p.port.health);
    p.Advance(absl::Minutes(5));
    EXPECT_EQ(p.sent, 2) << reason;
    EXPECT_THAT(p.port.pings.back().reasons, ElementsAre(HasSubstr(reason)));
    EXPECT_FALSE(p.port.pings.back().pinged);
    p.port.health = WatchHealth();
    p.Advance(absl::Minutes(2));
    EXPECT_EQ(p.sent, 4) << reason;
    EXPECT_THAT(p.port.pings.back().reasons, IsEmpty());
  }
}

TEST(WellPingTest, WithheldWhileTheDatabaseIsAway) {
  Pinging p;
  p.port.fails = absl::UnavailableError("gone");
  p.Advance(absl::Minutes(5));
  EXPECT_EQ(p.sent, 0);
  p.port.fails = absl::OkStatus();
  p.Advance(absl::Minutes(1));
  EXPECT_EQ(p.sent, 1);
}

TEST(WellPingTest, WithoutChannelsNoAlertWaitsForOne) {
  Pinging p(/*channels=*/false);
  p.Advance(absl::Minutes(1));
  EXPECT_EQ(p.sent, 1);
  EXPECT_EQ(p.port.late_asked, absl::InfiniteDuration());
}

TEST(WellPingTest, APingThatIsNotTakenIsNoReasonAndIsTriedAgain) {
  Pinging p;
  p.answer = absl::UnavailableError("cannot reach the receiver");
  p.Advance(absl::Minutes(2));
  EXPECT_EQ(p.sent, 2);
  EXPECT_EQ(p.port.pings.back().error, "cannot reach the receiver");
  EXPECT_THAT(p.port.pings.back().reasons, IsEmpty());
}

TEST(WellPingTest, WithoutAUrlTheReasonsAreKeptAllTheSame) {
  FakePort port;
  ManualClock clock(At("2026-11-29T00:00:00Z"));
  WellPing ping(WatchConfig(), "node-1", true, nullptr, port, clock);
  port.health.missing = 1;
  clock.Advance(absl::Minutes(1));
  ping.Turn();
  ASSERT_THAT(port.pings, SizeIs(1));
  EXPECT_FALSE(port.pings[0].pings);
  EXPECT_THAT(port.pings[0].reasons, SizeIs(1));
}

// With its threads, and a receiver on the network.
struct Service {
  explicit Service(const std::string& url) {
    WatchConfig config;
    config.ping_url = url;
    config.every = absl::Seconds(1);
    config.interval = absl::Seconds(1);
    config.ping_timeout = absl::Seconds(30);
    service = std::make_unique<WatchService>(
        config, [](const WatchJob&) { return watch::Job(); },
        [this] {
          auto port = std::make_unique<FakePort>();
          ports.push_back(port.get());
          return port;
        },
        SystemClock(), SystemRandom());
    service->Start("node-1", true);
  }
  std::vector<FakePort*> ports;
  std::unique_ptr<WatchService> service;
};

TEST(WatchServiceTest, PingsByGet) {
  HttpReceiver receiver;
  Service s(receiver.Url("/ping/secret-uuid"));
  ASSERT_TRUE(WaitFor([&] { return receiver.Count() >= 2; }));
  EXPECT_EQ(receiver.Requests()[0].method, "GET");
  EXPECT_EQ(receiver.Requests()[0].target, "/ping/secret-uuid");
}

TEST(WatchServiceTest, AReceiverThatHangsDelaysNeitherTheWatchNorTheEnd) {
  HttpReceiver receiver;
  receiver.SetAnswer({.manner = HttpReceiver::Manner::kHang});
  Service s(receiver.Url("/"));
  ASSERT_TRUE(WaitFor([&] { return receiver.Count() == 1; }));
  const absl::Duration before = SystemClock().Monotonic();
  s.service->Stop();
  EXPECT_LT(SystemClock().Monotonic() - before, absl::Seconds(10)) << "not its timeout of 30 s";
  // Read once its threads are gone.
  EXPECT_THAT(s.ports.at(1)->pings, SizeIs(1));
  EXPECT_THAT(s.ports.at(1)->pings.at(0).error, ::testing::Not(HasSubstr("/secret")));
}

TEST(WatchServiceTest, AnAnswerOtherThanTwoHundredIsToldWithoutTheUrl) {
  HttpReceiver receiver;
  receiver.SetAnswer({.status = 404, .body = "no such check: secret-uuid"});
  Service s(receiver.Url("/ping/secret-uuid"));
  ASSERT_TRUE(WaitFor([&] { return receiver.Count() >= 2; }));
  s.service->Stop();
  ASSERT_FALSE(s.ports.at(1)->pings.empty());
  EXPECT_EQ(s.ports.at(1)->pings.at(0).error, "it answered HTTP 404");
}

}  // namespace
}  // namespace tidemark
