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
#include "common/tls_files.h"
#include "common/version.h"
#include "scheduler/access/access_gate.h"
#include "scheduler/access/authenticator.h"
#include "scheduler/alerts/alert_service.h"
#include "scheduler/alerts/log_channel.h"
#include "scheduler/dev/dev_postgres.h"
#include "scheduler/engine_loop.h"
#include "scheduler/http_face.h"
#include "scheduler/http_tls.h"
#include "scheduler/metrics/metrics.h"
#include "scheduler/node_status.h"
#include "scheduler/rpc/access_rpc.h"
#include "scheduler/rpc/alert_rpc.h"
#include "scheduler/rpc/check_rpc.h"
#include "scheduler/rpc/executor_gateway.h"
#include "scheduler/rpc/job_codec.h"
#include "scheduler/rpc/operator_service.h"
#include "scheduler/rpc/rate_limiter.h"
#include "scheduler/rpc/server.h"
#include "scheduler/rpc/token_watch.h"
#include "scheduler/store/access_store.h"
#include "scheduler/store/alert_desk_store.h"
#include "scheduler/store/alert_outbox.h"
#include "scheduler/store/alert_post.h"
#include "scheduler/store/alert_routes.h"
#include "scheduler/store/check_desk_store.h"
#include "scheduler/store/migrate.h"
#include "scheduler/store/operator_store.h"
#include "scheduler/store/run_log_writer.h"
#include "scheduler/store/scheduler_store.h"
#include "scheduler/store/string_map.h"
#include "scheduler/store/watch_store.h"
#include "scheduler/watch/watch_service.h"
#include "scheduler/watch_reader.h"

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
                                                    NodeStatus& status, HttpFace::May may,
                                                    Clock& clock) {
  if (config.http_listen.empty()) return nullptr;
  HttpOptions options;
  options.listen = config.http_listen;
  if (!config.tls.cert.empty()) {
    TM_ASSIGN_OR_RETURN(const std::shared_ptr<HttpTls> tls, HttpTls::Open(config.tls, clock));
    options.tls = [tls] { return tls->Get(); };
  }
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

absl::StatusOr<std::string> MakeAdminToken(const SchedulerConfig& config) {
  Clock& clock = SystemClock();
  Random& random = SystemRandom();
  if (const std::string problem = NameProblem(config.make_admin_token); !problem.empty()) {
    return absl::InvalidArgumentError(ToAbsl("--make-admin-token " + problem));
  }
  const DatabaseOptions database = DatabaseOf(config, nullptr);
  {
    TM_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(database));
    TM_RETURN_IF_ERROR(Migrate(*connection, database.schema));
  }
  const std::string secret = NewToken(random);
  TokenRecord token;
  token.token_id = NewTokenId(random);
  token.hash = TokenHash(secret);
  token.name = config.make_admin_token;
  token.role = Role::kAdmin;
  AccessStore store(database, clock, random);
  const AccessDesk::By by = {"", "", HostName(), "tidemark-scheduler --make-admin-token"};
  TM_RETURN_IF_ERROR(store.AddToken(by, token, kTokenDays).status());
  return secret;
}

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
  Authenticator authenticator(config.insecure, clock);
  const AccessGate gate(authenticator);
  ExecutorGateway gateway(gate, &loop, &run_logs, clock, config.limits);
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
  AccessStore access_store(database, clock, random);
  if (config.require_approval) operator_options.approvals = &access_store;
  OperatorService operators(gate, operator_store, poke, clock, random, operator_options);
  TokenWatch tokens(access_store, authenticator, [&gateway] { gateway.Recheck(); });
  AccessRpc access_rpc(gate, access_store, [&tokens] { tokens.Nudge(); }, operators, random);
  AlertRpc alert_rpc(gate, alert_desk, alerts, [&alerts] { alerts.Poke(); }, clock, random);
  CheckDeskStore check_desk(database);
  CheckRpc check_rpc(gate, operator_store, check_desk);
  WatchService watch(
      config.watch, ReadWatchJob, [database] { return std::make_unique<WatchStore>(database); },
      clock, random);
  LogChannel alert_log(std::make_unique<AlertOutbox>(database));

  TM_RETURN_IF_ERROR(CheckTlsFiles(config.tls, clock.WallNow()));
  TM_ASSIGN_OR_RETURN(
      std::unique_ptr<RpcServer> server,
      RpcServer::Start(config.listen,
                       {gateway.service(), &operators, &alert_rpc, &check_rpc, &access_rpc},
                       config.tls, config.limits));
  StoreOptions store_options;
  store_options.database = database;
  store_options.address = server->address();
  store_options.version = kVersion;
  store_options.retention = {config.keep_history_days, config.keep_log_days};
  store_options.node_id = config.node_id;
  if (store_options.node_id.empty()) store_options.node_id = HostName() + "/" + server->address();
  gateway.SetNode(store_options.node_id);
  Metrics metrics(kVersion, store_options.node_id);
  NodeStatus node_status(loop, database, metrics, clock);
  RateLimiter limiter(config.limits.requests_per_second, clock);
  const HttpFace::May may_ask = [&limiter, &metrics](const WebRequest& request, auto) {
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
  if (!config.insecure) tokens.Start();
  alert_log.Start();
  alerts.Start(store_options.node_id);
  owned_store.Start();
  watch.Start(store_options.node_id, !config.alerts.channels.empty());
  store = &owned_store;
  node_status.SetStore(&owned_store);
  node_status.Start();
  TM_ASSIGN_OR_RETURN(const std::unique_ptr<HttpFace> http,
                      StartHttp(config, dev.get(), *server, node_status, may_ask, clock));
  if (dev != nullptr) {
    TM_RETURN_IF_ERROR(WriteAddress(dev->dir() + "/scheduler.addr", server->address()));
  }
  if (!config.address_file.empty()) {
    TM_RETURN_IF_ERROR(WriteAddress(config.address_file, server->address()));
  }
  LogInfo("scheduler up", {{"listen", server->address()},
                           {"node", store_options.node_id},
                           {"access", config.insecure ? "insecure" : "tokens"},
                           {"tls", config.tls.cert.empty() ? "no" : "yes"},
                           {"database", DescribeDatabase(database)}});

  const int signal = ServeUntilStopped(signals, *server, node_status,
                                       config.config_file.empty() ? nullptr : reread);
  LogInfo("stopping", {{"signal", std::to_string(signal)}});
  // Nothing new comes in, then what was decided is committed, then the lease is given back.
  server->SetServing(false);
  if (http != nullptr) http->Stop();
  access_rpc.Stop();
  node_status.SetStore(nullptr);
  operators.Stop();
  alerts.Abort();
  watch.Abort();
  alert_rpc.Stop();
  check_rpc.Stop();
  tokens.Stop();
  gateway.CloseAll();
  server->Shutdown();
  run_logs.Stop();
  owned_store.Stop();
  loop.Stop();
  alert_log.Stop();
  alerts.Stop();
  watch.Stop();
  node_status.Stop();
  LogInfo("stopped");
  return absl::OkStatus();
}

}  // namespace tidemark
