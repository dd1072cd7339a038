#include "scheduler/node.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <utility>
#include <vector>

#include "common/address.h"
#include "common/log.h"
#include "common/status.h"
#include "common/text.h"
#include "common/tls_files.h"
#include "common/version.h"
#include "scheduler/access/access_rules.h"
#include "scheduler/advertise.h"
#include "scheduler/http_routes.h"
#include "scheduler/http_tls.h"
#include "scheduler/rpc/job_codec.h"
#include "scheduler/store/alert_outbox.h"
#include "scheduler/store/alert_post.h"
#include "scheduler/store/alert_routes.h"
#include "scheduler/store/string_map.h"
#include "scheduler/store/watch_store.h"
#include "scheduler/watch_reader.h"

namespace tidemark {
namespace {

Decoders MakeDecoders() {
  return {[](const std::string& json) { return DecodeJobSpec(json); },
          [](const std::string& json) { return DecodeStringMap(json); }};
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

AlertService::Stores AlertStores(const DatabaseOptions& database) {
  return {[database] { return std::make_unique<AlertRoutes>(database); },
          [database] { return std::make_unique<AlertPost>(database); }};
}

}  // namespace

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

DatabaseOptions DatabaseOf(const SchedulerConfig& config, const std::string& url) {
  DatabaseOptions options;
  options.url = url;
  options.schema = config.schema;
  options.application_name = "tidemark-scheduler";
  return options;
}

Node::Node(const SchedulerConfig& config, DatabaseOptions database, Clock& clock, Random& random)
    : config_(config),
      database_(std::move(database)),
      clock_(clock),
      random_(random),
      loop_(MakeDecoders(), clock, random, {config.catch_up_per_app, config.catch_up_per_node}),
      run_logs_(database_),
      authenticator_(config.insecure, clock),
      limiter_(config.limits.requests_per_second, clock, RateLimiter::kMostKeys,
               [this] {
                 if (Metrics* metrics = counted_) metrics->CountRefusal("requests-per-second");
               }),
      gate_(authenticator_, &limiter_),
      gateway_(gate_, &loop_, &run_logs_, clock, config.limits),
      operator_store_(database_, clock, random, {config.limits.max_jobs_per_app}),
      alert_desk_(database_),
      alerts_(config.alerts, AlertStores(database_), clock, random),
      access_store_(database_, clock, random),
      operators_(
          gate_, operator_store_,
          [this] {
            if (SchedulerStore* store = asked_store_) store->PokeCommands();
          },
          clock, random, OperatorOptions()),
      tokens_(access_store_, authenticator_, [this] { gateway_.Recheck(); }),
      access_rpc_(
          gate_, access_store_, [this] { tokens_.Nudge(); }, operators_, random,
          config.limits.max_waiting_requests),
      alert_rpc_(
          gate_, alert_desk_, alerts_, [this] { alerts_.Poke(); }, clock, random,
          config.limits.max_waiting_requests),
      check_desk_(database_),
      check_rpc_(gate_, operator_store_, check_desk_, config.limits.max_waiting_requests),
      watch_(
          config.watch, ReadWatchJob,
          [options = database_] { return std::make_unique<WatchStore>(options); }, clock, random),
      alert_log_(std::make_unique<AlertOutbox>(database_)) {}

Node::~Node() { Stop(); }

OperatorServiceOptions Node::OperatorOptions() {
  OperatorServiceOptions options;
  options.queue = config_.limits.max_waiting_requests;
  options.alert_desk = &alert_desk_;
  options.alert_channels = &alerts_;
  if (config_.require_approval) options.approvals = &access_store_;
  return options;
}

absl::Status Node::Start(const std::string& dev_dir) {
  TM_RETURN_IF_ERROR(StartServer());
  MakeScheduling();
  StartScheduling();
  TM_RETURN_IF_ERROR(StartHttp());
  TM_RETURN_IF_ERROR(WriteAddresses(dev_dir));
  LogInfo("scheduler up", {{"listen", server_->address()},
                           {"advertise", address_},
                           {"node", node_id_},
                           {"access", config_.insecure ? "insecure" : "tokens"},
                           {"tls", config_.tls.cert.empty() ? "no" : "yes"},
                           {"database", DescribeDatabase(database_)}});
  return absl::OkStatus();
}

absl::Status Node::StartServer() {
  TM_RETURN_IF_ERROR(CheckTlsFiles(config_.tls, clock_.WallNow()));
  TM_ASSIGN_OR_RETURN(server_, RpcServer::Start(config_.listen,
                                                {gateway_.service(), &operators_, &alert_rpc_,
                                                 &check_rpc_, &access_rpc_},
                                                config_.tls, config_.limits));
  address_ = AdvertisedAddress(config_.advertise, server_->address(), HostName());
  WarnOfCertificate();
  node_id_ = config_.node_id;
  if (node_id_.empty()) node_id_ = HostName() + "/" + server_->address();
  gateway_.SetNode(node_id_);
  return absl::OkStatus();
}

void Node::WarnOfCertificate() const {
  if (config_.tls.cert.empty()) return;
  const std::optional<HostPort> address = ParseAddress(address_);
  if (!address.has_value()) return;
  const absl::StatusOr<bool> named = CertificateIsFor(config_.tls.cert, address->host);
  if (!named.ok() || *named) return;
  LogWarn(
      "the certificate is not for the name that others are told: executors and operators that "
      "learn of this node will not trust it. Make one for it (tidemark tls init --host NAME), "
      "or advertise a name that is in it (--advertise)",
      {{"name", address->host}, {"certificate", config_.tls.cert}});
}

void Node::MakeScheduling() {
  StoreOptions options;
  options.database = database_;
  options.listen_url = config_.database_listen_url;
  options.address = address_;
  options.version = kVersion;
  options.retention = {config_.keep_history_days, config_.keep_log_days};
  options.node_id = node_id_;
  options.vitals = [this] {
    const EngineLoop::Status status = loop_.GetStatus();
    return NodeVitals{status.clock_offset, status.clock_uncertainty, status.lag};
  };
  metrics_.emplace(kVersion, node_id_);
  counted_ = &*metrics_;
  status_.emplace(loop_, database_, *metrics_, clock_);
  store_.emplace(options, &loop_, clock_, random_);
  loop_.Attach({&*store_, &gateway_,
                [this](const std::vector<std::string>&) { operators_.NudgeOrders(); },
                [this] {
                  alert_log_.Poke();
                  alerts_.Poke();
                },
                &*metrics_});
}

void Node::StartScheduling() {
  started_ = true;
  loop_.Start();
  if (!config_.insecure) tokens_.Start();
  alert_log_.Start();
  alerts_.Start(node_id_);
  store_->Start();
  watch_.Start(node_id_, !config_.alerts.channels.empty());
  asked_store_ = &*store_;
  status_->SetStore(&*store_);
  status_->Start();
}

absl::Status Node::MayAsk(const WebRequest& request, std::string_view method) {
  if (method == HttpSources::kMetrics) return limiter_.Take(AddressOf(request.peer));
  // One that does not exist is the gateway's to answer.
  if (FindAccessRule(method) == nullptr) return absl::OkStatus();
  return gate_.Check(method, request.authorization, request.peer);
}

absl::Status Node::StartHttp() {
  if (config_.http_listen.empty()) return absl::OkStatus();
  HttpOptions options;
  options.listen = config_.http_listen;
  if (!config_.tls.cert.empty()) {
    TM_ASSIGN_OR_RETURN(const std::shared_ptr<HttpTls> tls, HttpTls::Open(config_.tls, clock_));
    options.tls = [tls] { return tls->Get(); };
  }
  options.max_body_bytes = config_.http_max_body;
  options.max_connections = config_.http_max_connections;
  TM_ASSIGN_OR_RETURN(http_, HttpFace::Start(
                                 std::move(options), *server_, *status_,
                                 [this](const WebRequest& request, std::string_view method) {
                                   return MayAsk(request, method);
                                 },
                                 !config_.insecure));
  LogInfo("http up", {{"listen", http_->address()}});
  return absl::OkStatus();
}

absl::Status Node::WriteAddresses(const std::string& dev_dir) const {
  const std::string dev = dev_dir.empty() ? "" : dev_dir + "/";
  std::vector<std::pair<std::string, std::string>> files = {
      {config_.address_file, server_->address()}};
  if (!dev.empty()) files.emplace_back(dev + "scheduler.addr", server_->address());
  if (http_ != nullptr) {
    files.emplace_back(config_.http_address_file, http_->address());
    if (!dev.empty()) files.emplace_back(dev + "http.addr", http_->address());
  }
  for (const auto& [path, address] : files) {
    if (!path.empty()) TM_RETURN_IF_ERROR(WriteAddress(path, address));
  }
  return absl::OkStatus();
}

void Node::Stop() {
  if (!started_) return;
  started_ = false;
  server_->SetServing(false);
  if (http_ != nullptr) http_->Stop();
  access_rpc_.Stop();
  status_->SetStore(nullptr);
  operators_.Stop();
  alerts_.Abort();
  watch_.Abort();
  alert_rpc_.Stop();
  check_rpc_.Stop();
  tokens_.Stop();
  gateway_.CloseAll();
  server_->Shutdown();
  run_logs_.Stop();
  store_->Stop();
  loop_.Stop();
  alert_log_.Stop();
  alerts_.Stop();
  watch_.Stop();
  status_->Stop();
}

}  // namespace tidemark
