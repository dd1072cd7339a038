// What SqlRows hides. Only for database.cc and rows.cc.
#ifndef TIDEMARK_SCHEDULER_STORE_ROWS_IMPL_H_
#define TIDEMARK_SCHEDULER_STORE_ROWS_IMPL_H_

#include <pqxx/pqxx>

#include "scheduler/store/database.h"

namespace tidemark {

struct SqlRows::Impl {
  pqxx::result result;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_ROWS_IMPL_H_
