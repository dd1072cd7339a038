#include "scheduler/app.h"

#include <csignal>
#include <memory>
#include <utility>

#include "common/clock.h"
#include "common/id.h"
#include "common/log.h"
#include "common/log_control.h"
#include "common/status.h"
#include "scheduler/dev/dev_postgres.h"
#include "scheduler/node.h"

namespace tidemark {
namespace {

void TakeLogLevel(const RereadConfig& reread) {
  const std::optional<SchedulerConfig> config = reread();
  if (!config.has_value()) {
    LogError("the configuration cannot be used; the log level stays as it was");
    return;
  }
  SetLogLevel(config->log_level);
  LogWarn("log level read again", {{"level", config->log_level}});
}

// Returns the number of the stop signal. Meanwhile grpc.health.v1 says what /readyz says.
int ServeUntilStopped(StopSignals& signals, Node& node, const RereadConfig& reread) {
  for (;;) {
    const int signal = signals.Wait(absl::Seconds(1));
    if (signal == SIGHUP && reread != nullptr) {
      TakeLogLevel(reread);
    } else if (signal != 0) {
      return signal;
    }
    node.TellHealth();
    TellSuppressedLogs();
  }
}

}  // namespace

absl::Status RunScheduler(const SchedulerConfig& config, StopSignals& signals,
                          const RereadConfig& reread) {
  Clock& clock = SystemClock();
  std::unique_ptr<DevPostgres> dev;
  if (config.dev) {
    TM_ASSIGN_OR_RETURN(dev, DevPostgres::Start(config.data_dir, clock));
  }
  Node node(config, DatabaseOf(config, dev != nullptr ? dev->url() : config.database_url), clock,
            SystemRandom());
  TM_RETURN_IF_ERROR(node.Start(dev != nullptr ? dev->dir() : ""));
  const int signal =
      ServeUntilStopped(signals, node, config.config_file.empty() ? nullptr : reread);
  LogInfo("stopping", {{"signal", std::to_string(signal)}});
  node.Stop();
  LogInfo("stopped");
  return absl::OkStatus();
}

}  // namespace tidemark
