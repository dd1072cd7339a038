#include "executor/examples/recon/handler.h"

#include <charconv>
#include <cstdio>
#include <utility>

#include "common/status.h"
#include "common/time_text.h"
#include "executor/examples/recon/bill_generator.h"
#include "executor/examples/recon/matcher.h"

namespace tidemark::recon {
namespace {

constexpr std::string_view kCheckpointMark = "v1 ";
constexpr size_t kFingerprintDigits = 16;

Outcome ToOutcome(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return Outcome::Ok();
    case absl::StatusCode::kCancelled:
      return Outcome::Stopped(Message(status));
    // Another attempt would read the same bill, or be as late.
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kAborted:
      return Outcome::Fail(Message(status));
    default:
      return Outcome::Retry(Message(status));
  }
}

std::string_view OutcomeName(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::kSucceeded:
      return "succeeded";
    case Outcome::Kind::kRetry:
      return "retry";
    case Outcome::Kind::kFailed:
      return "failed";
    case Outcome::Kind::kStopped:
      return "stopped";
  }
  return "";
}

absl::Status Stopped(const Context& run) { return absl::CancelledError(run.cancel_reason()); }

// The order to go on after: that of the checkpoint when it speaks of these very bills.
std::string StartAfter(const Context& run, uint64_t fingerprint) {
  const std::optional<Checkpoint> checkpoint = ParseCheckpoint(run.checkpoint());
  if (!checkpoint || checkpoint->fingerprint != fingerprint) return "";
  return checkpoint->last_order_id;
}

}  // namespace

std::string FormatCheckpoint(const Checkpoint& checkpoint) {
  char digits[kFingerprintDigits + 1];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(checkpoint.fingerprint));
  return std::string(kCheckpointMark) + digits + ' ' + checkpoint.last_order_id;
}

std::optional<Checkpoint> ParseCheckpoint(std::string_view text) {
  const size_t id_at = kCheckpointMark.size() + kFingerprintDigits + 1;
  if (!text.starts_with(kCheckpointMark) || text.size() <= id_at || text[id_at - 1] != ' ') {
    return std::nullopt;
  }
  Checkpoint checkpoint;
  const char* digits = text.data() + kCheckpointMark.size();
  const char* end = digits + kFingerprintDigits;
  const auto parsed = std::from_chars(digits, end, checkpoint.fingerprint, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  checkpoint.last_order_id = std::string(text.substr(id_at));
  return checkpoint;
}

ReconHandler::ReconHandler(HandlerConfig config, const Statements& statements, const Clock& clock,
                           Journal& journal)
    : config_(std::move(config)), statements_(statements), clock_(clock), journal_(journal) {}

Outcome ReconHandler::operator()(Context& run) {
  Journal::Entry entry{"enter",      config_.executor_id, run.biz_date(),
                       run.run_id(), run.attempt(),       "-"};
  if (absl::Status status = journal_.Append(clock_, entry); !status.ok()) return ToOutcome(status);
  const Outcome outcome = ToOutcome(Reconcile(run));
  entry.event = "exit";
  entry.outcome = OutcomeName(outcome.kind);
  if (absl::Status status = journal_.Append(clock_, entry); !status.ok()) return ToOutcome(status);
  return outcome;
}

absl::Status ReconHandler::Reconcile(Context& run) {
  absl::StatusOr<absl::CivilDay> biz_date = ParseDate(run.biz_date());
  if (!biz_date.ok()) {
    return absl::InvalidArgumentError(
        "recon works on business dates; give its job a daily schedule");
  }
  TM_ASSIGN_OR_RETURN(BillPair bills, Load(*biz_date));
  const Batch batch{run.batch_id(),
                    run.biz_date(),
                    run.fencing_token().ToText(),
                    run.run_id(),
                    static_cast<int64_t>(bills.ours.size()),
                    static_cast<int64_t>(bills.channel.size())};
  const std::string after = StartAfter(run, bills.fingerprint);
  run.Log("batch " + batch.id + ": " + std::to_string(batch.ours_rows) + " bills of ours, " +
          std::to_string(batch.channel_rows) + " of the channel, " +
          (after.empty() ? "from the start" : "going on after order " + after));

  DifferenceStore store(config_.database_url, statements_);
  TM_RETURN_IF_ERROR(Patiently(run, [&] { return EnsureTables(store); }));
  TM_RETURN_IF_ERROR(Patiently(run, [&] { return store.Begin(batch, after); }));
  TM_RETURN_IF_ERROR(WriteDifferences(run, store, batch, std::move(bills), after));

  BatchResult result;
  TM_RETURN_IF_ERROR(Patiently(run, [&]() -> absl::Status {
    TM_ASSIGN_OR_RETURN(result, store.Finish(batch));
    return absl::OkStatus();
  }));
  run.SetFingerprint(result.differences, result.digest);
  run.SetResult(std::to_string(result.differences) + " differences");
  return absl::OkStatus();
}

absl::Status ReconHandler::EnsureTables(DifferenceStore& store) {
  const std::lock_guard lock(tables_mutex_);
  if (tables_ready_) return absl::OkStatus();
  TM_RETURN_IF_ERROR(store.CreateTables());
  tables_ready_ = true;
  return absl::OkStatus();
}

absl::StatusOr<BillPair> ReconHandler::Load(absl::CivilDay biz_date) const {
  if (config_.generate_bills) TM_RETURN_IF_ERROR(EnsureBills(config_.bills_dir, biz_date));
  return LoadBills(config_.bills_dir, biz_date);
}

absl::Status ReconHandler::Patiently(Context& run,
                                     const std::function<absl::Status()>& step) const {
  for (int tries = 1;; ++tries) {
    const absl::Status status = step();
    if (!absl::IsUnavailable(status) || tries >= config_.database_tries) return status;
    run.Log(Message(status) + "; trying again");
    if (run.WaitCancelled(std::chrono::seconds(1))) return Stopped(run);
  }
}

absl::Status ReconHandler::WriteDifferences(Context& run, DifferenceStore& store,
                                            const Batch& batch, BillPair bills,
                                            std::string after) const {
  Matcher matcher(std::move(bills.ours), std::move(bills.channel));
  matcher.SkipThrough(after);
  while (!matcher.done()) {
    if (run.cancelled()) return Stopped(run);
    const Matcher::Chunk chunk = matcher.Next(config_.chunk_orders);
    TM_RETURN_IF_ERROR(
        Patiently(run, [&] { return store.Append(batch, after, chunk.differences); }));
    after = chunk.last_order_id;
    run.Progress(matcher.percent(), FormatCheckpoint({bills.fingerprint, after}),
                 "orders up to " + after);
    if (config_.chunk_delay.count() > 0 && run.WaitCancelled(config_.chunk_delay)) {
      return Stopped(run);
    }
  }
  return absl::OkStatus();
}

}  // namespace tidemark::recon
