// recon with a fault that a careless handler could have, for tests that must notice it.
#ifndef TIDEMARK_TESTS_EXAMPLES_RECON_FAULTS_H_
#define TIDEMARK_TESTS_EXAMPLES_RECON_FAULTS_H_

#include <optional>
#include <string_view>

#include "executor/examples/recon/sql.h"

namespace tidemark::recon {

// "keeps-draft": does not clear the draft of its batch before it writes.
// "drops-carried-over": clears what a person has worked on, too.
// Nothing for another name.
std::optional<Statements> FaultyStatements(std::string_view fault);

}  // namespace tidemark::recon

#endif  // TIDEMARK_TESTS_EXAMPLES_RECON_FAULTS_H_
