#include "scheduler/core/time/timeline.h"

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/time/time_test_util.h"

namespace tidemark {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using List = std::vector<std::string>;

std::shared_ptr<const Schedule> Make(const ScheduleSpec& spec,
                                     std::shared_ptr<const Calendar> calendar = nullptr) {
  return std::make_shared<const Schedule>(Must(Schedule::Compile(spec, std::move(calendar))));
}

std::shared_ptr<const Schedule> Make(const std::string& cron, const std::string& zone = "UTC",
                                     int offset = -1) {
  ScheduleSpec spec = CronSpec(cron, zone);
  spec.biz_offset = offset;
  return Make(spec);
}

std::string Show(const Occurrence& occurrence) {
  return absl::FormatCivilTime(occurrence.biz_date) + "<" +
         Text(occurrence.fire_time, absl::UTCTimeZone());
}

List Show(const std::vector<Occurrence>& occurrences) {
  List list;
  for (const Occurrence& occurrence : occurrences) list.push_back(Show(occurrence));
  return list;
}

List Nexts(const Timeline& timeline, const char* from, int n) {
  List list;
  absl::Time after = At(from);
  for (int i = 0; i < n; ++i) {
    const std::optional<Occurrence> next = timeline.Next(after);
    if (!next) break;
    list.push_back(Show(*next));
    after = next->fire_time;
  }
  return list;
}

Timeline Edited(std::shared_ptr<const Schedule> before, const char* when,
                std::shared_ptr<const Schedule> after) {
  return Timeline({{absl::InfinitePast(), std::move(before)}, {At(when), std::move(after)}});
}

TEST(Timeline, ADateThatWasDueStaysWhateverLaterEditsDo) {
  // Due at 01:00 of the 10th, moved to 18:00 of the same day, and before that to Mondays alone.
  const Timeline timeline({{absl::InfinitePast(), Make("0 0 1 * * ?")},
                           {At("2026-11-10T09:00:00Z"), Make("0 0 18 * * ?")},
                           {At("2026-11-10T12:00:00Z"), Make("0 0 2 ? * MON")}});
  const auto due = timeline.OccurrenceOf(absl::CivilDay(2026, 11, 9));
  ASSERT_TRUE(due.has_value()) << "it may have run, or failed, at 01:00";
  EXPECT_EQ(Show(*due), "2026-11-09<" + Text(At("2026-11-10T18:00:00Z"), absl::UTCTimeZone()));
  EXPECT_FALSE(timeline.OccurrenceOf(absl::CivilDay(2026, 11, 10)).has_value());
}

TEST(Timeline, EmptyIsNeverDue) {
  const Timeline timeline;
  EXPECT_FALSE(timeline.dated());
  EXPECT_EQ(timeline.Next(absl::InfinitePast()), std::nullopt);
  EXPECT_EQ(timeline.OccurrenceOf(Day(2026, 1, 1)), std::nullopt);
  EXPECT_THAT(timeline.Due(Day(2026, 1, 1), At("2026-02-01T00:00:00Z")), IsEmpty());
  EXPECT_THAT(timeline.DueFires(absl::InfinitePast(), absl::InfiniteFuture(), 5), IsEmpty());
}

TEST(Timeline, DueIsOldestFirstAndReachesBackBeforeCreation) {
  const Timeline timeline({{At("2026-11-28T12:00:00Z"), Make("0 0 1 * * ?", "Asia/Shanghai")}});
  const std::vector<Occurrence> due =
      timeline.Due(Day(2026, 11, 24), At("2026-11-29T01:00:00+08:00"));
  EXPECT_EQ(Show(due), (List{"2026-11-24<2026-11-24T17:00:00Z", "2026-11-25<2026-11-25T17:00:00Z",
                             "2026-11-26<2026-11-26T17:00:00Z", "2026-11-27<2026-11-27T17:00:00Z",
                             "2026-11-28<2026-11-28T17:00:00Z"}));
  EXPECT_EQ(timeline.Due(Day(2026, 11, 24), At("2026-11-29T00:59:59+08:00")).size(), 4u);
  EXPECT_EQ(timeline.Due(Day(2026, 11, 24), At("2026-11-29T01:00:00+08:00"), 2).size(), 2u);
  EXPECT_EQ(Show(*timeline.LatestDue(Day(2026, 11, 24), At("2026-11-29T01:00:00+08:00"))),
            "2026-11-28<2026-11-28T17:00:00Z");
  EXPECT_EQ(timeline.LatestDue(Day(2026, 11, 24), At("2026-11-24T00:00:00Z")), std::nullopt);
}

TEST(Timeline, TodayUsesTheNewTimeIfItIsAhead) {
  const Timeline timeline = Edited(Make("0 1 * * *"), "2026-05-10T09:00:00Z", Make("0 23 * * *"));
  EXPECT_EQ(Nexts(timeline, "2026-05-08T12:00:00Z", 3),
            (List{"2026-05-08<2026-05-09T01:00:00Z", "2026-05-09<2026-05-10T23:00:00Z",
                  "2026-05-10<2026-05-11T23:00:00Z"}));
}

TEST(Timeline, TodayUsesTheOldTimeIfOnlyThatIsAhead) {
  const Timeline timeline = Edited(Make("0 23 * * *"), "2026-05-10T09:00:00Z", Make("0 1 * * *"));
  EXPECT_EQ(Nexts(timeline, "2026-05-09T12:00:00Z", 3),
            (List{"2026-05-08<2026-05-09T23:00:00Z", "2026-05-09<2026-05-10T23:00:00Z",
                  "2026-05-10<2026-05-11T01:00:00Z"}));
}

TEST(Timeline, TodayStaysMissingUnderTheOldVersionIfBothHavePassed) {
  const Timeline timeline = Edited(Make("0 3 * * *"), "2026-05-10T09:00:00Z", Make("0 1 * * *"));
  EXPECT_EQ(Show(*timeline.OccurrenceOf(Day(2026, 5, 9))), "2026-05-09<2026-05-10T03:00:00Z");
  EXPECT_EQ(Nexts(timeline, "2026-05-10T03:00:00Z", 1), (List{"2026-05-10<2026-05-11T01:00:00Z"}));
}

TEST(Timeline, PastTimesOfTheNewVersionNeverFire) {
  const Timeline timeline =
      Edited(Make("0 1 * * 1"), "2026-05-13T09:00:00Z", Make("0 1 * * *"));  // a Wednesday
  EXPECT_EQ(timeline.OccurrenceOf(Day(2026, 5, 12)), std::nullopt);
  EXPECT_EQ(Nexts(timeline, "2026-05-09T00:00:00Z", 3),
            (List{"2026-05-10<2026-05-11T01:00:00Z", "2026-05-13<2026-05-14T01:00:00Z",
                  "2026-05-14<2026-05-15T01:00:00Z"}));
}

TEST(Timeline, ADateThatTheNewVersionDropsIsNotDue) {
  const Timeline timeline = Edited(Make("0 23 * * *"), "2026-05-13T09:00:00Z", Make("0 1 * * 1"));
  EXPECT_EQ(Nexts(timeline, "2026-05-12T00:00:00Z", 2),
            (List{"2026-05-11<2026-05-12T23:00:00Z", "2026-05-17<2026-05-18T01:00:00Z"}));
}

TEST(Timeline, AnEditAtTheVeryInstantTakesTheNewTime) {
  const Timeline timeline = Edited(Make("0 1 * * *"), "2026-05-10T05:00:00Z", Make("0 5 * * *"));
  EXPECT_EQ(Show(*timeline.OccurrenceOf(Day(2026, 5, 9))), "2026-05-09<2026-05-10T05:00:00Z");
}

TEST(Timeline, AnOffsetEditLosesNothingByItself) {
  // Until noon each day was handled the day after, then the same day at 01:00.
  const Timeline timeline =
      Edited(Make("0 1 * * *", "UTC", -1), "2026-05-10T12:00:00Z", Make("0 1 * * *", "UTC", 0));
  EXPECT_EQ(Show(*timeline.OccurrenceOf(Day(2026, 5, 9))), "2026-05-09<2026-05-10T01:00:00Z");
  EXPECT_EQ(Show(*timeline.OccurrenceOf(Day(2026, 5, 10))), "2026-05-10<2026-05-11T01:00:00Z");
  EXPECT_EQ(Show(*timeline.OccurrenceOf(Day(2026, 5, 11))), "2026-05-11<2026-05-11T01:00:00Z");
}

TEST(Timeline, AnOffsetEditMovesNoHandledDate) {
  const Timeline timeline =
      Edited(Make("0 1 * * *", "UTC", 0), "2026-05-10T12:00:00Z", Make("0 1 * * *", "UTC", -1));
  EXPECT_EQ(Show(*timeline.OccurrenceOf(Day(2026, 5, 10))), "2026-05-10<2026-05-10T01:00:00Z");
  EXPECT_EQ(Nexts(timeline, "2026-05-10T12:00:00Z", 1), (List{"2026-05-11<2026-05-12T01:00:00Z"}));
}

TEST(Timeline, IntervalJobsSwitchAtTheEdit) {
  const Timeline timeline =
      Edited(Make("0 * * * *"), "2026-05-10T09:30:00Z", Make("0,45 */2 * * *"));
  EXPECT_FALSE(timeline.dated());
  const List expected = {"2026-05-09<2026-05-10T08:00:00Z", "2026-05-09<2026-05-10T09:00:00Z",
                         "2026-05-09<2026-05-10T10:00:00Z", "2026-05-09<2026-05-10T10:45:00Z"};
  EXPECT_EQ(Show(timeline.DueFires(At("2026-05-10T07:00:00Z"), At("2026-05-10T10:45:00Z"), 10)),
            expected);
  EXPECT_EQ(timeline.DueFires(At("2026-05-10T07:00:00Z"), At("2026-05-10T10:45:00Z"), 2).size(),
            2u);
  EXPECT_EQ(Nexts(timeline, "2026-05-10T07:00:00Z", 4), expected);
}

TEST(Timeline, AChangeOfTrackingStartsAfresh) {
  const Timeline to_dated = Edited(Make("0 * * * *"), "2026-05-10T09:30:00Z", Make("0 1 * * *"));
  EXPECT_TRUE(to_dated.dated());
  EXPECT_EQ(to_dated.OccurrenceOf(Day(2026, 5, 1)), std::nullopt);
  EXPECT_EQ(Nexts(to_dated, "2026-05-01T00:00:00Z", 1), (List{"2026-05-10<2026-05-11T01:00:00Z"}));
  const Timeline to_interval = Edited(Make("0 1 * * *"), "2026-05-10T09:30:00Z", Make("0 * * * *"));
  EXPECT_EQ(Nexts(to_interval, "2026-05-01T00:00:00Z", 1),
            (List{"2026-05-09<2026-05-10T10:00:00Z"}));
}

TEST(Timeline, VersionsAreSorted) {
  const Timeline timeline({{At("2026-05-10T09:00:00Z"), Make("0 23 * * *")},
                           {At("2026-01-01T00:00:00Z"), Make("0 1 * * *")}});
  EXPECT_EQ(timeline.current().spec().cron, "0 23 * * *");
}

// Next, DueAt, OccurrenceOf and Due are one function: over random edits, the first two list
// exactly the dates that Due lists, and no date twice.
TEST(Timeline, NextAndDueAgreeOverRandomEdits) {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const char* zones[] = {"UTC", "Asia/Shanghai", "America/New_York", "Pacific/Apia"};
  const char* days[] = {"* *", "* *", "* 1-5", "1,15 *"};
  for (int round = 0; round < 300; ++round) {
    std::vector<ScheduleVersion> versions;
    absl::Time edit = At("2026-02-20T00:00:00Z");
    for (int i = pick(1, 4); i > 0; --i) {
      const std::string day = days[pick(0, 3)];
      const std::string cron = std::to_string(30 * pick(0, 1)) + " " + std::to_string(pick(0, 7)) +
                               " " + day.substr(0, day.find(' ')) + " * " +
                               day.substr(day.find(' ') + 1);
      versions.push_back({edit, Make(cron, zones[pick(0, 3)], pick(-3, 2))});
      edit += absl::Minutes(pick(1, 20000));
    }
    const Timeline timeline(versions);
    const absl::Time end = At("2026-06-01T00:00:00Z");
    std::set<std::pair<absl::Time, absl::CivilDay>> by_date, by_next;
    for (const Occurrence& o : timeline.Due(Day(2026, 1, 1), end)) {
      EXPECT_TRUE(by_date.emplace(o.fire_time, o.biz_date).second);
    }
    absl::Time after = At("2025-12-01T00:00:00Z");
    while (const std::optional<Occurrence> next = timeline.Next(after)) {
      if (next->fire_time > end) break;
      after = next->fire_time;
      // What has fired up to here and what is ahead.
      const std::vector<Occurrence> due = timeline.Due(Day(2026, 1, 1), after);
      if (!due.empty()) {
        std::optional<absl::CivilDay> oldest;
        for (const Occurrence& o : timeline.Due(Day(2026, 1, 1), end + absl::Hours(24 * 60))) {
          if (o.fire_time > after && o.biz_date <= due.back().biz_date && !oldest)
            oldest = o.biz_date;
        }
        EXPECT_EQ(timeline.OldestAhead(due.back().biz_date, after), oldest) << "round " << round;
      }
      const std::vector<Occurrence> same = timeline.DueAt(next->fire_time);
      EXPECT_TRUE(std::count(same.begin(), same.end(), *next)) << "round " << round;
      for (const Occurrence& o : same) {
        if (o.biz_date >= Day(2026, 1, 1)) by_next.emplace(o.fire_time, o.biz_date);
      }
    }
    EXPECT_EQ(by_date, by_next) << "round " << round;
  }
}

EditVerdict Judge(std::shared_ptr<const Schedule> before, const char* when,
                  std::shared_ptr<const Schedule> after) {
  return JudgeEdit(*before, *after, At(when));
}

TEST(JudgeEdit, FindsTheDateThatNeitherVersionWouldRun) {
  const EditVerdict verdict =
      Judge(Make("0 1 * * *", "UTC", -1), "2026-05-10T12:00:00Z", Make("0 1 * * *", "UTC", 0));
  EXPECT_THAT(verdict.lost, ElementsAre(Day(2026, 5, 10)));
  EXPECT_THAT(verdict.repeated, IsEmpty());
  EXPECT_FALSE(verdict.ok());
}

TEST(JudgeEdit, FindsTheDateThatBothVersionsWouldRun) {
  const EditVerdict verdict =
      Judge(Make("0 1 * * *", "UTC", 0), "2026-05-10T12:00:00Z", Make("0 1 * * *", "UTC", -2));
  EXPECT_THAT(verdict.repeated, ElementsAre(Day(2026, 5, 9), Day(2026, 5, 10)));
  EXPECT_THAT(verdict.lost, IsEmpty());
}

TEST(JudgeEdit, AZoneEditMayLoseOrRepeatADate) {
  // At noon UTC Shanghai has had its 01:00 of the day, New York's 23:00 is still to come.
  EXPECT_THAT(Judge(Make("0 23 * * *", "Asia/Shanghai"), "2026-05-10T16:00:00Z",
                    Make("0 23 * * *", "America/New_York"))
                  .repeated,
              ElementsAre(Day(2026, 5, 9)));
  EXPECT_THAT(Judge(Make("0 23 * * *", "America/New_York"), "2026-05-10T16:00:00Z",
                    Make("0 23 * * *", "Asia/Shanghai"))
                  .lost,
              ElementsAre(Day(2026, 5, 9)));
  EXPECT_TRUE(Judge(Make("0 23 * * *", "America/New_York"), "2026-05-10T12:00:00Z",
                    Make("0 23 * * *", "Asia/Shanghai"))
                  .ok());
}

TEST(JudgeEdit, AUnitEditIsJudged) {
  Calendar::Spec spec;
  spec.name = "c";
  spec.dates = {Day(2026, 1, 1)};
  const auto calendar = std::make_shared<const Calendar>(Must(Calendar::Make(spec)));
  ScheduleSpec business = CronSpec("0 1 * * *", "UTC");
  business.calendar = "c";
  business.biz_unit = ScheduleSpec::Unit::kBusinessDay;
  // Friday 8 May ran on Saturday; with business days Monday would run it again.
  EXPECT_THAT(
      JudgeEdit(*Make("0 1 * * *"), *Make(business, calendar), At("2026-05-09T12:00:00Z")).repeated,
      ElementsAre(Day(2026, 5, 8)));
  // The other way round Friday's own run, on Monday, is dropped before it comes.
  EXPECT_THAT(
      JudgeEdit(*Make(business, calendar), *Make("0 1 * * *"), At("2026-05-09T12:00:00Z")).lost,
      ElementsAre(Day(2026, 5, 8)));
}

TEST(JudgeEdit, OtherEditsLoseNothing) {
  EXPECT_TRUE(Judge(Make("0 1 * * *"), "2026-05-10T12:00:00Z", Make("0 23 * * *")).ok());
  EXPECT_TRUE(Judge(Make("0 1 * * *"), "2026-05-10T12:00:00Z", Make("0 * * * *", "UTC", 0)).ok());
}

}  // namespace
}  // namespace tidemark
