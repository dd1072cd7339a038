// Runs that an executor has and that the database lost in a fail-over (N2).
#include <algorithm>
#include <utility>

#include "common/time_text.h"
#include "scheduler/engine/alerts.h"
#include "scheduler/engine/arming.h"
#include "scheduler/engine/gaps.h"
#include "scheduler/engine/runs.h"

namespace tidemark {
namespace {

// A JSON object of texts.
std::string JsonOf(const std::map<std::string, std::string>& values) {
  std::string json = "{";
  const auto add = [&](const std::string& text) {
    json += '"';
    for (const char c : text) {
      constexpr char kHex[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20) {
        json += std::string("\\u00") + kHex[byte >> 4] + kHex[byte & 15];
      } else {
        if (c == '"' || c == '\\') json += '\\';
        json += c;
      }
    }
    json += '"';
  };
  for (const auto& [key, value] : values) {
    if (json.size() > 1) json += ',';
    add(key);
    json += ':';
    add(value);
  }
  return json + "}";
}

// What the order was for; nothing when it does not fit the job as it is now.
std::optional<RunRequest> RequestOf(const JobState& job, const TriggerOrder& order) {
  RunRequest request;
  request.trigger = order.trigger;
  request.reason = "put back after a fail-over of the database";
  request.occurrence.fire_time = order.fire_time;
  const absl::StatusOr<absl::CivilSecond> nominal = ParseCivil(order.nominal_time);
  if (!nominal.ok()) return std::nullopt;
  request.occurrence.nominal = *nominal;
  if (job.timeline().dated() != !order.biz_date.empty()) return std::nullopt;
  if (job.timeline().dated()) {
    const absl::StatusOr<absl::CivilDay> date = ParseDate(order.biz_date);
    if (!date.ok()) return std::nullopt;
    request.occurrence.biz_date = *date;
    request.key = DateKey(job.row.job_id, *date);
  } else {
    const std::string prefix = order.job + "/";
    if (order.batch_id.size() <= prefix.size() || !order.batch_id.starts_with(prefix)) {
      return std::nullopt;
    }
    request.key = FireKey(job.row.job_id, order.fire_time);
    const std::string key = order.batch_id.substr(prefix.size());
    if (key != request.key.key) {
      request.key = ManualKey(job.row.job_id, key);
      request.request_id = key;
    }
  }
  if (order.params != job.spec().params) request.params = JsonOf(order.params);
  return request;
}

}  // namespace

LiveRun* Runs::Reinsert(ExecutorSession& session, const HeldRun& held) {
  if (LiveRun* run = s_.FindRun(held.attempt.run_id)) return Reattach(*run, session, held);
  const TriggerOrder* order = held.trigger.get();
  JobState* job = order == nullptr ? nullptr : s_.FindJobNamed(order->job);
  const bool fits = job != nullptr && job->error().empty() && job->row.shard == held.shard &&
                    job->app() == session.hello.app && job->ns() == session.hello.ns &&
                    order->attempt == held.attempt && order->registration == session.registration;
  if (!fits) return nullptr;
  const std::optional<RunRequest> request = RequestOf(*job, *order);
  if (!request.has_value() || !MakeRoom(*job, request->key)) return nullptr;
  const std::string run_id = held.attempt.run_id;
  LiveRun& run = s_.runs[run_id];
  run.row = NewRow(*job, *request, run_id, s_.now.lo);
  run.row.handler = order->handler;
  run.row.checkpoint = order->checkpoint;
  run.row.on_lost = order->on_lost;
  s_.Extra(*job).runs.insert(run_id);
  Resume(run, session, held);
  if (run.row.biz_date.has_value()) s_.gap_part->WriteUnderWay(*job, /*verdict=*/false);
  s_.flush.opens.push_back({run.row, ""});
  s_.OnCommit([this, run_id, shard = held.shard, attempt = held.attempt,
               stream = session.stream](const FlushResult& result) {
    if (result.opened.contains(run_id) || s_.FindRun(run_id) == nullptr) return;
    Drop(run_id);
    s_.Send(stream, CancelOrder{attempt, shard, s_.EpochOf(shard), "its occurrence is live"});
  });
  alerts::CommitsLost(s_, run.row, "this run");
  return &run;
}

// That a later attempt was made proves that the one known here was over.
LiveRun* Runs::Reattach(LiveRun& run, const ExecutorSession& session, const HeldRun& held) {
  const bool earlier = run.row.executor_id.empty() || run.row.epoch.timeline < s_.timeline;
  const bool fits = run.row.attempt < held.attempt.attempt && earlier &&
                    run.phase != RunPhase::kClosing && run.phase != RunPhase::kOpening &&
                    run.row.app == session.hello.app && run.row.ns == session.hello.ns;
  if (!fits) return nullptr;
  if (!run.row.executor_id.empty()) {
    RecordAttempt(run, Outcome::kLost, "how it ended was lost in a fail-over of the database");
    alerts::AttemptOver(s_, run.row);
    TakeBack(run);
    FreeSlot(run);
  }
  LeaveWaiting(run);
  run.row.retry_at.reset();
  run.send_due.reset();
  if (held.trigger != nullptr) {
    run.row.checkpoint = held.trigger->checkpoint;
    run.row.on_lost = held.trigger->on_lost;
  }
  Resume(run, session, held);
  s_.Update(run);
  alerts::CommitsLost(s_, run.row, "attempt " + std::to_string(run.row.attempt));
  return &run;
}

// The executor has the attempt; its row says so.
void Runs::Resume(LiveRun& run, const ExecutorSession& session, const HeldRun& held) {
  ActiveRun& row = run.row;
  row.attempt = held.attempt.attempt;
  row.status = held.started ? RunStatus::kRunning : RunStatus::kPending;
  row.executor_id = session.hello.executor_id;
  row.registration = session.registration;
  row.executor_host = session.hello.host;
  row.epoch = s_.EpochOf(row.shard);
  row.sent_at = s_.now.lo;
  row.attempt_started_at.reset();
  if (held.started) row.attempt_started_at = s_.now.lo;
  if (held.started && !row.started_at.has_value()) row.started_at = s_.now.lo;
  run.phase = held.started ? RunPhase::kRunning : RunPhase::kSent;
  run.contact = s_.now.mono;
  run.sent_at = s_.now.mono;
  run.started_at = s_.now.mono;
  s_.runs_at[row.executor_id].insert(row.run_id);
  TakeSlot(run);
  SetTimer(run);
}

// What was opened for the occurrence since, and was not sent, makes way for the run that there is.
bool Runs::MakeRoom(JobState& job, const OccurrenceKey& occurrence) {
  s_.arm_part->Disarm(job);
  LiveRun* other = nullptr;
  for (const std::string& run_id : job.runs()) {
    LiveRun* run = s_.FindRun(run_id);
    if (run != nullptr && run->row.occurrence == occurrence) other = run;
  }
  if (other == nullptr) return true;
  const bool unsent = other->row.executor_id.empty() &&
                      (other->phase == RunPhase::kWaiting || other->phase == RunPhase::kOpening);
  if (!unsent) return false;
  Supersede(*other);
  return true;
}

void Runs::Supersede(LiveRun& run) {
  const std::string run_id = run.row.run_id;
  const std::string reason = "superseded";
  AnswerCancels(run, /*confirmed=*/true);
  alerts::RunOver(s_, run.row, RunStatus::kSkipped);
  const size_t opening = s_.flush.opens.size();
  std::erase_if(s_.flush.opens, [&](const RunOpen& open) { return open.run.run_id == run_id; });
  if (s_.flush.opens.size() < opening) {
    s_.flush.skips.push_back({run.row, reason, s_.now.lo});
  } else {
    RunClose close;
    close.run_id = run_id;
    close.run = run.row;
    close.status = RunStatus::kSkipped;
    close.status_reason = reason;
    close.ended_at = s_.now.lo;
    s_.flush.closes.push_back(std::move(close));
  }
  Drop(run_id);
}

}  // namespace tidemark
