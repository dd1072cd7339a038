#include "scheduler/rpc/server.h"

#include <grpc/support/time.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <utility>

#include "common/text.h"

namespace tidemark {
namespace {

constexpr int kMaxMessage = 16 * 1024 * 1024;
constexpr int kKeepaliveMillis = 10'000;
constexpr int kKeepaliveTimeoutMillis = 5'000;

void SetOptions(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMaxMessage);
  builder.SetMaxSendMessageSize(kMaxMessage);
  // Two servers on one port would share its connections by chance.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // A cut link shows within seconds, not when TCP gives up.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMillis);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMillis);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 4'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
}

constexpr unsigned int kReloadSeconds = 1;

std::shared_ptr<grpc::ServerCredentials> CredentialsOf(const TlsFiles& tls) {
  if (tls.cert.empty()) return grpc::InsecureServerCredentials();
  using grpc::experimental::FileWatcherCertificateProvider;
  const auto provider = tls.ca.empty() ? std::make_shared<FileWatcherCertificateProvider>(
                                             tls.key, tls.cert, kReloadSeconds)
                                       : std::make_shared<FileWatcherCertificateProvider>(
                                             tls.key, tls.cert, tls.ca, kReloadSeconds);
  grpc::experimental::TlsServerCredentialsOptions options(provider);
  options.watch_identity_key_cert_pairs();
  if (!tls.ca.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

}  // namespace

class RpcServer::Impl {
 public:
  std::unique_ptr<grpc::Server> server;
};

RpcServer::RpcServer() : impl_(std::make_unique<Impl>()) {}

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    const std::string& listen, const std::vector<grpc::Service*>& services, const TlsFiles& tls) {
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::EnableDefaultHealthCheckService(true);
  std::unique_ptr<RpcServer> server(new RpcServer);
  grpc::ServerBuilder builder;
  SetOptions(builder);
  int port = 0;
  builder.AddListeningPort(listen, CredentialsOf(tls), &port);
  for (grpc::Service* service : services) builder.RegisterService(service);
  server->impl_->server = builder.BuildAndStart();
  if (server->impl_->server == nullptr || port == 0) {
    return absl::FailedPreconditionError(
        ToAbsl("cannot listen on " + listen +
               ": the port is taken, or the address is not of this machine. Stop what listens "
               "there (ss -ltnp shows it), or choose another --listen (port 0: any free one)"));
  }
  server->address_ = listen.substr(0, listen.rfind(':') + 1) + std::to_string(port);
  return server;
}

RpcServer::~RpcServer() { Shutdown(); }

void RpcServer::Shutdown() {
  if (impl_->server == nullptr) return;
  impl_->server->Shutdown(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_seconds(1, GPR_TIMESPAN)));
  impl_->server->Wait();
  impl_->server.reset();
}

}  // namespace tidemark
