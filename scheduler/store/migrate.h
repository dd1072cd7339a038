// The schema: numbered migrations, append-only, embedded in the program.
#ifndef TIDEMARK_SCHEDULER_STORE_MIGRATE_H_
#define TIDEMARK_SCHEDULER_STORE_MIGRATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/store/database.h"

namespace tidemark {

struct Migration {
  int version = 0;        // 1, 2, …
  std::string_view name;  // "0001_initial"
  std::string_view sql;
  // The last version that a program must know to work with the schema as this leaves it: for one
  // that a program of the release before can live with, that release's last. 0: its own.
  // In the file a line "-- needs: 52".
  int needs = 0;
};

// Those of this program, by version.
const std::vector<Migration>& EmbeddedMigrations();

// What schema_migration keeps, so that a file changed after the fact is noticed: 16 hex digits.
std::string MigrationChecksum(std::string_view sql);

// Brings the schema (made when missing) up to `migrations`, in one transaction; any number of
// starters may do so at once. With `apply` false nothing is changed. A schema with later
// migrations is taken if all of them say that this program can live with them. FAILED_PRECONDITION:
// it is too new for this program, was made from other files, is old and `apply` is false, or needs
// a migration that the nodes now up could not live with.
absl::Status Migrate(Connection& connection, const std::string& schema, bool apply = true,
                     const std::vector<Migration>& migrations = EmbeddedMigrations());

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_MIGRATE_H_
