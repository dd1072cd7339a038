// One statement of a flush, made of parts. Only for the store.
#ifndef TIDEMARK_SCHEDULER_STORE_FLUSH_STATEMENT_H_
#define TIDEMARK_SCHEDULER_STORE_FLUSH_STATEMENT_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "scheduler/store/database.h"
#include "scheduler/store/flush_parts.h"

namespace tidemark {

struct Owner;

// Collects parts and carries them out as one statement. A part may come once. Used by one thread.
class FlushStatement {
 public:
  FlushStatement();
  // The first one of a flush: holds the owner's fence (X5) and counts the flush (X9) before it does
  // anything, and does nothing without both.
  FlushStatement(const Owner& owner, uint64_t seq);

  void Add(const FlushPart& part, InputBatch batch);
  // `dated`: some of the batch's rows have a date. `run_ids`: of the batch's rows; those that were
  // done are added to `done` when it has run.
  void Add(const FlushPart& part, InputBatch batch, bool dated, std::vector<std::string> run_ids,
           std::set<std::string>* done);
  bool empty() const { return parts_.empty() && !first_; }
  bool Has(const FlushPart& part) const;

  // CANCELLED: the term is over. `at`: the database's time while the fence was held; may be null.
  absl::Status Run(SqlTransaction& transaction, absl::Time* at) const;

 private:
  struct Added {
    const FlushPart* part;
    std::string input;
    bool dated;
    std::vector<std::string> run_ids;
    std::set<std::string>* done;
  };

  std::string Text() const;
  absl::Status Judge(const SqlRows& rows) const;

  bool first_;
  std::vector<SqlParam> params_;
  std::vector<Added> parts_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_FLUSH_STATEMENT_H_
