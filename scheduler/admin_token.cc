#include "scheduler/admin_token.h"

#include <memory>

#include "common/clock.h"
#include "common/id.h"
#include "common/status.h"
#include "common/text.h"
#include "scheduler/access/token.h"
#include "scheduler/node.h"
#include "scheduler/store/access_store.h"
#include "scheduler/store/migrate.h"

namespace tidemark {

absl::StatusOr<std::string> MakeAdminToken(const SchedulerConfig& config) {
  Clock& clock = SystemClock();
  Random& random = SystemRandom();
  if (const std::string problem = NameProblem(config.make_admin_token); !problem.empty()) {
    return absl::InvalidArgumentError(ToAbsl("--make-admin-token " + problem));
  }
  const DatabaseOptions database = DatabaseOf(config, config.database_url);
  {
    TM_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(database));
    TM_RETURN_IF_ERROR(Migrate(*connection, database.schema));
  }
  const std::string secret = NewToken(random);
  TokenRecord token;
  token.token_id = NewTokenId(random);
  token.hash = TokenHash(secret);
  token.name = config.make_admin_token;
  token.role = Role::kAdmin;
  AccessStore store(database, clock, random);
  const AccessDesk::By by = {"", "", HostName(), "tidemark-scheduler --make-admin-token"};
  TM_RETURN_IF_ERROR(store.AddToken(by, token, kTokenDays).status());
  return secret;
}

}  // namespace tidemark
