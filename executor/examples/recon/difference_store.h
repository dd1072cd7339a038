// recon's tables: batches and their differences.
#ifndef TIDEMARK_EXECUTOR_EXAMPLES_RECON_DIFFERENCE_STORE_H_
#define TIDEMARK_EXECUTOR_EXAMPLES_RECON_DIFFERENCE_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/examples/recon/matcher.h"
#include "executor/examples/recon/sql.h"

namespace tidemark::recon {

// One date's reconciliation by one attempt.
struct Batch {
  std::string id;        // one a date
  std::string biz_date;  // YYYY-MM-DD
  std::string fence;     // FencingToken::ToText of the attempt
  std::string run_id;
  int64_t ours_rows = 0;
  int64_t channel_rows = 0;
};

// What a batch left in the table, rows that a person has worked on included; how they were worked
// on is not part of the digest.
struct BatchResult {
  int64_t differences = 0;
  std::string digest;  // "sha256:…"
};

// One connection to the database. Owned and used by one thread. Each call is one transaction and
// may be repeated when it fails. Errors: Unavailable when the database cannot be reached or went
// away, whether it committed or not; Aborted when a later attempt has the batch; Internal for the
// rest.
class DifferenceStore {
 public:
  // `url`: any libpq form. Connects at the first call.
  DifferenceStore(std::string url, const Statements& statements);
  ~DifferenceStore();
  DifferenceStore(const DifferenceStore&) = delete;
  DifferenceStore& operator=(const DifferenceStore&) = delete;

  absl::Status CreateTables();
  // Makes this attempt the owner of the batch and clears the draft behind order `after` ("": all).
  absl::Status Begin(const Batch& batch, const std::string& after);
  // Replaces the draft behind `after` by `differences`.
  absl::Status Append(const Batch& batch, const std::string& after,
                      const std::vector<Difference>& differences);
  absl::StatusOr<BatchResult> Finish(const Batch& batch);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::recon

#endif  // TIDEMARK_EXECUTOR_EXAMPLES_RECON_DIFFERENCE_STORE_H_
