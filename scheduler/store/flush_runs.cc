// The runs of a flush, with their attempts and cursors: what each fire writes.
#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/status.h"
#include "scheduler/store/batch.h"
#include "scheduler/store/flush_statement.h"
#include "scheduler/store/flush_writer.h"
#include "scheduler/store/run_columns.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

// An occurrence, without a copy of it.
using RunKey = std::tuple<int64_t, char, std::string_view>;
RunKey KeyOf(const OccurrenceKey& key) { return {key.job_id, key.kind, key.key}; }

// What history says: the result's words, else the run's, else who cancelled it.
std::string EndMessage(const RunClose& close) {
  if (!close.result.message.empty()) return close.result.message;
  if (!close.run.message.empty() || close.status != RunStatus::kCancelled) return close.run.message;
  std::string text = "cancelled by " + close.run.cancel_by;
  if (!close.run.cancel_reason.empty()) text += ": " + close.run.cancel_reason;
  return text;
}

void PutOccurrence(const OccurrenceKey& key, InputBatch& batch) {
  batch.Put(key.job_id).Exact(std::string_view(&key.kind, 1)).Exact(key.key);
}

void PutClose(const RunClose& close, const AttemptEnd* only_attempt, InputBatch& batch) {
  const ActiveRun& run = close.run;
  const AttemptResult& result = close.result;
  const bool failed = close.watermark == "FAILED";
  const std::string message = EndMessage(close);
  batch.Exact(close.run_id);
  PutOccurrence(run.occurrence, batch);
  batch.Exact(Name(close.status)).Word(close.status_reason);
  batch.Put(run.attempt).Put(run.failed_attempts).Put(run.lost_attempts);
  batch.Exact(run.executor_id).Put(run.registration).Message(run.executor_host);
  batch.Put(static_cast<int64_t>(run.epoch.timeline)).Put(static_cast<int64_t>(run.epoch.number));
  batch.Put(run.progress_percent);
  batch.Body(result.checkpoint.empty() ? run.checkpoint : result.checkpoint).Message(message);
  batch.Body(result.result).Put(result.result_rows).Message(result.result_digest);
  batch.Put(run.started_at).Put(close.ended_at);
  batch.Put(only_attempt == nullptr ? std::nullopt : only_attempt->sent_at);
  batch.Exact(close.watermark).Word(failed ? close.status_reason : "");
  batch.Message(failed ? message : "").Message(failed ? run.cancel_by : "");
}

// From status to attempt_started_at: what changes.
void PutChanging(const ActiveRun& run, InputBatch& batch) {
  batch.Exact(Name(run.status)).Put(run.attempt).Put(run.failed_attempts).Put(run.lost_attempts);
  batch.Exact(run.executor_id).Put(run.registration).Message(run.executor_host);
  batch.Exact(OnLostName(run.on_lost)).Put(static_cast<int64_t>(run.epoch.timeline));
  batch.Put(static_cast<int64_t>(run.epoch.number)).Put(run.retry_at).Put(run.held);
  batch.Message(run.cancel_by).Message(run.cancel_reason).Put(run.progress_percent);
  batch.Body(run.checkpoint).Message(run.message);
  batch.Put(run.sent_at).Put(run.started_at).Put(run.attempt_started_at);
}

void PutOpen(const RunOpen& open, InputBatch& batch) {
  const ActiveRun& run = open.run;
  batch.Exact(run.run_id);
  PutOccurrence(run.occurrence, batch);
  batch.Put(run.shard).Exact(run.ns).Exact(run.job_name).Exact(run.app).Exact(run.handler);
  batch.Put(run.job_version).Put(run.biz_date).Put(run.nominal).Put(run.fire_time);
  batch.Exact(Name(run.trigger)).Word(run.tag).Exact(run.request_id);
  batch.Message(run.requested_by).Message(run.reason).OrNull(run.rerun_of);
  batch.Exact(run.wanted_executor).Exact(run.params);
  PutChanging(run, batch);
  batch.Put(run.created_at).OrNull(open.count_reopening_on).OrNull(run.backfill_id);
  batch.Put(run.armed);
}

