// Registrations of executors: which process of an executor_id may act.
#include <algorithm>
#include <utility>

#include "common/status.h"
#include "scheduler/store/array.h"
#include "scheduler/store/batch.h"
#include "scheduler/store/flush_writer.h"
#include "scheduler/store/statements.h"
#include "scheduler/store/string_map.h"

namespace tidemark {
namespace {

using Facts = std::map<std::string, ExecutorFacts>;

// Sorted, so that two nodes that register the same executors do not deadlock.
std::vector<std::string> SortedIds(const std::vector<ExecutorRegister>& registers) {
  std::set<std::string> ids;
  for (const ExecutorRegister& r : registers) ids.insert(*Exact(r.executor_id));
  return {ids.begin(), ids.end()};
}

absl::Status MakeRows(SqlTransaction& transaction, const std::vector<ExecutorRegister>& registers) {
  const auto key = [](const ExecutorRegister& r) { return r.executor_id; };
  // Only the first of an id makes the row; the others are decided against it.
  Batch batch(4);
  const auto batches = UniqueBatches(registers, key);
  for (const ExecutorRegister* r : batches.front()) {
    batch.Add(Exact(r->executor_id)).Add(Exact(r->app)).Add(Exact(r->ns));
    batch.Add(Exact(r->incarnation));
  }
  return transaction.Run(sql::kMakeExecutors, std::move(batch).Take()).status();
}

absl::StatusOr<Facts> LockRows(SqlTransaction& transaction, const SqlParam& ids) {
  Facts facts;
  TM_ASSIGN_OR_RETURN(const SqlRows rows, transaction.Run(sql::kLockExecutors, {ids}));
  for (int i = 0; i < rows.size(); ++i) {
    ExecutorFacts& f = facts[rows.Text(i, 0)];
    f.app = rows.Text(i, 1);
    f.registration = rows.Int(i, 2);
    f.incarnation = rows.Text(i, 3);
    f.drained = rows.Bool(i, 4);
  }
  TM_ASSIGN_OR_RETURN(const SqlRows known, transaction.Run(sql::kKnownIncarnations, {ids}));
  for (int i = 0; i < known.size(); ++i) {
    facts[known.Text(i, 0)].known[known.Text(i, 1)] = known.Int(i, 2);
  }
  return facts;
}

absl::Status WriteRow(SqlTransaction& transaction, const ExecutorRegister& request,
                      int64_t registration) {
  std::vector<std::string> handlers;
  for (const std::string& handler : request.handlers) handlers.push_back(*Exact(handler));
  std::map<std::string, std::string> labels;
  for (const auto& [key, value] : request.labels) labels[*Exact(key)] = *Exact(value);
  const SqlParam id = Exact(request.executor_id);
  const SqlParam number = ToParam(registration);
  TM_RETURN_IF_ERROR(
      transaction
          .Run(sql::kWriteExecutor,
               {id, Exact(request.app), Exact(request.ns), number, Exact(request.incarnation),
                Message4k(request.host), Message4k(request.version), ToParam(request.capacity),
                ToArray(handlers), EncodeStringMap(labels),
                std::string(request.draining ? "DRAINING" : "UP")})
          .status());
  return transaction.Run(sql::kAddIncarnation, {id, Exact(request.incarnation), number}).status();
}

}  // namespace

ExecutorRegistered Decide(const ExecutorRegister& request, const ExecutorFacts& facts) {
  using Kind = ExecutorRegistered::Kind;
  ExecutorRegistered answer;
  answer.session = request.session;
  answer.registration = facts.registration;
  answer.drained = facts.drained;
  if (facts.registration > 0 && facts.app != request.app) {
    answer.kind = Kind::kOtherApp;
    answer.app = facts.app;
    return answer;
  }
  const auto known = facts.known.find(request.incarnation);
  const int64_t had = std::max(request.claimed, known == facts.known.end() ? 0 : known->second);
  if (had > facts.registration) {
    // The database lost the commit that gave it: the number counts still.
    answer.kind = Kind::kSame;
    answer.registration = had;
  } else if (had > 0 && had < facts.registration) {
    answer.kind = Kind::kSuperseded;
  } else if (facts.registration > 0 && request.incarnation == facts.incarnation) {
    answer.kind = Kind::kSame;
  } else {
    answer.kind = Kind::kNew;
    answer.registration = facts.registration + 1;
  }
  return answer;
}

absl::Status RegisterExecutors(SqlTransaction& transaction, const Flush& flush,
                               FlushResult* result) {
  if (flush.registers.empty()) return absl::OkStatus();
  TM_RETURN_IF_ERROR(MakeRows(transaction, flush.registers));
  TM_ASSIGN_OR_RETURN(Facts facts, LockRows(transaction, ToArray(SortedIds(flush.registers))));
  for (const ExecutorRegister& request : flush.registers) {
    ExecutorFacts& known = facts[*Exact(request.executor_id)];
    const ExecutorRegistered answer = Decide(request, known);
    result->registered.push_back(answer);
    if (answer.kind != ExecutorRegistered::Kind::kNew &&
        answer.kind != ExecutorRegistered::Kind::kSame) {
      continue;
    }
    TM_RETURN_IF_ERROR(WriteRow(transaction, request, answer.registration));
    known.app = request.app;
    known.registration = answer.registration;
    known.incarnation = request.incarnation;
    known.known[request.incarnation] = answer.registration;
  }
  return absl::OkStatus();
}

}  // namespace tidemark
