// The command line of tidemark-recon.
#ifndef TIDEMARK_EXECUTOR_EXAMPLES_RECON_RECON_MAIN_H_
#define TIDEMARK_EXECUTOR_EXAMPLES_RECON_RECON_MAIN_H_

#include "executor/examples/recon/sql.h"

namespace tidemark::recon {

// Serves, or generates bills, as the arguments say. Returns the exit code: 0 done, 1 failed,
// 2 wrong usage, else that of Executor::Run.
int ReconMain(int argc, char** argv, const Statements& statements);

}  // namespace tidemark::recon

#endif  // TIDEMARK_EXECUTOR_EXAMPLES_RECON_RECON_MAIN_H_
