#include "scheduler/core/ledger.h"

namespace tidemark {
namespace {

LedgerState OwnState(const LedgerInput& input, absl::CivilDay date) {
  const auto row = input.rows.find(date);
  const std::string status = row == input.rows.end() ? "" : row->second;
  // A rerun of a DONE date leaves it DONE until success replaces it, so the verdict comes first.
  if (status == "DONE") return LedgerState::kDone;
  if (status == "WAIVED") return LedgerState::kWaived;
  if (input.live.count(date) > 0) return LedgerState::kRunning;
  if (status == "EXPIRED") return LedgerState::kExpired;
  if (status == "FAILED") return LedgerState::kFailed;
  return input.paused ? LedgerState::kPaused : LedgerState::kMissing;
}

}  // namespace

std::string_view Name(LedgerState state) {
  switch (state) {
    case LedgerState::kDone:
      return "DONE";
    case LedgerState::kRunning:
      return "RUNNING";
    case LedgerState::kFailed:
      return "FAILED";
    case LedgerState::kMissing:
      return "MISSING";
    case LedgerState::kBlocked:
      return "BLOCKED";
    case LedgerState::kWaived:
      return "WAIVED";
    case LedgerState::kExpired:
      return "EXPIRED";
    case LedgerState::kPaused:
      return "PAUSED";
  }
  return "MISSING";
}

Ledger BuildLedger(const LedgerInput& input) {
  Ledger ledger;
  ledger.lines.reserve(input.due.size());
  std::optional<absl::CivilDay> in_the_way;
  bool whole = true;  // every date so far is DONE, WAIVED or passed
  for (const Occurrence& due : input.due) {
    LedgerLine line{due, OwnState(input, due.biz_date), std::nullopt, std::nullopt};
    const bool passed = line.state == LedgerState::kExpired && input.passed.count(due.biz_date) > 0;
    if (line.state == LedgerState::kMissing && input.strict && in_the_way.has_value()) {
      line.state = LedgerState::kBlocked;
      line.blocked_by = in_the_way;
    }
    const auto waits = input.waits.find(due.biz_date);
    if (line.state == LedgerState::kMissing && waits != input.waits.end()) {
      line.state = LedgerState::kBlocked;
      line.waits_for = waits->second;
    }
    const bool settled = line.state == LedgerState::kDone || line.state == LedgerState::kWaived;
    if (!settled && !passed) whole = false;
    if (whole && settled) ledger.high_watermark = due.biz_date;
    const bool stops = line.waits_for.has_value() || line.state == LedgerState::kRunning ||
                       line.state == LedgerState::kFailed ||
                       (line.state == LedgerState::kExpired && !passed);
    if (stops && !in_the_way.has_value()) in_the_way = due.biz_date;
    ledger.lines.push_back(line);
  }
  return ledger;
}

}  // namespace tidemark