void PutUpdate(const RunUpdate& update, InputBatch& batch) {
  batch.Exact(update.run.run_id);
  PutOccurrence(update.run.occurrence, batch);
  PutChanging(update.run, batch);
}

void PutAttempt(const AttemptEnd& end, InputBatch& batch) {
  batch.Exact(end.attempt.run_id).Put(end.attempt.attempt).Put(end.job_id);
  batch.Exact(end.executor_id).Put(end.registration).Message(end.executor_host);
  batch.Put(end.sent_at).Put(end.started_at).Put(end.ended_at).Word(end.outcome);
  batch.Message(end.message);
}

// Whether the run's row in history says all that a row of run_attempt would: view `attempt` reads
// it from there.
bool TellsAttempt(const RunClose& close, const AttemptEnd& end) {
  const ActiveRun& run = close.run;
  return end.attempt.attempt == 1 && run.attempt == 1 && close.status == RunStatus::kCompleted &&
         end.outcome == Name(Outcome::kSucceeded) && end.sent_at.has_value() &&
         end.executor_id == run.executor_id && end.registration == run.registration &&
         end.executor_host == run.executor_host && end.started_at == run.started_at &&
         end.ended_at == close.ended_at && end.message == EndMessage(close);
}

// Whether any of them has to do with a watermark.
bool AnyDated(const std::vector<const RunClose*>& list) {
  return std::any_of(list.begin(), list.end(),
                     [](const RunClose* close) { return !close->watermark.empty(); });
}
bool AnyDated(const std::vector<const RunOpen*>& list) {
  return std::any_of(list.begin(), list.end(), [](const RunOpen* open) {
    return open->run.biz_date.has_value() && !open->run.armed;
  });
}

// Puts the lists into as few statements as they need: another one where a part comes again or
// needs to see what the one before did.
class RunsWriter {
 public:
  RunsWriter(SqlTransaction& transaction, const Flush& flush, FlushStatement first,
             FlushResult* result)
      : transaction_(transaction), flush_(flush), statement_(std::move(first)), result_(result) {}

  absl::Status Write(absl::Time* at) {
    at_ = at;
    for (const RunOpen& open : flush_.opens) opened_.insert(open.run.run_id);
    for (const RunClose& close : flush_.closes) over_.insert(close.run_id);
    SortAttempts();
    TM_RETURN_IF_ERROR(WriteCloses(/*of_opened=*/false));
    TM_RETURN_IF_ERROR(WriteDisarms());
    TM_RETURN_IF_ERROR(WriteOpens());
    TM_RETURN_IF_ERROR(WriteLaunches());
    TM_RETURN_IF_ERROR(WriteUpdates());
    TM_RETURN_IF_ERROR(WriteCloses(/*of_opened=*/true));
    TM_RETURN_IF_ERROR(WriteAttempts());
    TM_RETURN_IF_ERROR(WriteCursors());
    return Next();
  }

 private:
  // Carries out what has been collected.
  absl::Status Next() {
    TM_RETURN_IF_ERROR(statement_.Run(transaction_, at_));
    at_ = nullptr;
    statement_ = FlushStatement();
    return absl::OkStatus();
  }

  void SortAttempts() {
    for (const AttemptEnd& end : flush_.attempts) attempts_.emplace(end.attempt.run_id, &end);
    for (const RunClose& close : flush_.closes) {
      const auto range = attempts_.equal_range(close.run_id);
      if (range.first == range.second || std::next(range.first) != range.second) continue;
      if (!TellsAttempt(close, *range.first->second)) continue;
      told_.emplace(close.run_id, range.first->second);
      attempts_.erase(range.first);
    }
  }

