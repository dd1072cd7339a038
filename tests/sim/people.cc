// What people do to the world, at any moment.
#include <utility>

#include "common/time_text.h"
#include "scheduler/core/catch_up.h"
#include "tests/sim/simulation.h"

namespace tidemark::sim {

void Simulation::DeleteWatermark() {
  if (Store().watermarks.empty()) return;
  auto it = Store().watermarks.begin();
  std::advance(it, static_cast<int64_t>(random_.Next() % Store().watermarks.size()));
  const auto [job, date] = it->first;
  Count("watermark deleted by SQL", FormatDate(date) + " " + it->second.status);
  Store().now = DbNow();
  Store().DeleteWatermark(job, date);
}

void Simulation::DeleteRunningWatermark() {
  for (const auto& [key, run] : Store().active) {
    if (!run.biz_date.has_value()) continue;
    Count("watermark of a live date deleted", key.key);
    Store().now = DbNow();
    Store().DeleteWatermark(key.job_id, *run.biz_date);
    return;
  }
}

void Simulation::OrderCancel() {
  if (Store().active.empty()) return;
  auto it = Store().active.begin();
  std::advance(it, static_cast<int64_t>(random_.Next() % Store().active.size()));
  Count("cancel ordered", it->second.run_id);
  Order(it->first.job_id, "cancel", {{"run_id", it->second.run_id}});
}

void Simulation::OrderRerun() {
  const auto [name, id] = AnyJob();
  if (name == "beat") {
    Count("manual trigger ordered", name);
    Order(id, "trigger", {});
    return;
  }
  const std::string date = FormatDate(*ParseDate("2026-11-16") + random_.Next() % 5);
  const bool cascade = random_.Uniform() < 0.5;
  Count(cascade ? "rerun with cascade ordered" : "rerun ordered", name + " " + date);
  Order(id, "rerun",
        {{"biz_date", date},
         {"run_id", "x"},
         {"force", "true"},
         {"cascade", cascade ? "true" : "false"}});
}

void Simulation::OrderBackfill() {
  const auto [name, id] = AnyJob();
  if (name == "beat") return;
  const absl::CivilDay from = *ParseDate("2026-11-16") + random_.Next() % 5;
  const absl::CivilDay to = from + random_.Next() % 4;
  constexpr const char* kReprocess[] = {"missing", "failed", "all"};
  const std::string reprocess = kReprocess[random_.Next() % std::size(kReprocess)];
  const bool loose = name == "loose";
  Count("backfill ordered",
        name + " " + FormatDate(from) + " to " + FormatDate(to) + " " + reprocess);
  Order(id, "backfill_create",
        {{"backfill_id", "backfill" + std::to_string(++made_backfills_)},
         {"from", FormatDate(from)},
         {"to", FormatDate(to)},
         {"reprocess", reprocess},
         {"reverse", loose && random_.Uniform() < 0.5 ? "true" : "false"},
         {"parallel", loose ? std::to_string(1 + random_.Next() % 3) : "1"}});
}

void Simulation::MoveBackfill() {
  if (Store().backfills.empty()) return;
  auto it = Store().backfills.begin();
  std::advance(it, static_cast<std::ptrdiff_t>(random_.Next() % Store().backfills.size()));
  constexpr const char* kMoves[] = {"backfill_pause", "backfill_resume", "backfill_cancel"};
  const std::string move = kMoves[random_.Next() % std::size(kMoves)];
  Count("backfill paused, resumed, cancelled", it->first + " " + move);
  Order(it->second.job_id, move, {{"backfill_id", it->first}, {"reason", "simulation"}});
}

void Simulation::OrderDrill() {
  const auto [name, id] = AnyJob();
  if (name == "beat") return;
  Count("drill ordered", name);
  Order(id, "drill",
        {{"drill_id", "drill" + std::to_string(++made_backfills_)},
         {"days", std::to_string(1 + random_.Next() % 3)},
         {"now", random_.Uniform() < 0.5 ? "true" : "false"},
         {"allow_no_fingerprint", "true"}});
}

std::string Simulation::AnyDated() {
  constexpr const char* kNames[] = {"strict", "loose", "report"};
  return kNames[random_.Next() % std::size(kNames)];
}

void Simulation::PauseJob() {
  const auto [name, id] = AnyJob();
  Count("job paused", name);
  Order(id, "pause", {{"reason", "simulation"}});
  const bool skip = random_.Uniform() < 0.2;
  queue_.After(absl::Hours(3) * random_.Uniform() * random_.Uniform(),
               [this, name = name, id = id, skip] {
                 Trace("job resumed: " + name);
                 if (skip) {
                   for (const absl::CivilDay date : DueDates(id, DbNow())) {
                     oracle_.Excuse(name + "/" + FormatDate(date));
                   }
                 }
                 Order(id, "resume", {{"skip_missed", skip ? "true" : "false"}});
               });
}

void Simulation::EditJob() {
  const std::string name = AnyDated();
  JobSpec spec = NewestSpec(name);
  constexpr const char* kTimes[] = {"0 0 1 * * ?", "0 30 0 * * ?", "0 0 6 * * ?", "0 45 13 * * ?",
                                    "0 0 20 * * ?"};
  spec.schedule.cron = kTimes[random_.Next() % std::size(kTimes)];
  if (name == "loose" && random_.Uniform() < 0.3) spec.schedule.cron = "0 0 2 ? * MON-FRI";
  spec.retry.max_attempts = 2 + static_cast<int>(random_.Next() % 3);
  Count("job edited", name + " " + spec.schedule.cron);
  Edit(name, spec);
}

// As an apply would: an edit that loses or repeats dates is refused, or told what is to become of
// them.
void Simulation::EditOffset() {
  const std::string name = AnyDated();
  const JobSpec old = NewestSpec(name);
  JobSpec spec = old;
  spec.schedule.biz_offset = -static_cast<int>(random_.Next() % 3);
  const auto& history = calendars_.at("cn");
  const auto calendar = old.schedule.calendar.empty() ? nullptr : history.back().calendar;
  const EditVerdict verdict =
      JudgeEdit(*Schedule::Compile(old.schedule, calendar),
                *Schedule::Compile(spec.schedule, calendar), EditTime(name));
  const double luck = random_.Uniform();
  const std::string what = name + " " + std::to_string(old.schedule.biz_offset) + " → " +
                           std::to_string(spec.schedule.biz_offset);
  if (!verdict.ok() && luck < 0.2) return Trace("edit of the offset refused: " + what);
  const bool waive = luck < 0.6;
  Count(verdict.ok() ? "offset edited"
        : waive      ? "offset edited, gap waived"
                     : "offset edited, gap filled",
        what);
  if (waive) WaiveLost(name, verdict.lost);
  Edit(name, spec);
}

// In the transaction of the edit, beside the engine: neither what is live nor what is settled.
void Simulation::WaiveLost(const std::string& name, const std::vector<absl::CivilDay>& lost) {
  const int64_t id = job_ids_.at(name);
  for (const absl::CivilDay date : lost) {
    if (Store().active.contains(DateKey(id, date))) continue;
    MemoryStore::Watermark& mark = Store().watermarks[{id, date}];
    if (mark.status == "EXPIRED" || IsSettled(mark.status, mark.reason)) continue;
    mark.status = "WAIVED";
    mark.reason.clear();
    mark.actor = "simulation";
    mark.at = DbNow();
    oracle_.Excuse(name + "/" + FormatDate(date));
  }
}

void Simulation::EditAfter() {
  JobSpec spec = NewestSpec("report");
  spec.after.clear();
  if (random_.Uniform() < 0.8) spec.after.push_back({"strict", 0});
  if (random_.Uniform() < 0.7) {
    spec.after.push_back({"loose", -static_cast<int>(random_.Next() % 2)});
  }
  std::string text;
  for (const Dependency& d : spec.after) text += " " + d.job + std::to_string(d.offset);
  Count("after edited", text);
  Edit("report", spec);
}

void Simulation::EditCalendar() {
  const bool retroactive = random_.Uniform() < 0.5;
  std::vector<absl::CivilDay> closed;
  for (int i = 0; i < 2; ++i) closed.push_back(*ParseDate("2026-11-16") + random_.Next() % 7);
  Count(retroactive ? "calendar edited for the past, too" : "calendar edited",
        FormatDate(closed[0]) + " " + FormatDate(closed[1]));
  ImportCalendar(closed, retroactive);
}

// "mortal" is deleted and made again: the new one inherits nothing.
void Simulation::DeleteJob() {
  const int64_t id = job_ids_.at("mortal");
  if (!Store().jobs.contains(id)) return;
  Count("job deleted");
  Order(id, "delete", {});
  queue_.After(absl::Minutes(20) * random_.Uniform(), [this, id] {
    if (Store().jobs.contains(id) || job_ids_.at("mortal") != id) return;
    Trace("job made again");
    AddDailyJob("mortal", CatchUpOrder::kStrict, "");
    Order(job_ids_.at("mortal"), "job_changed", {});
  });
}

void Simulation::Waive() {
  const std::string name = AnyDated();
  const std::string date = FormatDate(*ParseDate("2026-11-16") + random_.Next() % 6);
  const double luck = random_.Uniform();
  const std::string kind = luck < 0.4 ? "waive" : luck < 0.7 ? "force_done" : "unwaive";
  Count(kind + " ordered", name + " " + date);
  // Perhaps refused; order may pass the date from now on all the same.
  if (kind != "unwaive") oracle_.Excuse(name + "/" + date);
  Order(job_ids_.at(name), kind,
        {{"date", date}, {"from", date}, {"to", date}, {"reason", "simulation"}});
}

}  // namespace tidemark::sim
