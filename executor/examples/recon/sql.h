// Every SQL text of recon, in one place. The tables are recon's own; the scheduler never sees them.
#ifndef TIDEMARK_EXECUTOR_EXAMPLES_RECON_SQL_H_
#define TIDEMARK_EXECUTOR_EXAMPLES_RECON_SQL_H_

#include <string>

namespace tidemark::recon {

// The statements, parameters always bound. A value rather than constants, so that another program
// can carry the same reconciliation out with another way of writing.
struct Statements {
  // Makes schema `recon` with its tables and view; harmless when they are there.
  std::string create_tables;

  // $1 batch_id, $2 biz_date, $3 fence, $4 run_id, $5 rows of ours, $6 rows of the channel. No row
  // is affected when a later attempt has the batch.
  std::string take_batch;
  // $1 batch_id, $2 fence. Locks the batch; no row is affected when another attempt has it.
  std::string check_fence;
  // $1 batch_id, $2 order_id: deletes the draft behind that order ("" for all of it). The draft is
  // what nobody has worked on.
  std::string clear_draft;
  // $1 batch_id, $2 order_id, $3 kind, $4 ours_cents, $5 channel_cents, $6 copies. Adds the
  // difference unless it was carried over: a person has worked on this very one.
  std::string add_difference;
  // $1 batch_id, $2 fence.
  std::string complete_batch;
  // $1 batch_id: rows and digest, from the table as it stands.
  std::string read_result;
};

const Statements& StandardStatements();

}  // namespace tidemark::recon

#endif  // TIDEMARK_EXECUTOR_EXAMPLES_RECON_SQL_H_
