// What the oracle reads of one job.
#include <cstdio>
#include <map>
#include <utility>

#include "common/status.h"
#include "scheduler/store/array.h"
#include "scheduler/store/operator_store.h"

namespace tidemark {
namespace {

constexpr int kPage = 2000;

// Runs that ended before the oldest partition may be gone.
constexpr std::string_view kJob =
    "SELECT j.name, j.paused, j.error, j.ledger_from, c.last_fire, tidemark_now(), "
    "LEAST((SELECT min(substring(pg_get_expr(p.relpartbound, p.oid) "
    "                            from $re$FROM \\('([^']+)'\\)$re$)::timestamptz) "
    "       FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid "
    "       WHERE i.inhparent = 'run_history'::regclass), "
    "      (SELECT min(recorded_at) FROM run_history_default)) "
    "FROM job j LEFT JOIN job_cursor c USING (job_id) WHERE j.job_id = $1";

constexpr std::string_view kMarks =
    "SELECT biz_date, status, reason, note, actor, run_id, updated_at FROM job_watermark "
    "WHERE job_id = $1";

constexpr std::string_view kUpstreams =
    "SELECT a.upstream, a.date_offset, j.job_id, COALESCE(j.error, ''), j.ledger_from "
    "FROM job_after a LEFT JOIN job j ON j.name = a.upstream AND j.deleted_at IS NULL "
    "WHERE a.job_id = $1 ORDER BY 1, 2";

constexpr std::string_view kRuns =
    "SELECT run_id, kind, occurrence, biz_date, fire_time, job_version, trigger_type, tag, status, "
    "requested_by, rerun_of, created_at, ended_at FROM run "
    "WHERE job_id = $1 AND run_id > $2 ORDER BY run_id LIMIT $3";

constexpr std::string_view kAttempts =
    "SELECT run_id, attempt, sent_at, ended_at, outcome FROM attempt "
    "WHERE run_id = ANY($1::uuid[]) ORDER BY run_id, attempt, recorded_at";

constexpr std::string_view kUnderWay =
    "SELECT run_id, attempt, sent_at FROM active_run "
    "WHERE job_id = $1 AND attempt > 0 AND executor_id <> '' "
    "AND NOT (armed AND fire_time > tidemark_now())";

constexpr std::string_view kPauses =
    "SELECT paused_at, resumed_at FROM job_pause WHERE job_id = $1 ORDER BY paused_at";

constexpr std::string_view kSkips =
    "SELECT from_fire, to_fire, fires, reason, recorded_at FROM skipped_range "
    "WHERE job_id = $1 AND to_fire >= $2 ORDER BY from_fire";

constexpr std::string_view kUndone =
    "SELECT biz_date, status, settled_at, undone_at FROM watermark_undone WHERE job_id = $1";

constexpr std::string_view kNotices =
    "SELECT kind, biz_date, raised_at, resolved_at IS NULL FROM alert "
    "WHERE job_name = $1 AND kind IN ('gap_held', 'gap_expired') "
    "AND starts_with(dedup_key, kind || '/' || $2::bigint || '/')";

// The smallest run id made at that time.
std::string FirstIdAt(absl::Time time) {
  const uint64_t ms = static_cast<uint64_t>(std::max<int64_t>(absl::ToUnixMillis(time), 0));
  char text[40];
  std::snprintf(text, sizeof text, "%08llx-%04llx-0000-0000-000000000000",
                static_cast<unsigned long long>((ms >> 16) & 0xffffffff),
                static_cast<unsigned long long>(ms & 0xffff));
  return text;
}

verify::Run ReadRun(const SqlRows& rows, int i) {
  verify::Run run;
  run.run_id = rows.Text(i, 0);
  run.kind = rows.Text(i, 1)[0];
  run.occurrence = rows.Text(i, 2);
  run.biz_date = rows.OptDate(i, 3);
  run.fire_time = rows.Time(i, 4);
  run.job_version = static_cast<int>(rows.Int(i, 5));
  run.trigger = rows.Text(i, 6);
  run.tag = rows.Text(i, 7);
  run.status = rows.Text(i, 8);
  run.requested_by = rows.Text(i, 9);
  run.rerun_of = rows.Text(i, 10);
  run.created_at = rows.Time(i, 11);
  run.ended_at = rows.OptTime(i, 12);
  return run;
}

absl::Status ReadMarks(SqlTransaction& tx, verify::History& history) {
  TM_ASSIGN_OR_RETURN(const SqlRows marks, tx.Run(kMarks, {ToParam(history.job_id)}));
  for (int i = 0; i < marks.size(); ++i) {
    history.marks[marks.OptDate(i, 0).value_or(absl::CivilDay())] = {
        marks.Text(i, 1), marks.Text(i, 2), marks.Text(i, 3),
        marks.Text(i, 4), marks.Text(i, 5), marks.Time(i, 6)};
  }
  return absl::OkStatus();
}

absl::Status ReadUpstreams(SqlTransaction& tx, verify::History& history) {
  TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kUpstreams, {ToParam(history.job_id)}));
  for (int i = 0; i < rows.size(); ++i) {
    verify::Upstream upstream;
    upstream.offset = static_cast<int>(rows.Int(i, 1));
    upstream.history.name = rows.Text(i, 0);
    upstream.history.job_id = rows.OptInt(i, 2).value_or(0);
    upstream.history.error = rows.Text(i, 3);
    upstream.history.ledger_from = rows.OptDate(i, 4);
    TM_RETURN_IF_ERROR(ReadMarks(tx, upstream.history));
    history.upstreams.push_back(std::move(upstream));
  }
  return absl::OkStatus();
}

