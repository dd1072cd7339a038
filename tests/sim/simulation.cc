#include "tests/sim/simulation.h"

#include <algorithm>
#include <utility>

#include "common/time_text.h"
#include "scheduler/verify/due_plan.h"
#include "scheduler/verify/verify.h"
#include "tests/verify/memory_history.h"

namespace tidemark::sim {
namespace {

constexpr absl::Duration kFaultTime = absl::Hours(24);
// What is due an hour before the end of the calm must be settled by then.
constexpr absl::Duration kCalmTime = absl::Hours(8);
// By then an edit's effect on the past is found.
constexpr absl::Duration kChecksAll = absl::Minutes(150);
constexpr absl::Duration kPatienceWithFailures = absl::Hours(2);

}  // namespace

Simulation::Simulation(uint64_t seed) : seed_(seed), random_(seed) {
  const absl::Time start = *ParseInstant("2026-11-20T16:30:00Z");  // 00:30 in Shanghai
  scheduler_ = std::make_unique<SimScheduler>(
      start, queue_, random_, store_, MakeDecoders(),
      SimScheduler::Outside{[this](const Outbound& message) { ToExecutor(message); },
                            [this](StreamId stream) { CloseStream(stream); }});
  scheduler_->doubt = 0.5;
  ImportCalendar({}, /*retroactive=*/false);
  AddDailyJob("strict", CatchUpOrder::kStrict, "");
  AddDailyJob("loose", CatchUpOrder::kIndependent, "cn");
  AddDailyJob("mortal", CatchUpOrder::kStrict, "");
  AddBeatJob();
  AddExecutor("e1", "e1", true);
  AddExecutor("e2", "e2", true);
  AddExecutor("e3", "e3", false);
  AddExecutor("e1-twin", "e1", true);
  executors_.back()->comes_back = false;
}

void Simulation::Trace(const std::string& what) {
  report_.trace.push_back(DurationText(queue_.now()) + " " + what);
}

// ---------------------------------------------------------------- the oracles' eyes

std::vector<absl::CivilDay> Simulation::DueDates(int64_t job_id, absl::Time until) const {
  std::vector<absl::CivilDay> dates;
  const auto job = store_.jobs.find(job_id);
  if (job == store_.jobs.end() || !job->second.ledger_from.has_value()) return dates;
  const verify::History history =
      HistoryOf(store_, job_id, scheduler_->DbNow(),
                [this](const std::string& text) { return SpecOf(text); });
  const verify::DuePlan plan(history);
  for (const verify::DueDate& due : plan.Dates(*job->second.ledger_from, until)) {
    if (due.last <= until) dates.push_back(due.date);
  }
  return dates;
}

// All jobs are in Shanghai, where the clock is never set.
std::vector<absl::CivilDay> Simulation::ExpectedDates(int64_t job_id, absl::Time until) const {
  std::vector<absl::CivilDay> dates;
  const auto job = store_.jobs.find(job_id);
  if (job == store_.jobs.end() || !job->second.ledger_from.has_value()) return dates;
  const std::optional<absl::Duration> by = NewestSpec(job->second.name).expected_by;
  const verify::History history =
      HistoryOf(store_, job_id, scheduler_->DbNow(),
                [this](const std::string& text) { return SpecOf(text); });
  const absl::TimeZone zone = absl::FixedTimeZone(8 * 3600);
  for (const verify::DueDate& due :
       verify::DuePlan(history).Dates(*job->second.ledger_from, until)) {
    absl::Time at =
        absl::FromCivil(absl::ToCivilDay(due.last, zone), zone) + by.value_or(absl::Hours(9));
    if (!by.has_value()) at = std::max(at, due.last + absl::Hours(2));
    if (at <= due.last) at += absl::Hours(24);
    if (at > job->second.created_at && at <= until) dates.push_back(due.date);
  }
  return dates;
}

void Simulation::ForgetSuperseded() {
  for (const auto& executor : executors_) {
    const auto acting = store_.executors.find(executor->executor_id());
    if (!executor->alive() || acting == store_.executors.end()) continue;
    const bool was_acting =
        store_.incarnations.contains(executor->executor_id() + "/" + executor->uuid());
    if (!was_acting || acting->second.second == executor->uuid()) continue;
    if (oracle_.Died(executor->Process())) ++report_.superseded;
  }
}

void Simulation::CheckEntering(const v1::Trigger& trigger) {
  Focus();
  ForgetSuperseded();
  if (trigger.job() != "strict") return;
  std::vector<std::string> before;
  const absl::CivilDay date = *ParseDate(trigger.biz_date());
  // A forced rerun of a DONE date, which a person's word may have made so, is in nobody's way.
  const auto mark = store_.watermarks.find({job_ids_.at("strict"), date});
  if (mark != store_.watermarks.end() && mark->second.status == "DONE") return;
  for (const absl::CivilDay day : DueDates(job_ids_.at("strict"), scheduler_->DbNow())) {
    if (day < date) before.push_back("strict/" + FormatDate(day));
  }
  oracle_.CheckOrder(queue_.now(), "strict/" + trigger.biz_date(), before);
}

void Simulation::CheckEnd() {
  for (const auto& [id, done] : store_.commands) {
    if (done.code != absl::StatusCode::kOk) Trace("refused " + id + ": " + done.message);
  }
  for (const auto& [key, run] : store_.active) {
    Trace("live at the end: " + run.job_name + " " + key.key + " " + run.run_id + " in '" +
          run.executor_id + "'" + (run.held ? " held" : ""));
  }
  oracle_.CheckWatermarks(queue_.now(), store_);
  oracle_.CheckTold(queue_.now(), store_);
  for (const auto& [id, job] : store_.jobs) {
    const std::string name = job.name;
    if (name != "beat") {
      const auto due = DueDates(id, scheduler_->DbNow() - absl::Hours(1));
      if (due.size() < 2) oracle_.Blame(queue_.now(), name + ": nothing was due");
      oracle_.CheckSettled(queue_.now(), store_, id, due);
      oracle_.CheckJudged(queue_.now(), store_, id,
                          ExpectedDates(id, scheduler_->DbNow() - kChecksAll));
    }
    const verify::Verdict verdict =
        VerifyJob(HistoryOf(store_, id, scheduler_->DbNow(),
                            [this](const std::string& text) { return SpecOf(text); }),
                  {});
    report_.judged += static_cast<size_t>(verdict.judged);
    for (const verify::Finding& finding : verdict.findings) {
      std::string text = "verify: " + std::string(verify::Name(finding.kind)) + " " + name + " " +
                         (finding.date ? FormatDate(*finding.date) : "") +
                         (finding.fire_time ? FormatInstant(*finding.fire_time) : "") + ": " +
                         finding.text;
      for (const std::string& run_id : finding.run_ids) text += " " + run_id;
      oracle_.Blame(queue_.now(), text);
    }
  }
}

// ---------------------------------------------------------------- the course

void Simulation::Calm() {
  faults_on_ = false;
  calm_since_ = queue_.now();
  Trace("calm");
  for (const auto& executor : executors_) {
    executor->odds = {0, 0, 0, absl::Seconds(20)};
    executor->FreeDisk();
    if (!executor->comes_back) executor->Kill();
    if (!executor->alive() && executor->comes_back) executor->Start();
  }
  if (!scheduler_->alive()) scheduler_->Start();
  for (const auto& [id, job] : store_.jobs) scheduler_->Order(id, "resume", {});
}

// What alerts ask a person for: dates that were cancelled or are held are opened by hand, and what
// failed and no fire has opened again for a while.
void Simulation::MendByHand() {
  const bool long_enough = queue_.now() - calm_since_ > kPatienceWithFailures;
  for (const auto& [key, mark] : store_.watermarks) {
    if (mark.status != "FAILED" || !store_.jobs.contains(key.first)) continue;
    if (!long_enough && mark.reason != "cancelled" && mark.reason != "held") continue;
    const std::string id =
        scheduler_->Order(key.first, "trigger", {{"biz_date", FormatDate(key.second)}});
    Trace("by hand (" + id + "): job " + std::to_string(key.first) + " " + FormatDate(key.second) +
          " " + mark.reason);
  }
  queue_.After(absl::Minutes(30), [this] { MendByHand(); });
}

SimReport Simulation::Run() {
  const absl::Duration begin = queue_.now();
  scheduler_->Start();
  for (const auto& executor : executors_) {
    if (!executor->comes_back) continue;
    queue_.After(absl::Seconds(60) * random_.Uniform(), [to = executor.get()] {
      if (!to->alive()) to->Start();
    });
  }
  PlanFault();
  queue_.RunUntil(begin + kFaultTime);
  Calm();
  MendByHand();
  queue_.RunUntil(begin + kFaultTime + kCalmTime);
  CheckEnd();
  for (const std::string& violation : oracle_.violations()) {
    report_.violations.push_back(violation);
  }
  report_.events = queue_.happened();
  report_.handlers_entered = oracle_.entered();
  report_.simulated = queue_.now() - begin;
  return report_;
}

}  // namespace tidemark::sim
