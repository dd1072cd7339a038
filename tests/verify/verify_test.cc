// What the oracle excuses, and what lies outside its range.
#include "scheduler/verify/verify.h"

#include <gtest/gtest.h>

#include "common/time_text.h"

namespace tidemark::verify {
namespace {

absl::Time At(std::string_view text) { return *ParseInstant(text); }
absl::CivilDay Day(std::string_view text) { return *ParseDate(text); }

// A daily job, 01:00 UTC, dates from 2026-11-01; now is the noon of the 6th: five dates are due.
History Daily() {
  History history;
  Definition definition;
  definition.version = 1;
  definition.valid_from = At("2026-11-01T00:00:00Z");
  definition.schedule.cron = "0 0 1 * * ?";
  definition.schedule.zone = "UTC";
  history.definitions.push_back(definition);
  history.ledger_from = Day("2026-11-01");
  history.now = At("2026-11-06T12:00:00Z");
  return history;
}

void Complete(History& history, std::string_view date, absl::Time at, std::string trigger) {
  Run run;
  run.run_id = "r" + std::to_string(history.runs.size());
  run.biz_date = Day(date);
  run.occurrence = date;
  run.fire_time = absl::FromCivil(Day(date) + 1, absl::UTCTimeZone()) + absl::Hours(1);
  run.job_version = 1;
  run.trigger = std::move(trigger);
  run.status = "COMPLETED";
  run.created_at = at;
  run.ended_at = at + absl::Minutes(5);
  run.attempts = {{1, at, *run.ended_at, "SUCCEEDED"}};
  history.marks[Day(date)] = {"DONE", "", "", "", run.run_id, *run.ended_at};
  history.runs.push_back(run);
}

History AllDone() {
  History history = Daily();
  for (int day = 1; day <= 5; ++day) {
    const std::string date = "2026-11-0" + std::to_string(day);
    Complete(history, date, At(date + "T01:00:00Z") + absl::Hours(24), "SCHEDULE");
  }
  return history;
}

std::vector<std::string> Found(const History& history, const Range& range = {}) {
  std::vector<std::string> found;
  for (const Finding& finding : VerifyJob(history, range).findings) {
    found.push_back(std::string(Name(finding.kind)) + " " +
                    (finding.date ? FormatDate(*finding.date) : ""));
  }
  return found;
}

using Texts = std::vector<std::string>;

TEST(VerifyTest, ADateIsMissedOnceAndWhatWaitsBehindItIsNot) {
  History history = AllDone();
  for (const char* date : {"2026-11-03", "2026-11-04", "2026-11-05"}) {
    history.marks.erase(Day(date));
  }
  std::erase_if(history.runs,
                [](const verify::Run& run) { return *run.biz_date >= Day("2026-11-03"); });
  EXPECT_EQ(Found(history), (Texts{"missed 2026-11-03"}));
  history.definitions[0].strict = false;
  EXPECT_EQ(Found(history), (Texts{"missed 2026-11-03", "missed 2026-11-04", "missed 2026-11-05"}));
}

TEST(VerifyTest, WhatMayWait) {
  History history = AllDone();
  history.marks.erase(Day("2026-11-05"));
  history.runs.pop_back();
  EXPECT_EQ(Found(history), (Texts{"missed 2026-11-05"}));
  const auto without = [&](const std::function<void(History&)>& change) {
    History other = history;
    change(other);
    return Found(other);
  };
  EXPECT_EQ(without([](History& h) { h.paused = true; }), Texts{});
  EXPECT_EQ(without([](History& h) { h.error = "its zone vanished"; }), Texts{});
  EXPECT_EQ(without([](History& h) { h.definitions[0].enabled = false; }), Texts{});
  EXPECT_EQ(without([](History& h) { h.now = At("2026-11-06T01:05:00Z"); }), Texts{});
  EXPECT_EQ(
      without([](History& h) { h.notices.push_back({"gap_held", {}, h.now, /*open=*/true}); }),
      Texts{});
  EXPECT_EQ(
      without([](History& h) { h.notices.push_back({"gap_held", {}, h.now, /*open=*/false}); }),
      (Texts{"missed 2026-11-05"}))
      << "told, and taken back";
  EXPECT_EQ(without([](History& h) {
              Complete(h, "2026-11-03", At("2026-11-06T02:00:00Z"), "MANUAL");
              h.marks[Day("2026-11-03")].run_id = h.runs[2].run_id;
              h.runs.back().status = "RUNNING";
              h.runs.back().ended_at.reset();
            }),
            Texts{})
      << "another date is live: this one waits for its turn";
}

// The 5th is missing, and what happens to that with an upstream job like the one of `change`.
Texts BehindAnUpstream(const std::function<void(Upstream&)>& change) {
  History history = AllDone();
  history.marks.erase(Day("2026-11-05"));
  history.runs.pop_back();
  Upstream upstream;
  upstream.history = AllDone();
  change(upstream);
  history.upstreams.push_back(std::move(upstream));
  return Found(history);
}

TEST(VerifyTest, ADateThatWaitsForAnotherJobsDateIsNotMissed) {
  const Texts missed = {"missed 2026-11-05"};
  EXPECT_EQ(BehindAnUpstream([](Upstream&) {}), missed) << "done upstream since long";
  EXPECT_EQ(BehindAnUpstream([](Upstream& u) { u.history.marks.erase(Day("2026-11-05")); }),
            Texts{});
  EXPECT_EQ(BehindAnUpstream([](Upstream& u) { u.history.marks.erase(Day("2026-11-04")); }), missed)
      << "another date";
  const auto with = [](const char* status, const char* reason) {
    return BehindAnUpstream([&](Upstream& u) {
      u.history.marks[Day("2026-11-05")].status = status;
      u.history.marks[Day("2026-11-05")].reason = reason;
    });
  };
  EXPECT_EQ(with("FAILED", ""), Texts{});
  EXPECT_EQ(with("RUNNING", ""), Texts{});
  EXPECT_EQ(with("EXPIRED", "retention"), Texts{});
  EXPECT_EQ(with("EXPIRED", "first_launch"), missed);
  EXPECT_EQ(with("WAIVED", ""), missed);
  EXPECT_EQ(BehindAnUpstream([](Upstream& u) {
              u.history.marks[Day("2026-11-05")].updated_at = At("2026-11-06T11:55:00Z");
            }),
            Texts{})
      << "done upstream a moment ago";
}

TEST(VerifyTest, OnlyDatesThatTheUpstreamOwesAreWaitedFor) {
  const Texts missed = {"missed 2026-11-05"};
  const auto open = [](Upstream& u) { u.history.marks.erase(Day("2026-11-05")); };
  EXPECT_EQ(BehindAnUpstream([&](Upstream& u) {
              open(u);
              u.history.ledger_from = Day("2026-11-06");
            }),
            missed)
      << "before its first date";
  EXPECT_EQ(BehindAnUpstream([&](Upstream& u) {
              open(u);
              u.history.definitions[0].schedule.cron = "0 0 3 ? * SUN";
            }),
            missed)
      << "not due there";
  EXPECT_EQ(BehindAnUpstream([&](Upstream& u) {
              u.offset = -1;
              open(u);
            }),
            missed)
      << "waits for the 4th";
  EXPECT_EQ(BehindAnUpstream([&](Upstream& u) {
              u.offset = 1;
              u.history.marks.erase(Day("2026-11-06"));
            }),
            Texts{})
      << "waits for the 6th, which comes due";
}

TEST(VerifyTest, AnUpstreamThatNobodyCanReadHoldsBack) {
  EXPECT_EQ(BehindAnUpstream([](Upstream& u) { u.history.definitions.clear(); }), Texts{});
  EXPECT_EQ(BehindAnUpstream([](Upstream& u) { u.history.error = "its zone vanished"; }), Texts{});
  EXPECT_EQ(BehindAnUpstream([](Upstream& u) { u.history.ledger_from.reset(); }), Texts{});
}

TEST(VerifyTest, ANeverLaunchedJobOwesWhatWasDueSinceItWasMade) {
  History history = Daily();
  history.ledger_from.reset();
  EXPECT_EQ(Found(history), (Texts{"missed 2026-10-31"})) << "strict: the oldest; the rest waits";
  history.paused = true;
  EXPECT_EQ(Found(history), Texts{});
}

TEST(VerifyTest, APersonsWordSettles) {
  History history = AllDone();
  history.runs.erase(history.runs.begin() + 2);
  history.marks[Day("2026-11-03")] = {"WAIVED", "", "no bills",
                                      "ann",    "", At("2026-11-04T01:00:00Z")};
  EXPECT_EQ(Found(history), Texts{});
  history.marks[Day("2026-11-03")].status = "DONE";
  EXPECT_EQ(Found(history), Texts{}) << "forced";
  history.marks[Day("2026-11-03")].updated_at = At("2026-11-05T12:00:00Z");
  EXPECT_EQ(Found(history), (Texts{"out_of_order 2026-11-04"}))
      << "what followed was opened before that word";
}

TEST(VerifyTest, ADateThatWasOpenedAgainMayCompleteAgain) {
  History history = AllDone();
  Complete(history, "2026-11-03", At("2026-11-06T03:00:00Z"), "CATCH_UP");
  EXPECT_EQ(Found(history), (Texts{"duplicate 2026-11-03"}));
  history.undone.push_back(
      {Day("2026-11-03"), "DONE", At("2026-11-04T01:05:00Z"), At("2026-11-06T02:59:00Z")});
  EXPECT_EQ(Found(history), Texts{});
  history.undone.clear();
  history.runs.back().trigger = "MANUAL";
  EXPECT_EQ(Found(history), Texts{});
}

TEST(VerifyTest, ABackfillMayRedoAnywhereInTheOrderWhatAPersonsWordHadSettled) {
  History history = Daily();
  Complete(history, "2026-11-01", At("2026-11-02T01:00:00Z"), "SCHEDULE");
  Complete(history, "2026-11-05", At("2026-11-06T03:00:00Z"), "BACKFILL");
  EXPECT_EQ(Found(history), (Texts{"missed 2026-11-02", "out_of_order 2026-11-05"}));
  history.undone.push_back(
      {Day("2026-11-05"), "DONE", At("2026-11-06T02:00:00Z"), At("2026-11-06T03:00:00Z")});
  EXPECT_EQ(Found(history), (Texts{"missed 2026-11-02"}));
}

TEST(VerifyTest, OutsideTheRangeNothingIsJudged) {
  History history = AllDone();
  history.marks.erase(Day("2026-11-02"));
  history.runs.erase(history.runs.begin() + 1);
  EXPECT_EQ(Found(history, {Day("2026-11-03"), {}}), Texts{});
  EXPECT_EQ(Found(history, {{}, Day("2026-11-01")}), Texts{});
  EXPECT_EQ(Found(history, {Day("2026-11-02"), Day("2026-11-02")}), (Texts{"missed 2026-11-02"}));
}

TEST(VerifyTest, WhatAgedOutOfTheHistoryIsNotHeldAgainstIt) {
  History history = AllDone();
  history.runs.erase(history.runs.begin(), history.runs.begin() + 3);
  EXPECT_EQ(Found(history).size(), 3U);
  history.complete_from = At("2026-11-04T12:00:00Z");
  EXPECT_EQ(Found(history), Texts{});
}

TEST(VerifyTest, AnEditInNoCaseMakesThePastUnexplained) {
  History history = AllDone();
  Definition weekly = history.definitions[0];
  weekly.version = 2;
  weekly.valid_from = At("2026-11-06T10:00:00Z");
  weekly.schedule.cron = "0 0 3 ? * SUN";
  history.definitions.push_back(weekly);
  EXPECT_EQ(Found(history), Texts{});
}

TEST(VerifyTest, IndependentDatesOnlyUpToTheirParallelism) {
  History history = AllDone();
  history.definitions[0].strict = false;
  history.definitions[0].parallelism = 2;
  for (const int i : {0, 1, 2}) {
    history.runs[i].created_at = At("2026-11-04T05:00:00Z") + absl::Seconds(10 * i);
    history.runs[i].attempts[0].sent_at = history.runs[i].created_at;
    history.runs[i].ended_at = At("2026-11-04T06:00:00Z");
  }
  EXPECT_EQ(Found(history), (Texts{"overlapping 2026-11-03"}));
  history.definitions[0].parallelism = 3;
  EXPECT_EQ(Found(history), Texts{});
}

}  // namespace
}  // namespace tidemark::verify
