#include "scheduler/app.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "common/clock.h"
#include "common/id.h"
#include "common/log.h"
#include "common/log_control.h"
#include "common/status.h"
#include "common/text.h"
#include "common/version.h"
#include "scheduler/alerts/alert_service.h"
#include "scheduler/alerts/log_channel.h"
#include "scheduler/dev/dev_postgres.h"
#include "scheduler/engine_loop.h"
#include "scheduler/http_face.h"
#include "scheduler/metrics/metrics.h"
#include "scheduler/node_status.h"
#include "scheduler/rpc/alert_rpc.h"
#include "scheduler/rpc/executor_gateway.h"
#include "scheduler/rpc/job_codec.h"
#include "scheduler/rpc/operator_service.h"
#include "scheduler/rpc/rate_limiter.h"
#include "scheduler/rpc/server.h"
#include "scheduler/store/alert_desk_store.h"
#include "scheduler/store/alert_outbox.h"
#include "scheduler/store/alert_post.h"
#include "scheduler/store/alert_routes.h"
#include "scheduler/store/operator_store.h"
#include "scheduler/store/run_log_writer.h"
#include "scheduler/store/scheduler_store.h"
#include "scheduler/store/string_map.h"

namespace tidemark {
namespace {

Decoders MakeDecoders() {
  return {[](const std::string& json) { return DecodeJobSpec(json); },
          [](const std::string& json) { return DecodeStringMap(json); }};
}

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

// For those who start us with port 0.
absl::Status WriteAddress(const std::string& path, const std::string& address) {
  std::ofstream out(path + ".new", std::ios::trunc);
  out << address << "\n";
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(path + ".new", path, error);
  if (!out || error) return absl::FailedPreconditionError(ToAbsl("cannot write " + path));
  return absl::OkStatus();
}

DatabaseOptions DatabaseOf(const SchedulerConfig& config, const DevPostgres* dev) {
  DatabaseOptions options;
  options.url = dev != nullptr ? dev->url() : config.database_url;
  options.schema = config.schema;
  options.application_name = "tidemark-scheduler";
  return options;
}

AlertService::Stores AlertStores(const DatabaseOptions& database) {
  return {[database] { return std::make_unique<AlertRoutes>(database); },
          [database] { return std::make_unique<AlertPost>(database); }};
}

// Null when HTTP is not configured.
absl::StatusOr<std::unique_ptr<HttpFace>> StartHttp(const SchedulerConfig& config,
                                                    const DevPostgres* dev, RpcServer& rpc,
                                                    NodeStatus& status, HttpFace::May may) {
  if (config.http_listen.empty()) return nullptr;
  HttpOptions options;
  options.listen = config.http_listen;
  options.max_body_bytes = config.http_max_body;
  options.max_connections = config.http_max_connections;
  TM_ASSIGN_OR_RETURN(std::unique_ptr<HttpFace> face,
                      HttpFace::Start(std::move(options), rpc, status, std::move(may)));
  if (dev != nullptr) {
    TM_RETURN_IF_ERROR(WriteAddress(dev->dir() + "/http.addr", face->address()));
  }
  if (!config.http_address_file.empty()) {
    TM_RETURN_IF_ERROR(WriteAddress(config.http_address_file, face->address()));
  }
  LogInfo("http up", {{"listen", face->address()}});
  return face;
}

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
int ServeUntilStopped(StopSignals& signals, RpcServer& server, const NodeStatus& status,
                      const RereadConfig& reread) {
  for (;;) {
    const int signal = signals.Wait(absl::Seconds(1));
    if (signal == SIGHUP && reread != nullptr) {
      TakeLogLevel(reread);
    } else if (signal != 0) {
      return signal;
    }
    server.SetServing(status.NotReady().empty());
    TellSuppressedLogs();
  }
}

}  // namespace

absl::Status RunScheduler(const SchedulerConfig& config, StopSignals& signals,
                          const RereadConfig& reread) {
  Clock& clock = SystemClock();
  Random& random = SystemRandom();
  std::unique_ptr<DevPostgres> dev;
  if (config.dev) {
    TM_ASSIGN_OR_RETURN(dev, DevPostgres::Start(config.data_dir, clock));
  }
  const DatabaseOptions database = DatabaseOf(config, dev.get());

  EngineLoop loop(MakeDecoders(), clock, random,
                  {config.catch_up_per_app, config.catch_up_per_node});
  RunLogWriter run_logs(database);
  ExecutorGateway gateway(&loop, &run_logs, clock, config.limits);
  OperatorStore operator_store(database, clock, random);
  // Operators may ask as soon as the server listens, which is before the store can be made.
  std::atomic<SchedulerStore*> store = nullptr;
  const auto poke = [&store] {
    if (SchedulerStore* made = store.load()) made->PokeCommands();
  };
  AlertDeskStore alert_desk(database);
  AlertService alerts(config.alerts, AlertStores(database), clock, random);
  OperatorServiceOptions operator_options;
  operator_options.alert_desk = &alert_desk;
  operator_options.alert_channels = &alerts;
  OperatorService operators(operator_store, poke, clock, random, operator_options);
  AlertRpc alert_rpc(alert_desk, alerts, [&alerts] { alerts.Poke(); }, clock, random);
  LogChannel alert_log(std::make_unique<AlertOutbox>(database));

  TM_ASSIGN_OR_RETURN(
      std::unique_ptr<RpcServer> server,
      RpcServer::Start(config.listen, {gateway.service(), &operators, &alert_rpc}, config.limits));
  StoreOptions store_options;
  store_options.database = database;
  store_options.address = server->address();
  store_options.version = kVersion;
  store_options.node_id = config.node_id;
  if (store_options.node_id.empty()) store_options.node_id = HostName() + "/" + server->address();
  gateway.SetNode(store_options.node_id);
  Metrics metrics(kVersion, store_options.node_id);
  NodeStatus node_status(loop, database, metrics, clock);
  RateLimiter limiter(config.limits.requests_per_second, clock);
  const HttpFace::May may_ask = [&limiter, &metrics](const HttpRequest& request, auto) {
    absl::Status status = limiter.Take(AddressOf(request.peer));
    if (!status.ok()) metrics.CountRefusal("requests-per-second");
    return status;
  };
  SchedulerStore owned_store(store_options, &loop, clock, random);
  loop.Attach({&owned_store, &gateway,
               [&operators](const std::vector<std::string>&) { operators.NudgeOrders(); },
               [&alert_log, &alerts] {
                 alert_log.Poke();
                 alerts.Poke();
               },
               &metrics});
  loop.Start();
  alert_log.Start();
  alerts.Start(store_options.node_id);
  owned_store.Start();
  store = &owned_store;
  node_status.SetStore(&owned_store);
  node_status.Start();
  TM_ASSIGN_OR_RETURN(const std::unique_ptr<HttpFace> http,
                      StartHttp(config, dev.get(), *server, node_status, may_ask));
  if (dev != nullptr) {
    TM_RETURN_IF_ERROR(WriteAddress(dev->dir() + "/scheduler.addr", server->address()));
  }
  if (!config.address_file.empty()) {
    TM_RETURN_IF_ERROR(WriteAddress(config.address_file, server->address()));
  }
  LogInfo("scheduler up", {{"listen", server->address()},
                           {"node", store_options.node_id},
                           {"database", DescribeDatabase(database)}});

  const int signal = ServeUntilStopped(signals, *server, node_status,
                                       config.config_file.empty() ? nullptr : reread);
  LogInfo("stopping", {{"signal", std::to_string(signal)}});
  // Nothing new comes in, then what was decided is committed, then the lease is given back.
  server->SetServing(false);
  if (http != nullptr) http->Stop();
  node_status.SetStore(nullptr);
  operators.Stop();
  alerts.Abort();
  alert_rpc.Stop();
  gateway.CloseAll();
  server->Shutdown();
  run_logs.Stop();
  owned_store.Stop();
  loop.Stop();
  alert_log.Stop();
  alerts.Stop();
  node_status.Stop();
  LogInfo("stopped");
  return absl::OkStatus();
}

}  // namespace tidemark
