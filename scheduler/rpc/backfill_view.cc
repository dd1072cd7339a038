#include "scheduler/rpc/backfill_view.h"

#include <algorithm>
#include <string>

#include "common/time_text.h"
#include "scheduler/rpc/proto_time.h"

namespace tidemark {
namespace {

// What became of a date in the backfill's own run.
std::string OwnState(const OperatorRun& run) {
  if (run.live) return "RUNNING";
  if (run.status == "COMPLETED") return "DONE";
  return run.status;  // FAILED, CANCELLED
}

void RunIntoDate(const OperatorRun& run, v1::BackfillDate* out) {
  out->set_state(OwnState(run));
  out->set_reason(run.status_reason);
  if (!run.live && run.status != "COMPLETED" && !run.message.empty()) {
    out->set_reason(run.status_reason + ": " + run.message);
  }
  out->set_run_id(run.run_id);
  if (run.result_rows.has_value()) out->set_result_rows(*run.result_rows);
  out->set_result_digest(run.result_digest);
  if (run.started_at.has_value()) *out->mutable_started_at() = ToProto(*run.started_at);
  if (run.ended_at.has_value()) *out->mutable_ended_at() = ToProto(*run.ended_at);
}

OpenBackfill WithTried(const OperatorBackfill& backfill) {
  OpenBackfill open{backfill.row, {}};
  for (const auto& [date, run] : backfill.runs) {
    if (run.live) continue;
    const bool again = backfill.row.resumed_at.has_value() && run.ended_at.has_value() &&
                       *run.ended_at <= *backfill.row.resumed_at;
    open.tried[date] = run.status == "COMPLETED" ? OpenBackfill::Tried::kDone
                       : again                   ? OpenBackfill::Tried::kAgain
                                                 : OpenBackfill::Tried::kFailed;
  }
  return open;
}

// A date without a run of the backfill's own that says all.
void StandingIntoDate(const OpenBackfill& open, const DateStanding& standing,
                      const OperatorWatermark* mark, v1::BackfillDate* out) {
  const Backfill& row = open.row;
  const bool taken = std::binary_search(row.dates.begin(), row.dates.end(), standing.date);
  const std::string run_id = mark == nullptr ? "" : mark->run_id;
  if (!standing.live_run.empty()) {
    out->set_state(taken ? "WAITING" : "LEFT");
    out->set_reason("live in another run");
    out->set_run_id(standing.live_run);
  } else if (taken && StillWanted(open, standing.date, standing.status)) {
    out->set_state(row.ended_at.has_value() ? "LEFT" : "WAITING");
    if (row.ended_at.has_value()) out->set_reason("the backfill ended before it");
  } else {
    out->set_state(taken ? "SETTLED" : "LEFT");
    std::string why = standing.status.empty() ? "MISSING" : standing.status;
    if (mark != nullptr && standing.status == "WAIVED")
      why += " by " + mark->actor + ": " + mark->note;
    out->set_reason(why);
    out->set_run_id(run_id);
  }
}

std::string DrillState(const OperatorDrillDate& date) {
  if (date.live) return "RUNNING";
  if (date.run_status == "COMPLETED") return "DONE";
  if (!date.run_status.empty()) return "FAILED";
  // Settled without a run: a person's word.
  return date.mark == "DONE" || date.mark == "WAIVED" || date.mark == "EXPIRED" ? "FAILED"
                                                                                : "WAITING";
}

std::string DrillVerdict(const OperatorDrillDate& date, const std::string& state) {
  if (state != "DONE") return "UNKNOWN";
  const bool nothing = !date.first_rows.has_value() && date.first_digest.empty() &&
                       !date.rows.has_value() && date.digest.empty();
  if (nothing) return "UNKNOWN";
  return date.first_rows == date.rows && date.first_digest == date.digest ? "SAME" : "DIFFERENT";
}

void DrillDateToProto(const OperatorDrillDate& date, v1::DrillDate* out) {
  out->set_biz_date(FormatDate(date.date));
  out->set_first_run_id(date.first_run_id);
  if (date.first_rows.has_value()) out->set_first_rows(*date.first_rows);
  out->set_first_digest(date.first_digest);
  out->set_run_id(date.run_id);
  out->set_state(DrillState(date));
  if (date.rows.has_value()) out->set_rows(*date.rows);
  out->set_digest(date.digest);
  out->set_verdict(DrillVerdict(date, out->state()));
  if (out->state() == "FAILED") {
    out->set_message(date.run_status.empty() ? "settled without a run: " + date.mark
                                             : date.message);
  }
}

}  // namespace

std::vector<DateStanding> StandingsOf(const LoadedJob& job, const LedgerRows& rows) {
  std::vector<DateStanding> standings;
  for (const Occurrence& due : job.timeline.Due(AccountedFrom(job, rows.now), rows.now)) {
    DateStanding standing;
    standing.date = due.biz_date;
    const auto mark = rows.watermarks.find(due.biz_date);
    if (mark != rows.watermarks.end()) {
      standing.status = mark->second.status;
      standing.reason = mark->second.reason;
    }
    const auto live = rows.live.find(due.biz_date);
    if (live != rows.live.end()) standing.live_run = live->second;
    standings.push_back(std::move(standing));
  }
  return standings;
}

void BackfillToProto(const OperatorBackfill& backfill, v1::Backfill* out) {
  const Backfill& row = backfill.row;
  out->set_backfill_id(row.backfill_id);
  out->set_job(backfill.job);
  out->set_from(FormatDate(row.from));
  out->set_to(FormatDate(row.to));
  out->set_reprocess(std::string(Name(row.reprocess)));
  out->set_reverse(row.reverse);
  out->set_parallel(row.parallel);
  out->set_state(std::string(Name(row.state)));
  out->set_state_reason(row.state_reason);
  out->set_reason(row.reason);
  out->set_actor(row.actor);
  *out->mutable_created_at() = ToProto(row.created_at);
  if (row.ended_at.has_value()) *out->mutable_ended_at() = ToProto(*row.ended_at);
  out->set_total(row.dates.size());
  for (const auto& [date, run] : backfill.runs) {
    const std::string state = OwnState(run);
    if (state == "RUNNING") {
      out->set_running(out->running() + 1);
    } else if (state == "DONE") {
      out->set_done(out->done() + 1);
    } else {
      out->set_failed(out->failed() + 1);
    }
  }
  if (row.state == BackfillState::kDone || row.state == BackfillState::kFailed) {
    out->set_settled(out->total() - out->done() - out->failed());
  }
}

void BackfillDatesToProto(const OperatorBackfill& backfill,
                          const std::vector<DateStanding>& standings, const LedgerRows& rows,
                          v1::Backfill* out) {
  const OpenBackfill open = WithTried(backfill);
  uint32_t settled = 0;
  for (const DateStanding& standing : standings) {
    if (standing.date < backfill.row.from || standing.date > backfill.row.to) continue;
    v1::BackfillDate* date = out->add_dates();
    date->set_biz_date(FormatDate(standing.date));
    if (const auto run = backfill.runs.find(standing.date); run != backfill.runs.end()) {
      RunIntoDate(run->second, date);
      continue;
    }
    const auto mark = rows.watermarks.find(standing.date);
    StandingIntoDate(open, standing, mark == rows.watermarks.end() ? nullptr : &mark->second, date);
    if (date->state() == "SETTLED") ++settled;
  }
  out->set_settled(settled);
}

void DrillToProto(const std::vector<OperatorDrillDate>& dates, v1::Drill* out) {
  out->set_drill_id(dates.front().drill_id);
  out->set_job(dates.front().job);
  out->set_actor(dates.front().actor);
  *out->mutable_started_at() = ToProto(dates.front().started_at);
  bool all_done = true;
  bool any_failed = false;
  bool any_live = false;
  bool differs = false;
  for (const OperatorDrillDate& date : dates) {
    v1::DrillDate* each = out->add_dates();
    DrillDateToProto(date, each);
    all_done = all_done && each->state() == "DONE";
    any_failed = any_failed || each->state() == "FAILED";
    any_live = any_live || each->state() == "RUNNING";
    differs = differs || each->verdict() == "DIFFERENT";
  }
  out->set_finished(all_done || (any_failed && !any_live));
  out->set_passed(all_done && !differs);
}

}  // namespace tidemark
