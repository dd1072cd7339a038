// History that real runs of the engine made is clean; each way of spoiling it is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "common/time_text.h"
#include "scheduler/verify/verify.h"
#include "tests/verify/memory_history.h"

namespace tidemark {
namespace {

using verify::Finding;
using verify::History;
using verify::Run;
using Executor = EngineHarness::Executor;

absl::CivilDay Day(std::string_view text) { return *ParseDate(text); }

// A night job of five dates (one retried, one run again by hand) and a job of every five minutes
// (with an outage and a pause), as an evening of the real engine leaves them.
class World {
 public:
  World() : h_("2026-11-28T03:00:00Z") {
    h_.on_trigger = [this](Executor& e, const TriggerOrder& t) { Work(e, t); };
    night_ = h_.Apply(EngineHarness::DailyJob("night", "2026-11-23"));
    JobSpec beat = EngineHarness::DailyJob("beat", "");
    beat.schedule.cron = "0 0/5 * * * ?";
    beat_ = h_.Apply(beat);
    h_.StartTerm();
    h_.Start("e1");
    h_.Advance(absl::Minutes(61));
    h_.Command(night_, "rerun", {{"biz_date", "2026-11-25"}, {"run_id", "x"}, {"force", "true"}});
    h_.Command(beat_, "pause", {{"reason", "quiet"}});
    h_.Advance(absl::Minutes(30));
    h_.Command(beat_, "resume");
    h_.Advance(absl::Minutes(11));
    h_.KillScheduler();
    h_.Advance(absl::Minutes(40));
    h_.StartTerm();
    h_.Connect(h_.executors.at("e1"));
    h_.AdvanceTo("2026-11-28T17:20:00Z");
  }

  History Of(int64_t job) const {
    return HistoryOf(h_.store, job, h_.now().lo,
                     [this](const std::string& text) { return h_.SpecOf(text); });
  }
  History night() const { return Of(night_); }
  History beat() const { return Of(beat_); }

 private:
  void Work(Executor& e, const TriggerOrder& t) {
    h_.Begin(e, t);
    h_.Advance(absl::Seconds(5));
    const bool fails = t.biz_date == "2026-11-24" && t.attempt.attempt == 1;
    h_.Finish(e, t, fails ? Outcome::kFailedRetryable : Outcome::kSucceeded);
  }

