#include "scheduler/store/flush_writer.h"

#include <string_view>
#include <utility>

#include "common/status.h"
#include "scheduler/store/alert_raise.h"
#include "scheduler/store/array.h"
#include "scheduler/store/batch.h"
#include "scheduler/store/inbox_rows.h"
#include "scheduler/store/statements.h"
#include "scheduler/store/string_map.h"

namespace tidemark {
namespace {

absl::Status WriteExecutorStates(SqlTransaction& transaction, const Flush& flush) {
  const auto key = [](const ExecutorState& s) { return s.executor_id; };
  for (const auto& states : UniqueBatches(flush.executors, key)) {
    Batch batch(4);
    for (const ExecutorState* s : states) {
      batch.Add(Exact(s->executor_id)).Put(s->registration).Add(Exact(s->state));
      batch.Put(s->drained);
    }
    TM_RETURN_IF_ERROR(transaction.Run(sql::kUpdateExecutors, std::move(batch).Take()).status());
  }
  return absl::OkStatus();
}

absl::Status WriteAlerts(SqlTransaction& transaction, const std::vector<AlertRaise>& raised,
                         const Flush& flush, const std::set<std::string>& silenced) {
  const auto key = [](const AlertRaise& a) { return a.dedup_key; };
  for (const auto& alerts : UniqueBatches(raised, key)) {
    Batch batch(kAlertRaiseWidth);
    for (const AlertRaise* a : alerts) {
      if (silenced.count(a->job_name) == 0) AddAlert(batch, *a);
    }
    TM_RETURN_IF_ERROR(transaction.Run(sql::kRaiseAlerts, std::move(batch).Take()).status());
  }
  if (flush.resolves.empty()) return absl::OkStatus();
  Batch prefixes(1);
  for (const AlertResolve& resolve : flush.resolves) prefixes.Add(Exact(resolve.prefix));
  return transaction.Run(sql::kResolveAlerts, std::move(prefixes).Take()).status();
}

absl::Status WriteAudits(SqlTransaction& transaction, const Flush& flush,
                         const std::set<std::string>& silenced, Random& random, Clock& clock) {
  if (flush.audits.empty()) return absl::OkStatus();
  Batch batch(6);
  for (const Audit& a : flush.audits) {
    if (silenced.count(a.job_name) > 0) continue;
    batch.Add(NewUuid(clock.WallNow(), random)).Add(Message4k(a.actor)).Add(Word(a.action));
    batch.Add(Exact(a.job_name)).Add(Message4k(a.subject)).Add(Body(a.detail));
  }
  return transaction.Run(sql::kAddAudits, std::move(batch).Take()).status();
}

std::string CleanResult(const std::map<std::string, std::string>& result) {
  std::map<std::string, std::string> clean;
  for (const auto& [key, value] : result) clean[*Message4k(key)] = *Body(value);
  return EncodeStringMap(clean);
}

absl::Status FinishCommands(SqlTransaction& transaction, const Flush& flush,
                            const std::set<int64_t>& left_out) {
  const auto key = [](const CommandDone& c) { return c.command_id; };
  SqlArray jobs;
  for (const int64_t job_id : left_out) jobs.Add(ToParam(job_id));
  const SqlParam skipped = std::move(jobs).Take();
  for (const auto& commands : UniqueBatches(flush.commands, key)) {
    Batch batch(3);
    for (const CommandDone* c : commands) {
      batch.Add(Exact(c->command_id)).Put(static_cast<int>(c->code));
      batch.Add(c->code == absl::StatusCode::kOk ? SqlParam(CleanResult(c->result))
                                                 : Message4k(c->message));
    }
    std::vector<SqlParam> params = std::move(batch).Take();
    params.push_back(skipped);
    TM_RETURN_IF_ERROR(transaction.Run(sql::kFinishCommands, params).status());
  }
  return absl::OkStatus();
}

absl::Status AddCascades(SqlTransaction& transaction, const Flush& flush) {
  if (flush.cascades.empty()) return absl::OkStatus();
  Batch batch(5);
  for (const CascadeOrder& c : flush.cascades) {
    batch.Add(Exact(c.job_name)).Put(c.from).Put(c.to);
    batch.Add(Message4k(c.reason)).Add(Message4k(c.actor));
  }
  return transaction.Run(sql::kAddCascades, std::move(batch).Take()).status();
}

absl::Status TellUpstreams(SqlTransaction& transaction, const Owner& owner, const Flush& flush) {
  if (flush.news.empty()) return absl::OkStatus();
  std::set<std::string_view> names;
  for (const UpstreamNews& news : flush.news) names.insert(news.job_name);
  Batch batch(1);
  for (const std::string_view name : names) batch.Add(Exact(name));
  std::vector<SqlParam> params = std::move(batch).Take();
  params.insert(params.end(), {owner.node_id, owner.incarnation});
  return transaction.Run(sql::kTellUpstreams, params).status();
}

// Names of the jobs that were left out: what is told of them in this flush did not happen. No
// job has the empty name, under which things of no job are told.
absl::StatusOr<std::set<std::string>> NamesOf(SqlTransaction& transaction,
                                              const std::set<int64_t>& jobs) {
  std::set<std::string> names;
  if (jobs.empty()) return names;
  SqlArray ids;
  for (const int64_t job_id : jobs) ids.Add(ToParam(job_id));
  TM_ASSIGN_OR_RETURN(const SqlRows rows,
                      transaction.Run(sql::kNamesOfJobs, {std::move(ids).Take()}));
  for (int i = 0; i < rows.size(); ++i) names.insert(rows.Text(i, 0));
  return names;
}

}  // namespace

bool IsTermOver(const absl::Status& status) {
  return status.code() == absl::StatusCode::kCancelled;
}

absl::StatusOr<absl::Time> HoldFence(SqlTransaction& transaction, const Owner& owner) {
  TM_ASSIGN_OR_RETURN(const SqlRows rows,
                      transaction.Run(sql::kHoldFence, {owner.node_id, owner.incarnation}));
  if (!rows.empty()) return rows.Time(0, 0);
  return absl::CancelledError("this node is fenced: another owner took over its shards");
}

absl::Status WriteFlush(SqlTransaction& transaction, const Owner& owner, const Flush& flush,
                        const std::set<int64_t>& left_out, Random& random, Clock& clock,
                        FlushResult* result, absl::Time* at) {
  TM_RETURN_IF_ERROR(WriteRuns(transaction, owner, flush, at, result));
  TM_ASSIGN_OR_RETURN(const std::set<std::string> silenced, NamesOf(transaction, left_out));
  TM_RETURN_IF_ERROR(RegisterExecutors(transaction, flush, result));
  TM_RETURN_IF_ERROR(WriteDueNotes(transaction, flush));
  TM_RETURN_IF_ERROR(WriteJobs(transaction, flush));
  TM_RETURN_IF_ERROR(WriteBackfills(transaction, flush));
  TM_RETURN_IF_ERROR(WriteExecutorStates(transaction, flush));
  std::vector<AlertRaise> alerts = flush.alerts;
  TM_RETURN_IF_ERROR(WriteVerdicts(transaction, flush, &alerts));
  TM_RETURN_IF_ERROR(WriteAlerts(transaction, alerts, flush, silenced));
  TM_RETURN_IF_ERROR(WriteAudits(transaction, flush, silenced, random, clock));
  TM_RETURN_IF_ERROR(AddCascades(transaction, flush));
  TM_RETURN_IF_ERROR(TellUpstreams(transaction, owner, flush));
  TM_RETURN_IF_ERROR(FinishCommands(transaction, flush, left_out));
  return WriteInbox(transaction, flush, left_out);
}

}  // namespace tidemark
