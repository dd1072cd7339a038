#include "tests/examples/recon/faults.h"

namespace tidemark::recon {

std::optional<Statements> FaultyStatements(std::string_view fault) {
  Statements statements = StandardStatements();
  if (fault == "keeps-draft") {
    statements.clear_draft = "SELECT WHERE $1::text || $2::text IS NULL";
    return statements;
  }
  if (fault == "drops-carried-over") {
    statements.clear_draft = "DELETE FROM recon.difference WHERE batch_id = $1 AND order_id > $2";
    return statements;
  }
  return std::nullopt;
}

}  // namespace tidemark::recon
