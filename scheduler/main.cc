#include <sys/resource.h>

#include <iostream>
#include <optional>

#include "channel/grpc_log.h"
#include "common/log.h"
#include "common/log_control.h"
#include "common/mutex_checks.h"
#include "common/status.h"
#include "scheduler/admin_token.h"
#include "scheduler/app.h"
#include "scheduler/config.h"

namespace {

// Connections are descriptors: as many as the system lets us have.
void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  tidemark::ForgoMutexChecks();
  int exit_code = 0;
  const std::optional<tidemark::SchedulerConfig> config =
      tidemark::ReadConfig(argc, argv, &exit_code);
  if (!config.has_value()) return exit_code;
  tidemark::InitLogging("tidemark-scheduler", config->log_level, config->log_format);
  tidemark::SendGrpcLogToOurs();
  if (!config->make_admin_token.empty()) {
    const absl::StatusOr<std::string> token = tidemark::MakeAdminToken(*config);
    if (!token.ok()) {
      std::cerr << "tidemark-scheduler: " << tidemark::Message(token.status()) << "\n";
      return 1;
    }
    std::cout << *token << "\n";
    std::cerr << "This is the only time that it is shown. Keep it in a file that you alone can "
                 "read, and say where: tidemark --token-file FILE (or TIDEMARK_TOKEN_FILE).\n";
    return 0;
  }
  RaiseFileLimit();
  tidemark::StopSignals signals;
  const auto reread = [&]() -> std::optional<tidemark::SchedulerConfig> {
    int ignored = 0;
    return tidemark::ReadConfig(argc, argv, &ignored);
  };
  const absl::Status status = tidemark::RunScheduler(*config, signals, reread);
  if (status.ok()) return 0;
  std::cerr << "tidemark-scheduler: " << tidemark::Message(status) << "\n";
  return 1;
}
