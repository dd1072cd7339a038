// tidemark: the operator's command.
#include <iostream>
#include <string>
#include <vector>

#include "channel/grpc_log.h"
#include "scheduler/cli/cli.h"

int main(int argc, char** argv) {
  tidemark::SilenceGrpcLog();
  tidemark::Cli cli(std::cin, std::cout, std::cerr, tidemark::SystemClock(),
                    tidemark::SystemRandom());
  return tidemark::RunCli(std::vector<std::string>(argv + 1, argv + argc), cli);
}
