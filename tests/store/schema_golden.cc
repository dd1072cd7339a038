// Prints the schema that the embedded migrations make, as schema.golden.sql has it.
#include <cstdio>

#include "common/log.h"
#include "common/status.h"
#include "tests/support/migrated_database.h"
#include "tests/support/process.h"

int main() {
  tidemark::InitLogging("schema_golden", "warn");  // stdout is for the schema alone
  const tidemark::MigratedDatabase database;
  const auto dump = tidemark::RunCommand({TIDEMARK_SCHEMA_DUMP, database.url()});
  if (!dump.ok()) {
    std::fprintf(stderr, "%s\n", tidemark::Message(dump.status()).c_str());
    return 1;
  }
  std::fputs(dump->c_str(), stdout);
  return 0;
}
