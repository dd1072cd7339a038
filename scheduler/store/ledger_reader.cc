#include "scheduler/store/ledger_reader.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/status.h"
#include "scheduler/core/catch_up.h"
#include "scheduler/store/array.h"
#include "scheduler/store/snapshot.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

bool Transient(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kUnknown ||
         status.code() == absl::StatusCode::kAborted ||
         status.code() == absl::StatusCode::kDeadlineExceeded ||
         status.code() == absl::StatusCode::kResourceExhausted;
}

using Entries = std::map<std::pair<int64_t, absl::CivilDay>, LedgerEntry>;

LedgerResult Answer(const LedgerQuery& query, const Entries& entries) {
  LedgerResult result;
  result.query_id = query.query_id;
  result.job_id = query.job_id;
  const std::set<absl::CivilDay> asked(query.dates.begin(), query.dates.end());
  auto it = entries.lower_bound({query.job_id, absl::CivilDay::min()});
  for (; it != entries.end() && it->first.first == query.job_id; ++it) {
    const bool settled = IsSettled(it->second.status, it->second.reason);
    const bool wanted =
        asked.count(it->first.second) > 0 ? query.all || !settled : query.noted && !settled;
    if (wanted) result.entries.push_back(it->second);
  }
  return result;
}

// Adds the dates of other jobs for which the dates of `results` wait, or may wait.
absl::Status AddUpstreams(Connection& connection, const std::vector<LedgerQuery>& queries,
                          std::vector<LedgerResult>& results) {
  SqlArray jobs;
  SqlArray dates;
  SqlArray waiting;
  SqlArray names;
  SqlArray offsets;
  std::map<int64_t, LedgerResult*> of_job;
  for (size_t i = 0; i < queries.size(); ++i) {
    const LedgerQuery& query = queries[i];
    if (query.after.empty() || !of_job.emplace(query.job_id, &results[i]).second) continue;
    for (const LedgerEntry& entry : results[i].entries) {
      jobs.Add(ToParam(query.job_id));
      dates.Add(ToParam(entry.date));
    }
    for (const Dependency& d : query.after) {
      waiting.Add(ToParam(query.job_id));
      names.Add(d.job);
      offsets.Add(ToParam(d.offset));
    }
  }
  if (of_job.empty()) return absl::OkStatus();
  TM_ASSIGN_OR_RETURN(
      const SqlRows rows,
      connection.RunOne(sql::kUpstream,
                        {std::move(jobs).Take(), std::move(dates).Take(), std::move(waiting).Take(),
                         std::move(names).Take(), std::move(offsets).Take()}));
  for (int i = 0; i < rows.size(); ++i) {
    UpstreamEntry entry;
    entry.for_date = rows.OptDate(i, 1).value_or(absl::CivilDay());
    entry.job = rows.Text(i, 2);
    entry.date = rows.OptDate(i, 3).value_or(absl::CivilDay());
    entry.status = rows.Text(i, 4);
    entry.reason = rows.Text(i, 5);
    of_job.at(rows.Int(i, 0))->upstream.push_back(std::move(entry));
  }
  return absl::OkStatus();
}

// Adds the rows of other nodes' jobs for which dates may wait.
absl::Status AddForeign(Connection& connection, const std::vector<LedgerQuery>& queries,
                        std::vector<LedgerResult>& results) {
  std::set<std::string> names;
  for (const LedgerQuery& query : queries) names.insert(query.foreign.begin(), query.foreign.end());
  if (names.empty()) return absl::OkStatus();
  return connection.Transact(
      [&](SqlTransaction& transaction) -> absl::Status {
        SqlArray array;
        for (const std::string& name : names) array.Add(name);
        TM_ASSIGN_OR_RETURN(const SqlRows rows,
                            transaction.Run(sql::kJobsNamed, {std::move(array).Take()}));
        std::vector<int64_t> ids;
        ids.reserve(rows.size());
        for (int i = 0; i < rows.size(); ++i) ids.push_back(rows.Int(i, 0));
        TM_ASSIGN_OR_RETURN(const auto jobs, LoadJobs(transaction, ids));
        for (size_t i = 0; i < queries.size(); ++i) {
          const std::vector<std::string>& wanted = queries[i].foreign;
          for (const auto& [id, job] : jobs) {
            if (std::find(wanted.begin(), wanted.end(), job.name) == wanted.end()) continue;
            results[i].foreign.push_back(job);
          }
        }
        return absl::OkStatus();
      },
      Isolation::kRepeatableReadOnly);
}

