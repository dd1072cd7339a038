// Orders of operators: recording them, and what became of them.
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "scheduler/store/array.h"
#include "scheduler/store/audit_row.h"
#include "scheduler/store/operator_store.h"

namespace tidemark {
namespace {

constexpr std::string_view kInsertCommand =
    "INSERT INTO command (command_id, shard, job_id, kind, args, request_id, actor, created_at) "
    "VALUES ($1, $2, $3, $4, json_object($5::text[], $6::text[])::text, $7, $8, tidemark_now()) "
    "ON CONFLICT DO NOTHING";

constexpr std::string_view kFindCommand =
    "SELECT command_id, kind, done_at IS NOT NULL, code, result FROM command "
    "WHERE command_id = $1 OR (job_id = $2 AND request_id = $3)";

constexpr std::string_view kDoneCommands =
    "SELECT command_id, kind, true, code, result FROM command "
    "WHERE command_id = ANY($1::uuid[]) AND done_at IS NOT NULL";

constexpr std::string_view kResult = "SELECT key, value FROM json_each_text($1::json)";

// What an order finds, in words: of the job, the run, the dates, the executor or the backfill.
constexpr std::string_view kBefore = R"sql(
SELECT CASE
  WHEN $1 IN ('pause', 'resume') THEN (SELECT CASE WHEN paused THEN 'paused by ' || paused_by ||
      ': ' || pause_reason ELSE 'not paused' END FROM job WHERE job_id = $2)
  WHEN $1 = 'delete' THEN (SELECT 'version ' || version FROM job WHERE job_id = $2)
  WHEN $1 IN ('cancel', 'release', 'rerun') THEN (SELECT status || CASE WHEN held THEN ', held' ELSE
      '' END FROM run WHERE run_id = $3::uuid LIMIT 1)
  WHEN $1 IN ('waive', 'force_done', 'unwaive') THEN coalesce((SELECT string_agg(biz_date || ' ' ||
      status, ', ' ORDER BY biz_date) FROM job_watermark WHERE job_id = $2
      AND biz_date BETWEEN $4::date AND $5::date), 'no verdict')
  WHEN $1 = 'drain_executor' THEN (SELECT CASE WHEN drained THEN 'drained' ELSE 'in use' END
      FROM executor WHERE executor_id = $6)
  WHEN $1 LIKE 'backfill_%' THEN (SELECT state FROM backfill WHERE backfill_id = $7::uuid)
END, json_object($8::text[], $9::text[])::text)sql";

std::string Argument(const OperatorCommand& command, const char* name) {
  const auto it = command.args.find(name);
  return it == command.args.end() ? "" : it->second;
}

// The dates that an order is about; both "" when it is about none.
std::pair<std::string, std::string> DatesOf(const OperatorCommand& command) {
  std::string date = Argument(command, "date");
  if (date.empty()) date = Argument(command, "biz_date");
  if (!date.empty()) return {date, date};
  return {Argument(command, "from"), Argument(command, "to")};
}

// What an order is about, in one word or two.
std::string SubjectOf(const OperatorCommand& command) {
  for (const char* name : {"run_id", "executor_id", "backfill_id", "drill_id"}) {
    // A job's trigger names the executor that it wants: that is not what it is about.
    if (std::string_view(name) == "executor_id" && command.kind != "drain_executor") continue;
    if (const std::string value = Argument(command, name); !value.empty()) return value;
  }
  const auto [from, to] = DatesOf(command);
  return from == to ? from : from + ".." + to;
}

absl::Status AuditCommand(SqlTransaction& tx, const Caller& caller, const OperatorCommand& command,
                          const SqlParam& keys, const SqlParam& values) {
  const auto [from, to] = DatesOf(command);
  TM_ASSIGN_OR_RETURN(
      const SqlRows state,
      tx.Run(kBefore,
             {command.kind, ToParam(command.job_id), NullIfEmpty(Argument(command, "run_id")),
              NullIfEmpty(from), NullIfEmpty(to), Argument(command, "executor_id"),
              NullIfEmpty(Argument(command, "backfill_id")), keys, values}));
  AuditRow audit{command.actor, command.kind, command.job_name};
  audit.subject = SubjectOf(command);
  audit.before = state.Text(0, 0);
  audit.reason = Argument(command, "reason");
  audit.detail = state.Text(0, 1);
  audit.command_id = command.command_id;
  return WriteAudit(tx, caller, audit);
}

absl::StatusOr<CommandState> ReadCommand(SqlTransaction& tx, const SqlRows& rows, int i) {
  CommandState state;
  state.command_id = rows.Text(i, 0);
  state.kind = rows.Text(i, 1);
  state.done = rows.Bool(i, 2);
  state.code = static_cast<absl::StatusCode>(rows.Int(i, 3));
  if (!state.done) return state;
  if (state.code != absl::StatusCode::kOk) {
    state.message = rows.Text(i, 4);
    return state;
  }
  if (rows.View(i, 4).empty()) return state;
  TM_ASSIGN_OR_RETURN(const SqlRows fields, tx.Run(kResult, {rows.Text(i, 4)}));
  for (int f = 0; f < fields.size(); ++f) state.result[fields.Text(f, 0)] = fields.Text(f, 1);
  return state;
}

}  // namespace

