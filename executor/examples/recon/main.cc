#include "executor/examples/recon/recon_main.h"

int main(int argc, char** argv) {
  return tidemark::recon::ReconMain(argc, argv, tidemark::recon::StandardStatements());
}
