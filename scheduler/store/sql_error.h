// How PostgreSQL's errors become absl::Status. Only for database.cc.
#ifndef TIDEMARK_SCHEDULER_STORE_SQL_ERROR_H_
#define TIDEMARK_SCHEDULER_STORE_SQL_ERROR_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tidemark {

// An error that has a SQLSTATE. `message`: the database's words, without secrets.
absl::Status FromSqlState(std::string_view sqlstate, const std::string& message);
// A failed attempt to connect, for which libpq has words only. `where`: DescribeDatabase.
absl::Status FromConnectFailure(const std::string& where, const std::string& message);
absl::Status InDoubt(const std::string& message);

// SQLSTATEs after which the session is gone, even if the socket does not say so yet.
bool EndsSession(std::string_view sqlstate);
// Whether a COMMIT that failed with this state surely committed nothing.
bool SurelyRolledBack(std::string_view sqlstate);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_SQL_ERROR_H_
