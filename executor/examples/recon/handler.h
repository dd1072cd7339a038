// The handler "recon": reconciles one date's bills.
#ifndef TIDEMARK_EXECUTOR_EXAMPLES_RECON_HANDLER_H_
#define TIDEMARK_EXECUTOR_EXAMPLES_RECON_HANDLER_H_

#include <tidemark/executor.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "common/clock.h"
#include "executor/examples/recon/bill.h"
#include "executor/examples/recon/difference_store.h"
#include "executor/examples/recon/journal.h"
#include "executor/examples/recon/sql.h"

namespace tidemark::recon {

// How far a batch is: every order up to `last_order_id` is written, from the bills with
// `fingerprint`. Text form "v1 <16 hexadecimal digits> <order id>".
struct Checkpoint {
  uint64_t fingerprint = 0;
  std::string last_order_id;
};
std::string FormatCheckpoint(const Checkpoint& checkpoint);
// Nothing for text that is not a checkpoint: the batch then starts from the beginning.
std::optional<Checkpoint> ParseCheckpoint(std::string_view text);

struct HandlerConfig {
  std::string database_url;
  std::string bills_dir;
  std::string executor_id;  // for the journal
  // Makes up the bills of a date that has none: for demonstrations.
  bool generate_bills = false;
  size_t chunk_orders = 250;                 // orders a transaction
  std::chrono::milliseconds chunk_delay{0};  // after each; makes a run long enough to watch
  // How often a database that is away is tried again, a second apart, before the attempt fails.
  int database_tries = 60;
};

// Reconciles dates, several at once: each call has its own connection. A date may be run any
// number of times and ends with the same rows; an attempt goes on from the checkpoint of the one
// before, on whatever executor. Differences that a person has worked on are kept as they are.
// Thread-safe; `clock` and `journal` must outlive it.
class ReconHandler {
 public:
  ReconHandler(HandlerConfig config, const Statements& statements, const Clock& clock,
               Journal& journal);

  Outcome operator()(Context& run);

 private:
  absl::Status Reconcile(Context& run);
  // Once a process.
  absl::Status EnsureTables(DifferenceStore& store);
  absl::StatusOr<BillPair> Load(absl::CivilDay biz_date) const;
  // Calls `step`, again after a pause while the database is away.
  absl::Status Patiently(Context& run, const std::function<absl::Status()>& step) const;
  absl::Status WriteDifferences(Context& run, DifferenceStore& store, const Batch& batch,
                                BillPair bills, std::string after) const;

  const HandlerConfig config_;
  const Statements statements_;
  const Clock& clock_;
  Journal& journal_;
  std::mutex tables_mutex_;
  bool tables_ready_ = false;
};

}  // namespace tidemark::recon

#endif  // TIDEMARK_EXECUTOR_EXAMPLES_RECON_HANDLER_H_
