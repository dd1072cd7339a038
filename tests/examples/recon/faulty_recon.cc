// faulty-recon FAULT [the arguments of tidemark-recon]: see faults.h.
#include <cstdio>
#include <optional>

#include "executor/examples/recon/recon_main.h"
#include "tests/examples/recon/faults.h"

int main(int argc, char** argv) {
  const std::optional<tidemark::recon::Statements> statements =
      tidemark::recon::FaultyStatements(argc > 1 ? argv[1] : "");
  if (!statements) {
    std::fprintf(stderr, "usage: faulty-recon keeps-draft|drops-carried-over [arguments]\n");
    return 2;
  }
  argv[1] = argv[0];
  return tidemark::recon::ReconMain(argc - 1, argv + 1, *statements);
}