// Says of the dates that the daily check asks for which have a verdict.
absl::Status MarkChecked(Connection& connection, const std::vector<LedgerQuery>& queries,
                         std::vector<LedgerResult>& results) {
  SqlArray jobs;
  SqlArray dates;
  std::map<std::pair<int64_t, absl::CivilDay>, LedgerEntry*> entries;
  for (size_t i = 0; i < queries.size(); ++i) {
    if (!queries[i].check) continue;
    for (LedgerEntry& entry : results[i].entries) {
      jobs.Add(ToParam(queries[i].job_id));
      dates.Add(ToParam(entry.date));
      entries[{queries[i].job_id, entry.date}] = &entry;
    }
  }
  if (entries.empty()) return absl::OkStatus();
  TM_ASSIGN_OR_RETURN(
      const SqlRows rows,
      connection.RunOne(sql::kVerdictsOf, {std::move(jobs).Take(), std::move(dates).Take()}));
  for (int i = 0; i < rows.size(); ++i) {
    const auto entry =
        entries.find({rows.Int(i, 0), rows.OptDate(i, 1).value_or(absl::CivilDay())});
    if (entry != entries.end()) entry->second->checked = true;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<LedgerResult>> ReadLedger(Connection& connection,
                                                     const std::vector<LedgerQuery>& queries) {
  SqlArray jobs;
  SqlArray dates;
  SqlArray noted;
  for (const LedgerQuery& query : queries) {
    if (query.noted) noted.Add(ToParam(query.job_id));
    for (const absl::CivilDay date : query.dates) {
      jobs.Add(ToParam(query.job_id));
      dates.Add(ToParam(date));
    }
  }
  TM_ASSIGN_OR_RETURN(
      const SqlRows rows,
      connection.RunOne(sql::kLedger, {std::move(jobs).Take(), std::move(dates).Take(),
                                       std::move(noted).Take()}));
  Entries entries;
  for (int i = 0; i < rows.size(); ++i) {
    const absl::CivilDay date = rows.OptDate(i, 1).value_or(absl::CivilDay());
    LedgerEntry& entry = entries[{rows.Int(i, 0), date}];
    entry.date = date;
    entry.status = rows.Text(i, 2);
    entry.reason = rows.Text(i, 3);
    entry.run_id = rows.Text(i, 4);
    entry.reopened_on = rows.Text(i, 5);
    entry.reopened = static_cast<int>(rows.Int(i, 6));
    entry.fingerprint = rows.Bool(i, 7);
    entry.drill = rows.Bool(i, 8);
  }
  std::vector<LedgerResult> results;
  results.reserve(queries.size());
  for (const LedgerQuery& query : queries) results.push_back(Answer(query, entries));
  // Read after the job's own: what is settled upstream by then lets a date go, and what comes later
  // is a trigger point of its own.
  TM_RETURN_IF_ERROR(AddUpstreams(connection, queries, results));
  TM_RETURN_IF_ERROR(AddForeign(connection, queries, results));
  TM_RETURN_IF_ERROR(MarkChecked(connection, queries, results));
  return results;
}

LedgerReader::LedgerReader(const StoreOptions& options, Term* term)
    : term_(term),
      session_(options.database),
      backoff_(options.first_backoff, options.max_backoff),
      thread_([this] { Run(); }) {}

LedgerReader::~LedgerReader() {
  {
    const MutexLock lock(&mutex_);
    stopped_ = true;
  }
  wake_.Notify();
  session_.Close();
  thread_.join();
}

void LedgerReader::Query(LedgerQuery query) {
  const MutexLock lock(&mutex_);
  queue_.push_back(std::move(query));
  wake_.Notify();
}

bool LedgerReader::Next(std::vector<LedgerQuery>* queries) {
  for (;;) {
    {
      const MutexLock lock(&mutex_);
      if (stopped_) return false;
      queries->swap(queue_);
    }
    if (!queries->empty()) return true;
    wake_.Wait(absl::InfiniteDuration());
  }
}

absl::StatusOr<std::vector<LedgerResult>> LedgerReader::Read(
    const std::vector<LedgerQuery>& queries) {
  TM_ASSIGN_OR_RETURN(Connection * connection, session_.Get());
  return ReadLedger(*connection, queries);
}

void LedgerReader::Run() {
  std::vector<LedgerQuery> waiting;
  while (!term_->Over()) {
    std::vector<LedgerQuery> more;
    if (waiting.empty() && !Next(&more)) return;
    waiting.insert(waiting.end(), more.begin(), more.end());
    absl::StatusOr<std::vector<LedgerResult>> results = Read(waiting);
    {
      const MutexLock lock(&mutex_);
      if (stopped_) return;
    }
    log_.Report(results.status());
    if (!results.ok() && Transient(results.status())) {
      wake_.Wait(backoff_.Next());
      continue;
    }
    backoff_.Reset();
    for (size_t i = 0; i < waiting.size(); ++i) {
      LedgerResult result;
      result.query_id = waiting[i].query_id;
      result.job_id = waiting[i].job_id;
      if (results.ok()) result = std::move((*results)[i]);
      if (!results.ok()) result.status = results.status();
      term_->Deliver([&](StoreListener* listener) { listener->OnLedger(std::move(result)); });
    }
    waiting.clear();
  }
}

}  // namespace tidemark
