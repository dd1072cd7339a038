#include "scheduler/engine/gaps.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/status.h"
#include "common/time_text.h"
#include "scheduler/engine/alerts.h"
#include "scheduler/engine/arming.h"
#include "scheduler/engine/backfills.h"
#include "scheduler/engine/checks.h"
#include "scheduler/engine/jobs.h"
#include "scheduler/engine/runs.h"

namespace tidemark {
namespace {

// Sums of these tell sets of occurrences apart, whatever the order in which they came due.
uint64_t SumOf(const Occurrence& due) {
  uint64_t x = static_cast<uint64_t>(due.biz_date - absl::CivilDay()) * 0x9e3779b97f4a7c15ULL ^
               static_cast<uint64_t>(absl::ToUnixSeconds(due.fire_time));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  return x ^ (x >> 31);
}

}  // namespace

void Gaps::Evaluate(JobState& job, TriggerPoint point) { Look(job, point, /*whole=*/false); }

void Gaps::EvaluateAtStart(JobState& job, bool settled) {
  Look(job, TriggerPoint::kStart, /*whole=*/false, settled);
}

void Gaps::Look(JobState& job, TriggerPoint point, bool whole, bool settled) {
  if (!job.dated() || s_.holding) return;
  if (!job.opens()) {
    // What comes due meanwhile is noted all the same.
    if (job.row.ledger_from.has_value()) NoteDue(job, *job.row.ledger_from, false);
    return;
  }
  if (!job.quiet()) {
    JobExtra& extra = s_.Extra(job);
    extra.ask_again = std::max(extra.ask_again.value_or(point), point);
    if (point >= TriggerPoint::kNewIncarnation) extra.just_failed.clear();  // it came after them
    return;
  }
  const absl::CivilDay first = Launch(job);
  if (job.extra().writes > 0) {  // the launch itself wrote EXPIRED dates
    s_.Extra(job).ask_again = point;
    return;
  }
  std::vector<absl::CivilDay> dates = NoteDue(job, first, whole);
  if (!job.row.due_until.has_value()) return;  // nothing was ever due
  if (settled && dates.empty() && job.extra().backfills.empty()) return;
  // A backfill may want settled dates, too.
  s_.backfill_part->AddDates(job, dates);
  Ask(
      job, std::move(dates), /*all=*/s_.backfill_part->Running(job),
      [this, id = job.row.job_id, point](const LedgerResult& result) {
        if (JobState* again = s_.FindJob(id)) Apply(*again, point, result);
      },
      /*noted=*/true);
}

std::vector<absl::CivilDay> Gaps::NoteDue(JobState& job, absl::CivilDay first, bool whole) {
  DueNote note;
  note.job_id = job.row.job_id;
  note.anew = whole || !job.row.due_until.has_value();
  std::vector<absl::CivilDay> dates;
  uint64_t sum = note.anew ? 0 : job.noted_sum;
  const absl::CivilDay from = note.anew ? first : std::max(first, *job.row.due_until + 1);
  for (const Occurrence& due : job.timeline().Due(from, s_.now.lo)) {
    note.dates.emplace_back(due.biz_date, due.fire_time);
    dates.push_back(due.biz_date);
    sum += SumOf(due);
  }
  if (dates.empty()) return {job.extra().noting.begin(), job.extra().noting.end()};
  if (whole && job.row.due_until.has_value() && sum == job.noted_sum) {
    return dates;  // it stands as it was noted: only asked for, whatever became of the notes
  }
  job.noted_sum = sum;
  // An edit that fills a gap keeps a date at its old time: later dates may be due before it.
  const auto ahead = job.timeline().OldestAhead(dates.back(), s_.now.lo);
  job.row.due_until = note.until = ahead.has_value() ? *ahead - 1 : dates.back();
  s_.Extra(job).noting.insert(dates.begin(), dates.end());
  s_.flush.notes.push_back(std::move(note));
  s_.OnCommit([this, id = job.row.job_id, dates](const FlushResult&) {
    JobState* job = s_.FindJob(id);
    if (job == nullptr) return;
    for (const absl::CivilDay date : dates) s_.Extra(*job).noting.erase(date);
  });
  return {job.extra().noting.begin(), job.extra().noting.end()};
}

absl::CivilDay Gaps::Launch(JobState& job) {
  if (job.row.ledger_from.has_value()) return *job.row.ledger_from;
  const FirstLaunch launch = PlanFirstLaunch(job.timeline(), job.spec().start_date,
                                             job.spec().catch_up, *job.row.created_at, s_.now.lo);
  job.row.ledger_from = launch.first;
  JobUpdate update;
  update.job_id = job.row.job_id;
  update.ledger_from = launch.first;
  s_.flush.jobs.push_back(std::move(update));
  std::vector<Occurrence> before = job.timeline().Due(launch.first, s_.now.lo);
  std::erase_if(before, [&](const Occurrence& due) { return due.biz_date >= launch.from; });
  if (!before.empty()) Expire(job, before, /*first_launch=*/true);
  return launch.first;
}

absl::CivilDay Gaps::FirstDate(const JobState& job) const {
  if (job.row.ledger_from.has_value()) return *job.row.ledger_from;
  return PlanFirstLaunch(job.timeline(), job.spec().start_date, job.spec().catch_up,
                         *job.row.created_at, s_.now.lo)
      .first;
}

void Gaps::Expire(JobState& job, const std::vector<Occurrence>& dates, bool first_launch) {
  for (const Occurrence& due : dates) {
    WatermarkWrite write;
    write.job_id = job.row.job_id;
    write.job_name = job.name();
    write.date = due.biz_date;
    write.status = "EXPIRED";
    write.reason = first_launch ? "first_launch" : "retention";
    s_.flush.watermarks.push_back(std::move(write));
  }
  WriteUnderWay(job);
  alerts::DatesExpired(s_, job, dates.front().biz_date, dates.back().biz_date, dates.size(),
                       first_launch);
}

void Gaps::WriteUnderWay(JobState& job, bool verdict) {
  ++s_.Extra(job).writes;
  s_.arm_part->Disarm(job);
  if (verdict) TellOthers(job);
  s_.OnCommit([this, id = job.row.job_id, verdict](const FlushResult&) {
    JobState* job = s_.FindJob(id);
    if (job == nullptr) return;
    --s_.Extra(*job).writes;
    ++job->changes;
    const std::string name = job->name();
    GoOn(id);
    if (!verdict) return;
    EvaluateDependents(name);
    if (JobState* still = s_.FindJob(id)) s_.check_part->Review(*still);
  });
}

void Gaps::EvaluateDependents(const std::string& job_name) {
  const auto it = s_.dependents.find(job_name);
  if (it == s_.dependents.end()) return;
  const std::set<int64_t> dependents = it->second;
  for (const int64_t id : dependents) {
    if (JobState* job = s_.FindJob(id)) Evaluate(*job, TriggerPoint::kContinue);
  }
}

// What is lost of it the scan finds: within a minute.
void Gaps::TellOthers(const JobState& job) {
  if (!s_.OwnsAll()) s_.flush.news.push_back({job.row.job_id, job.name()});
}

std::optional<UpstreamDate> Gaps::WaitsFor(absl::CivilDay date, const LedgerResult& ledger) {
  for (const UpstreamEntry& entry : ledger.upstream) {
    if (entry.for_date != date) continue;
    JobState* upstream = s_.FindJobNamed(entry.job);
    if (upstream == nullptr) {
      if (ForeignHoldsBack(entry, ledger)) return UpstreamDate{entry.job, entry.date};
      continue;
    }
    // One that cannot be read tells nothing: the date waits.
    if (!upstream->error().empty()) return UpstreamDate{entry.job, entry.date};
    if (upstream->dated() && HoldsBack(upstream->timeline(), Launch(*upstream), entry.date,
                                       entry.status, entry.reason)) {
      return UpstreamDate{entry.job, entry.date};
    }
  }
  return std::nullopt;
}

// Of a job of another node: by its row as it was read with the answer.
bool Gaps::ForeignHoldsBack(const UpstreamEntry& entry, const LedgerResult& ledger) {
  const auto row = std::find_if(ledger.foreign.begin(), ledger.foreign.end(),
                                [&](const JobRow& job) { return job.name == entry.job; });
  std::shared_ptr<const Definition> definition = Definition::Empty();
  if (row == ledger.foreign.end() || !s_.definitions.Compile(*row, &definition).ok()) return true;
  const JobSpec& spec = definition->spec;
  const absl::CivilDay first = row->ledger_from.has_value()
                                   ? *row->ledger_from
                                   : PlanFirstLaunch(definition->timeline, spec.start_date,
                                                     spec.catch_up, row->created_at, s_.now.lo)
                                         .first;
  return HoldsBack(definition->timeline, first, entry.date, entry.status, entry.reason);
}

void Gaps::GoOn(int64_t job_id) {
  for (;;) {
    JobState* job = s_.FindJob(job_id);
    if (job == nullptr || !job->quiet()) return;
    if (!job->extra().when_quiet.empty()) {
      auto& orders = s_.Extra(*job).when_quiet;
      const auto next = std::move(orders.front());
      orders.erase(orders.begin());
      next(job);
      continue;
    }
    if (!job->extra().ask_again.has_value()) return;
    const TriggerPoint point = *job->extra().ask_again;
    s_.Extra(*job).ask_again.reset();
    return Evaluate(*job, point);
  }
}

void Gaps::AskWhenQuiet(JobState& job, std::vector<absl::CivilDay> dates,
                        const std::function<void(JobState*, const LedgerResult&)>& then,
                        bool check) {
  if (!job.quiet()) {
    s_.Extra(job).when_quiet.push_back(
        [this, dates = std::move(dates), then, check](JobState* job) mutable {
          if (job == nullptr) return then(nullptr, LedgerResult());
          AskWhenQuiet(*job, std::move(dates), then, check);
        });
    return;
  }
  Ask(
      job, dates, /*all=*/true,
      [this, dates, then, check, id = job.row.job_id](const LedgerResult& result) {
        JobState* job = s_.FindJob(id);
        if (job != nullptr && absl::IsAborted(result.status))
          return AskWhenQuiet(*job, dates, then, check);
        then(job, result);
      },
      /*noted=*/check, check);
}

void Gaps::Ask(JobState& job, std::vector<absl::CivilDay> dates, bool all,
               std::function<void(const LedgerResult&)> then, bool noted, bool check) {
  job.asking = true;
  LedgerQuery query;
  query.query_id = s_.next_query++;
  query.job_id = job.row.job_id;
  query.dates = std::move(dates);
  query.all = all;
  query.after = job.spec().after;
  for (const Dependency& d : query.after) {
    if (s_.FindJobNamed(d.job) == nullptr) query.foreign.push_back(d.job);
  }
  query.noted = noted;
  query.check = check;
  s_.ledger[query.query_id] = {job.row.job_id, job.changes, std::move(then)};
  s_.out.queries.push_back(std::move(query));
}

void Gaps::OnLedger(const LedgerResult& result) {
  const auto it = s_.ledger.find(result.query_id);
  if (it == s_.ledger.end()) return;  // of an earlier term
  PendingLedger pending = std::move(it->second);
  s_.ledger.erase(it);
  JobState* job = s_.FindJob(pending.job_id);
  if (job == nullptr) return pending.then(result);  // who asked finds out
  job->asking = false;
  if (job->changes != pending.changes || job->extra().writes > 0) {
    // Asked again by whoever has a reason: the answer may be older than what was just written.
    LedgerResult stale = result;
    stale.status = absl::AbortedError("a watermark changed meanwhile");
    pending.then(stale);
  } else {
    pending.then(result);
  }
  GoOn(pending.job_id);
}

std::optional<absl::CivilDay> Gaps::HeldFrom(const JobState& job, const LedgerResult& ledger) {
  const CatchUpPlan plan = PlanCatchUp(InputOf(job, TriggerPoint::kScan, ledger, s_.now.lo));
  if (!plan.held_from.has_value()) return std::nullopt;
  return plan.held_from->biz_date;
}

int Gaps::LongestGap(const JobState& job) const {
  return std::max(job.spec().catch_up.max_backfill_days,
                  TwoPeriodsInDays(job.timeline(), s_.now.lo));
}

CatchUpInput Gaps::InputOf(const JobState& job, TriggerPoint point, const LedgerResult& result,
                           absl::Time now) {
  CatchUpInput input;
  input.point = point;
  input.policy = job.spec().catch_up;
  input.now = now;
  input.today = absl::ToCivilDay(now, job.timeline().current().zone());
  const int two_periods = TwoPeriodsInDays(job.timeline(), now);
  input.longest_gap_days = LongestGap(job);
  // Else a first launch would open a date of two periods only to see it expire.
  if (input.policy.source_retention_days > 0) {
    input.oldest_source_days = std::max(input.policy.source_retention_days, two_periods);
  }
  input.live_runs = static_cast<int>(job.runs().size());
  const std::string day = FormatDate(absl::ToCivilDay(now, absl::UTCTimeZone()));
  std::set<absl::CivilDay> live;
  for (const std::string& run_id : job.runs()) {
    const LiveRun* run = s_.FindRun(run_id);
    if (run != nullptr && run->row.biz_date.has_value()) live.insert(*run->row.biz_date);
  }
  for (const LedgerEntry& entry : result.entries) {
    const std::optional<Occurrence> due = job.timeline().OccurrenceOf(entry.date);
    if (!due.has_value()) continue;
    UnsettledDate date;
    date.occurrence = *due;
    date.failed = entry.status == "FAILED";
    date.expired = entry.status == "EXPIRED";
    date.reason = entry.reason;
    date.just_failed = job.extra().just_failed.contains(entry.date);
    date.live = live.contains(entry.date);
    date.reopened_today = entry.reopened_on == day ? entry.reopened : 0;
    date.waits_for = WaitsFor(entry.date, result);
    date.drill = entry.drill;
    if (!date.live) date.backfill = s_.backfill_part->WhoWants(job, entry);
    if (!IsSettled(entry.status, entry.reason)) {
      input.dates.push_back(std::move(date));
    } else if (!date.backfill.empty()) {
      date.run_id = entry.run_id;
      input.redo.push_back(std::move(date));
    }
  }
  input.backfills = s_.backfill_part->Paces(job);
  return input;
}

void Gaps::WouldOpen(JobState& job, const Occurrence& next, std::function<void(JobState&)> then) {
  const bool plain = job.runs().empty() && job.extra().backfills.empty() &&
                     job.spec().after.empty() && job.row.ledger_from.has_value() &&
                     job.row.due_until.has_value() && *job.row.ledger_from <= next.biz_date &&
                     !job.late;
  if (!plain || !job.quiet()) return;
  if (job.timeline().DueAt(next.fire_time).size() != 1) return;
  std::vector<absl::CivilDay> dates(job.extra().noting.begin(), job.extra().noting.end());
  dates.push_back(next.biz_date);
  Ask(
      job, std::move(dates), /*all=*/false,
      [this, id = job.row.job_id, next, then = std::move(then)](const LedgerResult& result) {
        JobState* job = s_.FindJob(id);
        if (job == nullptr || !result.status.ok() || !job->opens()) return;
        const CatchUpPlan plan =
            PlanCatchUp(InputOf(*job, TriggerPoint::kFire, result, next.fire_time));
        if (plan.open.size() != 1 || !plan.expire.empty()) return;
        const CatchUpPlan::Open& open = plan.open.front();
        const bool it = open.occurrence == next && open.trigger == TriggerType::kSchedule &&
                        !open.reopening && open.backfill.empty() && open.rerun_of.empty() &&
                        !open.drill;
        if (it) then(*job);
      },
      /*noted=*/true);
}

void Gaps::Apply(JobState& job, TriggerPoint point, const LedgerResult& result) {
  if (!result.status.ok()) {
    if (absl::IsAborted(result.status)) {
      std::optional<TriggerPoint>& again = s_.Extra(job).ask_again;
      again = std::max(again.value_or(point), point);
    } else {
      SetLate(job, true);  // the scan asks again
      s_.Say(LogLine::Level::kWarn, "ledger not read",
             {{"job", job.name()}, {"error", Message(result.status)}});
    }
    return;
  }
  s_.check_part->Compare(job, result);
  if (!job.opens()) return;
  const CatchUpInput input = InputOf(job, point, result, s_.now.lo);
  if (!job.extra().ask_again.has_value() && !job.extra().just_failed.empty()) {
    s_.Extra(job).just_failed.clear();
  }
  SetLate(job, !input.dates.empty());
  Settle(job, input);
  const CatchUpPlan plan = PlanCatchUp(input);
  if (!plan.expire.empty()) Expire(job, plan.expire, /*first_launch=*/false);
  TellGap(job, input, plan);
  for (const CatchUpPlan::Open& open : plan.open) {
    RunRequest request;
    request.occurrence = open.occurrence;
    request.key = DateKey(job.row.job_id, open.occurrence.biz_date);
    request.trigger = open.trigger;
    request.counts_reopening = open.reopening;
    request.backfill_id = open.backfill;
    request.rerun_of = open.rerun_of;
    if (open.drill) request.tag = "drill";
    if (open.trigger == TriggerType::kCatchUp && open.backfill.empty() && !open.drill) {
      s_.Extra(job).caught_up.insert(open.occurrence.biz_date);
    }
    if (!open.backfill.empty()) s_.backfill_part->Credit(job, request);
    s_.run_part->Open(job, request);
  }
  s_.backfill_part->EndThoseDone(job, input);
}

void Gaps::TellGap(JobState& job, const CatchUpInput& input, const CatchUpPlan& plan) {
  if (plan.held_from.has_value()) {
    alerts::GapHeld(s_, job, *plan.held_from, input.dates.back().occurrence.biz_date,
                    input.dates.size());
  } else {
    alerts::GapNotHeld(s_, job);
  }
  if (!plan.held_from.has_value() && plan.blocked_by.has_value() && input.dates.size() > 1) {
    alerts::GapBlocked(s_, job, *plan.blocked_by, input.dates.size() - 1);
  } else {
    alerts::GapNotBlocked(s_, job);
  }
}

void Gaps::Settle(JobState& job, const CatchUpInput& input) {
  std::set<absl::CivilDay> unsettled;
  bool gap = false;
  for (const UnsettledDate& date : input.dates) {
    const absl::CivilDay day = date.occurrence.biz_date;
    unsettled.insert(day);
    // What is due just now, or runs in its own time, is no part of the gap.
    gap = gap || job.extra().caught_up.contains(day) ||
          (!date.live && date.occurrence.fire_time + kTolerance < s_.now.lo);
  }
  alerts::DatesSettled(s_, job, unsettled);
  if (gap || job.extra().caught_up.empty()) return;
  const std::vector<absl::CivilDay> dates(job.extra().caught_up.begin(),
                                          job.extra().caught_up.end());
  s_.Extra(job).caught_up.clear();
  AskWhenQuiet(job, dates, [this](JobState* job, const LedgerResult& ledger) {
    if (job == nullptr || !ledger.status.ok()) return;
    std::map<absl::CivilDay, std::string> status_of;
    for (const LedgerEntry& entry : ledger.entries) {
      if (!entry.status.empty()) status_of[entry.date] = entry.status;
    }
    alerts::CaughtUp(s_, *job, status_of);
  });
}

void Gaps::EvaluateApp(const std::string& app, TriggerPoint point) {
  for (JobState* job : s_.jobs.Of(app)) Evaluate(*job, point);
}

}  // namespace tidemark