  // `of_opened`: those of runs that this flush opens, else the others.
  absl::Status WriteCloses(bool of_opened) {
    std::vector<const RunClose*> some;
    for (const RunClose& close : flush_.closes) {
      if ((opened_.count(close.run_id) > 0) == of_opened) some.push_back(&close);
    }
    if (of_opened && !some.empty()) TM_RETURN_IF_ERROR(Next());
    const auto key = [](const RunClose& c) { return KeyOf(c.run.occurrence); };
    for (const auto& closes : UniqueBatches(std::move(some), key)) {
      if (statement_.Has(parts::Close())) TM_RETURN_IF_ERROR(Next());
      InputBatch batch(parts::Close().columns);
      std::vector<std::string> ids;
      for (const RunClose* close : closes) {
        const auto told = told_.find(close->run_id);
        PutClose(*close, told == told_.end() ? nullptr : told->second, batch);
        ids.push_back(close->run_id);
      }
      statement_.Add(parts::Close(), std::move(batch), AnyDated(closes), std::move(ids),
                     &result_->closed);
    }
    return absl::OkStatus();
  }

  // `list` has members run_id and no key twice but by mistake.
  template <typename T>
  absl::Status WriteIds(const FlushPart& part, const std::vector<T>& list,
                        const std::set<std::string_view>& but) {
    std::set<std::string_view> ids;
    for (const T& element : list) {
      if (but.count(element.run_id) == 0) ids.insert(element.run_id);
    }
    if (ids.empty()) return absl::OkStatus();
    InputBatch batch(part.columns);
    for (const std::string_view id : ids) batch.Exact(id);
    statement_.Add(part, std::move(batch));
    return absl::OkStatus();
  }

  // What is closed and taken back was closed first. Of two parts of one statement that have to do
  // with one row nobody knows which comes to it.
  absl::Status WriteDisarms() {
    TM_RETURN_IF_ERROR(WriteIds(parts::Disarm(), flush_.disarms, over_));
    for (const Disarm& disarm : flush_.disarms) over_.insert(disarm.run_id);
    return absl::OkStatus();
  }

  // What this flush closes or takes back is over before it is launched.
  absl::Status WriteLaunches() {
    if (OpensAny(flush_.launches, [](const RunLaunch& l) { return std::string_view(l.run_id); })) {
      TM_RETURN_IF_ERROR(Next());
    }
    return WriteIds(parts::Launch(), flush_.launches, over_);
  }

  template <typename T, typename IdOf>
  bool OpensAny(const std::vector<T>& list, IdOf id_of) const {
    return !opened_.empty() && std::any_of(list.begin(), list.end(), [&](const T& element) {
      return opened_.count(id_of(element)) > 0;
    });
  }

  // An occurrence may be closed, or its armed run taken back, and opened again in one flush.
  bool ReopensWhatItCloses() const {
    if (flush_.opens.empty()) return false;
    if (!flush_.disarms.empty()) return true;
    if (flush_.closes.empty()) return false;
    std::set<RunKey> closed;
    for (const RunClose& close : flush_.closes) closed.insert(KeyOf(close.run.occurrence));
    for (const RunOpen& open : flush_.opens) {
      if (closed.count(KeyOf(open.run.occurrence)) > 0) return true;
    }
    return false;
  }

  absl::Status WriteOpens() {
    if (ReopensWhatItCloses()) TM_RETURN_IF_ERROR(Next());
    const auto key = [](const RunOpen& o) { return KeyOf(o.run.occurrence); };
    for (const auto& opens : UniqueBatches(flush_.opens, key)) {
      if (statement_.Has(parts::Open())) TM_RETURN_IF_ERROR(Next());
      InputBatch batch(parts::Open().columns);
      std::vector<std::string> ids;
      for (const RunOpen* open : opens) {
        PutOpen(*open, batch);
        ids.push_back(open->run.run_id);
      }
      statement_.Add(parts::Open(), std::move(batch), AnyDated(opens), std::move(ids),
                     &result_->opened);
    }
    return absl::OkStatus();
  }

