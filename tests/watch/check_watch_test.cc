// The watch in virtual time, against a database that the test fills.
#include "scheduler/watch/check_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/watch/fake_port.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;

struct Watched {
  explicit Watched(const WatchConfig& c = {})
      : watch(
            c, "node-1", [this](const WatchJob& job) { return port.Read(job); }, port, clock,
            random) {
    port.now = At("2026-11-29T01:10:00Z");
    port.jobs[1] = DailyJob(1, "recon");
    for (const char* date : {"2026-11-25", "2026-11-26", "2026-11-27", "2026-11-28"}) {
      port.Keep(1, date, "DONE", "ON_TIME");
    }
  }
  // Turns as the thread would.
  void Advance(absl::Duration d) {
    for (absl::Duration left = d; left > absl::ZeroDuration(); left -= absl::Seconds(5)) {
      clock.Advance(absl::Seconds(5));
      port.now += absl::Seconds(5);
      watch.Turn();
    }
  }
  FakePort port;
  ManualClock clock{At("2026-11-29T00:00:00Z")};
  SeededRandom random{7};
  CheckWatch watch;
};

TEST(CheckWatchTest, LooksFiveMinutesAfterTheStartAndThenEveryTen) {
  Watched w;
  w.Advance(absl::Minutes(5) - absl::Seconds(5));
  EXPECT_EQ(w.port.looks.size(), 0U);
  w.Advance(absl::Seconds(5));
  ASSERT_EQ(w.port.looks.size(), 1U);
  EXPECT_EQ(w.port.looks[0].jobs, 1);
  EXPECT_EQ(w.port.looks[0].dates, 3);
  EXPECT_EQ(w.port.looks[0].error, "");
  w.Advance(absl::Hours(1));
  EXPECT_EQ(w.port.looks.size(), 7U);
  EXPECT_TRUE(w.port.told.empty()) << "all is well";
}

TEST(CheckWatchTest, AMissingVerdictIsToldOnceAndEndsWithIt) {
  Watched w;
  w.port.kept.erase({1, Day("2026-11-28")});
  w.Advance(absl::Hours(3));
  ASSERT_EQ(w.port.told.size(), 1U);
  EXPECT_EQ(w.port.told[0].kind, "check_missing");
  EXPECT_EQ(w.port.told[0].job_name, "recon");
  EXPECT_EQ(w.port.told[0].biz_date, Day("2026-11-28"));
  EXPECT_FALSE(w.port.told[0].alert_id.empty());
  w.Advance(absl::Hours(100));  // more days than it looks at
  EXPECT_EQ(w.port.open.count("check_missing/1/2026-11-28"), 1U);
  w.port.Keep(1, "2026-11-28", "DONE", "ON_TIME");
  w.Advance(absl::Minutes(10));
  EXPECT_EQ(w.port.open.count("check_missing/1/2026-11-28"), 0U);
}

TEST(CheckWatchTest, AVerdictThatCannotBeIsToldOnceAndEndsWhenItFits) {
  Watched w;
  w.port.Keep(1, "2026-11-28", "FAILED", "ON_TIME");
  w.Advance(absl::Hours(2));
  ASSERT_EQ(w.port.told.size(), 1U);
  EXPECT_EQ(w.port.told[0].kind, "check_disagrees");
  EXPECT_THAT(w.port.told[0].summary, HasSubstr("ON_TIME, but its watermark says FAILED"));
  w.port.Keep(1, "2026-11-28", "DONE", "ON_TIME");
  w.Advance(absl::Minutes(10));
  EXPECT_TRUE(w.port.open.empty());
}

TEST(CheckWatchTest, AMissingVerdictThatComesAndIsWrongIsToldAsThat) {
  Watched w;
  w.port.kept.erase({1, Day("2026-11-28")});
  w.Advance(absl::Minutes(5));
  w.port.Keep(1, "2026-11-28", "", "LATE", /*told_of=*/false);
  w.Advance(absl::Minutes(10));
  EXPECT_EQ(w.port.open.count("check_missing/1/2026-11-28"), 0U);
  EXPECT_EQ(w.port.open.count("check_disagrees/1/2026-11-28"), 1U);
}

TEST(CheckWatchTest, LooksInPagesAndAtTheLastDaysAlone) {
  Watched w;
  w.port.kept.clear();
  for (int64_t id = 1; id <= 450; ++id) {
    w.port.jobs[id] = DailyJob(id, "job" + std::to_string(id));
    for (const char* date : {"2026-11-25", "2026-11-26", "2026-11-27", "2026-11-28"}) {
      w.port.Keep(id, date, "DONE", "ON_TIME");
    }
  }
  w.Advance(absl::Minutes(5));
  EXPECT_EQ(w.port.pages, 3);
  EXPECT_EQ(w.port.dates_asked, 450U * 3);
  EXPECT_EQ(w.port.looks.at(0).jobs, 450);
  EXPECT_TRUE(w.port.told.empty());
}

TEST(CheckWatchTest, ALookThatFailsIsNoneAndIsTriedAgainSoon) {
  Watched w;
  w.port.fails = absl::InternalError("no");
  w.Advance(absl::Minutes(5));
  ASSERT_EQ(w.port.looks.size(), 1U);
  EXPECT_EQ(w.port.looks[0].error, "no");
  w.port.fails = absl::OkStatus();
  w.Advance(absl::Seconds(30));
  ASSERT_EQ(w.port.looks.size(), 2U);
  EXPECT_EQ(w.port.looks[1].error, "");
}

}  // namespace
}  // namespace tidemark