absl::StatusOr<CommandState> OperatorStore::AddCommand(const OperatorCommand& command) {
  SqlArray keys;
  SqlArray values;
  for (const auto& [key, value] : command.args) {
    keys.Add(key);
    values.Add(value);
  }
  const SqlParam key_list = std::move(keys).Take();
  const SqlParam value_list = std::move(values).Take();
  CommandState state;
  const auto record = [&](SqlTransaction& tx) -> absl::Status {
    state = CommandState();
    TM_ASSIGN_OR_RETURN(
        const SqlRows made,
        tx.Run(kInsertCommand,
               {command.command_id, ToParam(command.shard), ToParam(command.job_id), command.kind,
                key_list, value_list, NullIfEmpty(command.request_id), command.actor}));
    if (made.affected() == 0) {
      TM_ASSIGN_OR_RETURN(const SqlRows rows,
                          tx.Run(kFindCommand, {command.command_id, ToParam(command.job_id),
                                                NullIfEmpty(command.request_id)}));
      if (rows.empty()) return absl::AbortedError("the order vanished while it was recorded");
      TM_ASSIGN_OR_RETURN(state, ReadCommand(tx, rows, 0));
      state.existing = state.command_id != command.command_id;
      return absl::OkStatus();
    }
    state.command_id = command.command_id;
    state.kind = command.kind;
    TM_RETURN_IF_ERROR(AuditCommand(tx, caller_, command, key_list, value_list));
    return tx.Run("SELECT pg_notify('tidemark_command', '')").status();
  };
  absl::Status status = pool_->Transact(record);
  // Whether it was committed or not, its id makes a second time harmless.
  if (IsInDoubt(status)) status = pool_->Transact(record);
  TM_RETURN_IF_ERROR(status);
  return state;
}

absl::StatusOr<std::optional<CommandState>> OperatorStore::FindRequest(
    int64_t job_id, const std::string& request_id) {
  std::optional<CommandState> state;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    state.reset();
    TM_ASSIGN_OR_RETURN(const SqlRows rows,
                        tx.Run(kFindCommand, {std::nullopt, ToParam(job_id), request_id}));
    if (rows.empty()) return absl::OkStatus();
    TM_ASSIGN_OR_RETURN(state, ReadCommand(tx, rows, 0));
    state->existing = true;
    return absl::OkStatus();
  }));
  return state;
}

absl::StatusOr<std::vector<CommandState>> OperatorStore::DoneCommands(
    const std::vector<std::string>& command_ids) {
  std::vector<CommandState> states;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    states.clear();
    TM_ASSIGN_OR_RETURN(const SqlRows rows, tx.Run(kDoneCommands, {ToArray(command_ids)}));
    for (int i = 0; i < rows.size(); ++i) {
      TM_ASSIGN_OR_RETURN(CommandState state, ReadCommand(tx, rows, i));
      states.push_back(std::move(state));
    }
    return absl::OkStatus();
  }));
  return states;
}

}  // namespace tidemark
