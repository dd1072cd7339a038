#include "scheduler/rpc/server.h"

#include <grpc/support/time.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <utility>

#include "common/text.h"

namespace tidemark {
namespace {

constexpr int kKeepaliveMillis = 10'000;
constexpr int kKeepaliveTimeoutMillis = 5'000;
// From the connection to its first HTTP/2 frame, TLS included: who opens it and says nothing goes.
constexpr int kHandshakeMillis = 10'000;
// Connections on which nobody calls anything.
constexpr int kIdleMillis = 300'000;
constexpr int kStreamsAConnection = 1000;
// Of gRPC's own buffers; under pressure idle connections go first.
constexpr size_t kBufferBytes = size_t{512} * 1024 * 1024;

void SetLimits(grpc::ServerBuilder& builder, const RpcLimits& limits) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(limits.max_message));
  builder.SetMaxSendMessageSize(static_cast<int>(limits.max_message));
  builder.SetResourceQuota(grpc::ResourceQuota("tidemark").Resize(kBufferBytes));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMillis);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMillis);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsAConnection);
}

void SetOptions(grpc::ServerBuilder& builder) {
  // Two servers on one port would share its connections by chance.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // A cut link shows within seconds, not when TCP gives up.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMillis);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMillis);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 4'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 5);
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
  int max_message = 0;
};

RpcServer::RpcServer() : impl_(std::make_unique<Impl>()) {}

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    const std::string& listen, const std::vector<grpc::Service*>& services, const TlsFiles& tls,
    const RpcLimits& limits) {
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::EnableDefaultHealthCheckService(true);
  std::unique_ptr<RpcServer> server(new RpcServer);
  grpc::ServerBuilder builder;
  SetOptions(builder);
  SetLimits(builder, limits);
  server->impl_->max_message = static_cast<int>(limits.max_message);
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
  server->SetServing(false);
  server->address_ = listen.substr(0, listen.rfind(':') + 1) + std::to_string(port);
  return server;
}

RpcServer::~RpcServer() { Shutdown(); }

std::shared_ptr<grpc::Channel> RpcServer::InProcessChannel() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(impl_->max_message);
  arguments.SetMaxSendMessageSize(impl_->max_message);
  return impl_->server->InProcessChannel(arguments);
}

void RpcServer::SetServing(bool serving) {
  if (impl_->server == nullptr) return;
  if (grpc::HealthCheckServiceInterface* health = impl_->server->GetHealthCheckService()) {
    health->SetServingStatus(serving);
  }
}

void RpcServer::Shutdown() {
  if (impl_->server == nullptr) return;
  impl_->server->Shutdown(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_seconds(1, GPR_TIMESPAN)));
  impl_->server->Wait();
  impl_->server.reset();
}

}  // namespace tidemark