  EngineHarness h_;
  int64_t night_ = 0;
  int64_t beat_ = 0;
};

const World& TheWorld() {
  static const World& world = *new World();
  return world;
}

std::vector<std::string> Texts(const verify::Verdict& verdict) {
  std::vector<std::string> texts;
  for (const Finding& finding : verdict.findings) {
    texts.push_back(std::string(verify::Name(finding.kind)) + " " +
                    (finding.date ? FormatDate(*finding.date) : "") +
                    (finding.fire_time ? FormatInstant(*finding.fire_time) : "") + ": " +
                    finding.text);
  }
  return texts;
}

TEST(CleanTest, WhatTheEngineLeftIsWithoutFindings) {
  const verify::Verdict night = VerifyJob(TheWorld().night(), {});
  EXPECT_THAT(Texts(night), testing::IsEmpty());
  EXPECT_EQ(night.judged, 6);
  const verify::Verdict beat = VerifyJob(TheWorld().beat(), {});
  EXPECT_THAT(Texts(beat), testing::IsEmpty());
  EXPECT_GT(beat.judged, 150);
}

TEST(CleanTest, TheWorldHasWhatTheCorruptionsNeed) {
  const History night = TheWorld().night();
  EXPECT_EQ(night.runs.size(), 7U) << "six dates and a rerun";
  EXPECT_FALSE(TheWorld().beat().skips.empty());
  EXPECT_EQ(TheWorld().beat().pauses.size(), 1U);
}

struct Corruption {
  const char* name;
  bool night;  // else beat
  Finding::Kind kind;
  std::function<void(History&)> spoil;
  bool alone = true;  // there is exactly this one finding
};

void PrintTo(const Corruption& corruption, std::ostream* out) { *out << corruption.name; }

Run& RunOf(History& history, std::string_view date, size_t which = 0) {
  for (Run& run : history.runs) {
    if (run.biz_date == Day(date) && which-- == 0) return run;
  }
  ADD_FAILURE() << "no run of " << date;
  return history.runs.front();
}

void Erase(History& history, std::string_view date) {
  std::erase_if(history.runs, [&](const Run& run) { return run.biz_date == Day(date); });
}

void Shift(Run& run, absl::Duration by) {
  run.created_at += by;
  *run.ended_at += by;
  for (verify::Attempt& attempt : run.attempts) {
    *attempt.sent_at += by;
    *attempt.ended_at += by;
  }
}

// A copy of the run, as another one.
Run& Double(History& history, Run copy, absl::Duration later) {
  copy.run_id += "-again";
  Shift(copy, later);
  history.runs.push_back(std::move(copy));
  return history.runs.back();
}

using Kind = Finding::Kind;

std::vector<Corruption> Corruptions() {
  return {
      {"ARunRemoved", true, Kind::kMissed, [](History& h) { Erase(h, "2026-11-26"); }},
      {"ARunAndItsWatermarkRemoved", true, Kind::kMissed,
       [](History& h) {
         Erase(h, "2026-11-26");
         h.marks.erase(Day("2026-11-26"));
       },
       false},
      {"ADateDoneWithoutRun", true, Kind::kMissed,
       [](History& h) { h.marks[Day("2026-11-26")].run_id = ""; }},
      {"ADateDoneByAFailedRun", true, Kind::kMissed,
       [](History& h) { RunOf(h, "2026-11-26").status = "FAILED"; }, false},
      {"ADateDoneByARunOfAnother", true, Kind::kMissed,
       [](History& h) { h.marks[Day("2026-11-26")].run_id = h.marks[Day("2026-11-24")].run_id; }},
      {"AWatermarkLeftRunning", true, Kind::kMissed,
       [](History& h) { h.marks[Day("2026-11-27")].status = "RUNNING"; }},
      {"ALostWatermark", true, Kind::kMissed, [](History& h) { h.marks.erase(Day("2026-11-27")); }},
      {"ARunDoubled", true, Kind::kDuplicate,
       [](History& h) { Double(h, RunOf(h, "2026-11-26"), absl::Hours(1)); }},
      {"TwoRunsOfOneDateTogether", true, Kind::kOverlapping,
       [](History& h) {
         Run& again = Double(h, RunOf(h, "2026-11-26"), absl::ZeroDuration());
         again.trigger = "MANUAL";
       },
       false},
      {"TwoDatesTogether", true, Kind::kOverlapping,
       [](History& h) {
         Run& run = RunOf(h, "2026-11-26");
         *run.ended_at += absl::Minutes(3);
       },
       false},
      {"TwoAttemptsTogether", true, Kind::kOverlapping,
       [](History& h) { *RunOf(h, "2026-11-24").attempts[0].ended_at += absl::Minutes(3); }},
      {"OrderSwapped", true, Kind::kOutOfOrder,
       [](History& h) {
         const absl::Duration apart =
             RunOf(h, "2026-11-26").created_at - RunOf(h, "2026-11-25").created_at;
         Shift(RunOf(h, "2026-11-25"), apart);
         Shift(RunOf(h, "2026-11-26"), -apart);
         h.marks[Day("2026-11-25")].updated_at += apart;
         h.marks[Day("2026-11-26")].updated_at -= apart;
       }},
      {"ADateRunBeforeItWasDue", true, Kind::kUnexplained,
       [](History& h) { Shift(RunOf(h, "2026-11-27"), -absl::Hours(24)); }, false},
      {"ARunOfADateThatIsNotDue", true, Kind::kUnexplained,
       [](History& h) {
         h.definitions[0].schedule.cron = "0 0 1 ? * MON-FRI";
         h.marks.erase(Day("2026-11-27"));
       },
       false},
      {"ARunBeforeTheFirstDate", true, Kind::kUnexplained,
       [](History& h) { h.ledger_from = Day("2026-11-24"); }},
      {"WaivedWithoutAName", true, Kind::kUnexplained,
       [](History& h) {
         Erase(h, "2026-11-26");
         h.marks[Day("2026-11-26")].status = "WAIVED";
       }},
      {"ExpiredWithoutTelling", true, Kind::kUnexplained,
       [](History& h) {
         Erase(h, "2026-11-23");
         h.marks[Day("2026-11-23")].status = "EXPIRED";
         h.marks[Day("2026-11-23")].reason = "first_launch";
       }},
      {"FailedThoughItCompleted", true, Kind::kUnexplained,
       [](History& h) { h.marks[Day("2026-11-27")].status = "FAILED"; }},
      {"FailedWithoutRun", true, Kind::kUnexplained,
       [](History& h) {
         Erase(h, "2026-11-27");
         h.marks[Day("2026-11-27")].status = "FAILED";
       },
       false},
      {"AFireWithoutRun", false, Kind::kMissed,
       [](History& h) { h.runs.erase(h.runs.begin() + 3); }},
      {"ASkipRemoved", false, Kind::kMissed, [](History& h) { h.skips.clear(); }, false},
      {"ASkipThatCountsWrong", false, Kind::kUnexplained, [](History& h) { ++h.skips[0].fires; }},
      {"APauseRemoved", false, Kind::kMissed, [](History& h) { h.pauses.clear(); }, false},
      {"AFireDoubled", false, Kind::kDuplicate,
       [](History& h) { Double(h, h.runs[3], absl::Minutes(1)); }},
      {"TwoFiresTogether", false, Kind::kOverlapping,
       [](History& h) { *h.runs[3].ended_at += absl::Minutes(7); }},
      {"ARunOfNoFire", false, Kind::kUnexplained,
       [](History& h) {
         Run& run = Double(h, h.runs[3], absl::Minutes(1));
         run.fire_time += absl::Minutes(1);
         run.occurrence = "another";
       }},
  };
}

class CorruptionTest : public testing::TestWithParam<Corruption> {};

TEST_P(CorruptionTest, IsFound) {
  History history = GetParam().night ? TheWorld().night() : TheWorld().beat();
  GetParam().spoil(history);
  const verify::Verdict verdict = VerifyJob(history, {});
  EXPECT_TRUE(std::any_of(verdict.findings.begin(), verdict.findings.end(),
                          [](const Finding& finding) { return finding.kind == GetParam().kind; }))
      << testing::PrintToString(Texts(verdict));
  if (GetParam().alone) {
    EXPECT_THAT(Texts(verdict), testing::SizeIs(1));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, CorruptionTest, testing::ValuesIn(Corruptions()),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace tidemark
