// A job's ledger: every due date with its state, derived from rows. Pure.
#ifndef TIDEMARK_SCHEDULER_CORE_LEDGER_H_
#define TIDEMARK_SCHEDULER_CORE_LEDGER_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/civil_time.h"
#include "scheduler/core/dependency.h"
#include "scheduler/core/time/schedule.h"

namespace tidemark {

enum class LedgerState {
  kDone,
  kRunning,  // a live run has it, running or waiting for its turn
  kFailed,   // after its retries, or cancelled
  kMissing,  // nobody has opened it yet
  kBlocked,  // strict order: an earlier date is in the way; or another job's date is not settled
  kWaived,   // an operator accepted that it will not run
  kExpired,  // beyond the limits
  kPaused,   // due, and the job is paused or disabled
};
std::string_view Name(LedgerState state);  // "DONE", …

struct LedgerInput {
  std::vector<Occurrence> due;                 // oldest first, each date once
  std::map<absl::CivilDay, std::string> rows;  // status of the watermark by date
  std::set<absl::CivilDay> live;               // dates with a row in active_run
  // Dates that were EXPIRED when the job was first launched: told once, and passed.
  std::set<absl::CivilDay> passed;
  std::map<absl::CivilDay, UpstreamDate> waits;  // dates that wait for another job's
  bool paused = false;                           // or disabled
  bool strict = true;
};

struct LedgerLine {
  Occurrence occurrence;
  LedgerState state = LedgerState::kMissing;
  // kBlocked: what is in the way, either an earlier date or another job's.
  std::optional<absl::CivilDay> blocked_by;
  std::optional<UpstreamDate> waits_for;
};

struct Ledger {
  std::vector<LedgerLine> lines;  // one for each due date, in order
  // The last date with every due date up to it DONE or WAIVED (or passed); empty: none.
  std::optional<absl::CivilDay> high_watermark;
};

// A watermark that says RUNNING without a live run has no verdict: the date is MISSING.
Ledger BuildLedger(const LedgerInput& input);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CORE_LEDGER_H_