  absl::Status WriteUpdates() {
    if (OpensAny(flush_.updates,
                 [](const RunUpdate& u) { return std::string_view(u.run.run_id); })) {
      TM_RETURN_IF_ERROR(Next());
    }
    std::vector<const RunUpdate*> some;  // what is over changes no more
    for (const RunUpdate& update : flush_.updates) {
      if (over_.count(update.run.run_id) == 0) some.push_back(&update);
    }
    const auto key = [](const RunUpdate& u) { return KeyOf(u.run.occurrence); };
    for (const auto& updates : UniqueBatches(std::move(some), key)) {
      if (statement_.Has(parts::Update())) TM_RETURN_IF_ERROR(Next());
      InputBatch batch(parts::Update().columns);
      std::vector<std::string> ids;
      for (const RunUpdate* update : updates) {
        PutUpdate(*update, batch);
        ids.push_back(update->run.run_id);
      }
      statement_.Add(parts::Update(), std::move(batch), false, std::move(ids), &result_->updated);
    }
    return absl::OkStatus();
  }

  absl::Status WriteAttempts() {
    if (attempts_.empty()) return absl::OkStatus();
    InputBatch batch(parts::Attempt().columns);
    for (const auto& [run_id, end] : attempts_) PutAttempt(*end, batch);
    statement_.Add(parts::Attempt(), std::move(batch));
    return absl::OkStatus();
  }

  absl::Status WriteCursors() {
    const auto key = [](const CursorWrite& c) { return c.job_id; };
    for (const auto& cursors : UniqueBatches(flush_.cursors, key)) {
      if (statement_.Has(parts::Cursor())) TM_RETURN_IF_ERROR(Next());
      InputBatch batch(parts::Cursor().columns);
      for (const CursorWrite* c : cursors) {
        batch.Put(c->job_id).Put(c->last_fire);
        if (!c->reset) continue;
        TM_RETURN_IF_ERROR(Next());
        TM_RETURN_IF_ERROR(
            transaction_.Run(sql::kResetCursor, {ToParam(c->job_id), ToParam(c->last_fire)})
                .status());
      }
      statement_.Add(parts::Cursor(), std::move(batch));
    }
    return absl::OkStatus();
  }

  SqlTransaction& transaction_;
  const Flush& flush_;
  FlushStatement statement_;
  FlushResult* const result_;
  absl::Time* at_ = nullptr;
  std::set<std::string_view> opened_;  // run_ids
  std::set<std::string_view> over_;    // run_ids that are closed or disarmed
  std::multimap<std::string_view, const AttemptEnd*> attempts_;  // those that get a row
  std::map<std::string_view, const AttemptEnd*>
      told_;  // those that the run's own row tells, by run
};

void AddSkip(const RunSkip& skip, Batch& batch) {
  const ActiveRun& run = skip.run;
  batch.Add(Exact(run.run_id)).Put(run.occurrence.job_id);
  batch.Add(std::string(1, run.occurrence.kind)).Add(Exact(run.occurrence.key));
  batch.Add(Exact(run.ns)).Add(Exact(run.job_name)).Add(Exact(run.app)).Add(Exact(run.handler));
  batch.Put(run.job_version).Put(run.biz_date).Put(run.nominal).Put(run.fire_time);
  batch.Add(std::string(Name(run.trigger))).Add(Word(run.tag)).Add(Exact(run.request_id));
  batch.Add(Message4k(run.requested_by)).Add(Message4k(run.reason));
  batch.Add(NullIfEmpty(run.rerun_of)).Add(Exact(run.params)).Add(Word(skip.status_reason));
  batch.Add(Message4k(run.message)).Put(run.created_at).Put(skip.ended_at);
}

absl::Status SkipRuns(SqlTransaction& transaction, const Flush& flush) {
  const auto key = [](const RunSkip& s) { return std::pair(s.run.occurrence, s.run.run_id); };
  for (const auto& skips : UniqueBatches(flush.skips, key)) {
    Batch batch(23);
    for (const RunSkip* skip : skips) AddSkip(*skip, batch);
    TM_RETURN_IF_ERROR(transaction.Run(sql::kSkipRuns, std::move(batch).Take()).status());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteRuns(SqlTransaction& transaction, const Owner& owner, const Flush& flush,
                       absl::Time* at, FlushResult* result) {
  RunsWriter writer(transaction, flush, FlushStatement(owner, flush.seq), result);
  TM_RETURN_IF_ERROR(writer.Write(at));
  return SkipRuns(transaction, flush);
}

}  // namespace tidemark
