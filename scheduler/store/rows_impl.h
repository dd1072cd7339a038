// What SqlRows hides. Only for database.cc and rows.cc.
#ifndef TIDEMARK_SCHEDULER_STORE_ROWS_IMPL_H_
#define TIDEMARK_SCHEDULER_STORE_ROWS_IMPL_H_

#include <libpq-fe.h>

#include <memory>

#include "scheduler/store/database.h"

namespace tidemark {

struct SqlRows::Impl {
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_ROWS_IMPL_H_