absl::Status ReadJob(SqlTransaction& tx, verify::History& history) {
  TM_ASSIGN_OR_RETURN(const SqlRows job, tx.Run(kJob, {ToParam(history.job_id)}));
  if (job.empty()) return absl::NotFoundError("the job was deleted meanwhile");
  history.name = job.Text(0, 0);
  history.paused = job.Bool(0, 1);
  history.error = job.Text(0, 2);
  history.ledger_from = job.OptDate(0, 3);
  history.cursor = job.OptTime(0, 4);
  history.now = job.Time(0, 5);
  history.complete_from = job.OptTime(0, 6).value_or(absl::InfinitePast());
  TM_RETURN_IF_ERROR(ReadMarks(tx, history));
  return ReadUpstreams(tx, history);
}

absl::Status ReadAttempts(SqlTransaction& tx, const SqlRows& page, size_t first,
                          verify::History& history) {
  std::map<std::string, size_t> index;
  SqlArray ids;
  for (int i = 0; i < page.size(); ++i) {
    index[page.Text(i, 0)] = first + static_cast<size_t>(i);
    ids.Add(page.Text(i, 0));
  }
  TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kAttempts, {std::move(ids).Take()}));
  for (int i = 0; i < rows.size(); ++i) {
    history.runs[index[rows.Text(i, 0)]].attempts.push_back({static_cast<int>(rows.Int(i, 1)),
                                                             rows.OptTime(i, 2), rows.OptTime(i, 3),
                                                             rows.Text(i, 4)});
  }
  return absl::OkStatus();
}

absl::Status ReadRuns(SqlTransaction& tx, absl::Time since, int limit, verify::History& history) {
  std::string after = FirstIdAt(since);
  for (;;) {
    TM_ASSIGN_OR_RETURN(const SqlRows page,
                        tx.Run(kRuns, {ToParam(history.job_id), after, ToParam(kPage)}));
    const size_t first = history.runs.size();
    if (first + static_cast<size_t>(page.size()) > static_cast<size_t>(limit)) {
      return absl::ResourceExhaustedError("there are more than " + std::to_string(limit) + " runs");
    }
    for (int i = 0; i < page.size(); ++i) history.runs.push_back(ReadRun(page, i));
    if (page.empty()) break;
    TM_RETURN_IF_ERROR(ReadAttempts(tx, page, first, history));
    if (page.size() < kPage) break;
    after = page.Text(page.size() - 1, 0);
  }
  TM_ASSIGN_OR_RETURN(const SqlRows live, tx.Run(kUnderWay, {ToParam(history.job_id)}));
  for (int i = 0; i < live.size(); ++i) {
    for (verify::Run& run : history.runs) {
      if (run.run_id != live.Text(i, 0)) continue;
      run.attempts.push_back({static_cast<int>(live.Int(i, 1)), live.OptTime(i, 2), {}, ""});
    }
  }
  return absl::OkStatus();
}

absl::Status ReadRest(SqlTransaction& tx, absl::Time since, verify::History& history) {
  const SqlParam id = ToParam(history.job_id);
  TM_ASSIGN_OR_RETURN(const SqlRows pauses, tx.Run(kPauses, {id}));
  for (int i = 0; i < pauses.size(); ++i) {
    history.pauses.push_back({pauses.Time(i, 0), pauses.OptTime(i, 1)});
  }
  TM_ASSIGN_OR_RETURN(const SqlRows skips, tx.Run(kSkips, {id, ToParam(since)}));
  for (int i = 0; i < skips.size(); ++i) {
    history.skips.push_back(
        {skips.Time(i, 0), skips.Time(i, 1), skips.Int(i, 2), skips.Text(i, 3), skips.Time(i, 4)});
  }
  TM_ASSIGN_OR_RETURN(const SqlRows undone, tx.Run(kUndone, {id}));
  for (int i = 0; i < undone.size(); ++i) {
    history.undone.push_back({undone.OptDate(i, 0).value_or(absl::CivilDay()), undone.Text(i, 1),
                              undone.Time(i, 2), undone.Time(i, 3)});
  }
  TM_ASSIGN_OR_RETURN(const SqlRows notices, tx.Run(kNotices, {history.name, id}));
  for (int i = 0; i < notices.size(); ++i) {
    history.notices.push_back(
        {notices.Text(i, 0), notices.OptDate(i, 1), notices.Time(i, 2), notices.Bool(i, 3)});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<verify::History> OperatorStore::VerifyRows(int64_t job_id, absl::Time since,
                                                          int limit) {
  verify::History history;
  TM_RETURN_IF_ERROR(pool_->Transact(
      [&](SqlTransaction& tx) -> absl::Status {
        history = verify::History();
        history.job_id = job_id;
        TM_RETURN_IF_ERROR(ReadJob(tx, history));
        TM_RETURN_IF_ERROR(ReadRuns(tx, since, limit, history));
        return ReadRest(tx, since, history);
      },
      Isolation::kRepeatableReadOnly));
  return history;
}

}  // namespace tidemark
