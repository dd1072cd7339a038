#include "scheduler/http/http_server.h"

#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "common/log.h"
#include "common/text.h"
#include "scheduler/http/http_connection.h"

namespace tidemark {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using TlsContext = std::shared_ptr<asio::ssl::context>;

absl::Status CannotListen(const std::string& listen, const std::string& why) {
  return absl::FailedPreconditionError(
      ToAbsl("cannot listen on " + listen + " for HTTP: " + why +
             ". Stop what listens there (ss -ltnp shows it), or choose another --http-listen "
             "(port 0: any free one)"));
}

absl::StatusOr<tcp::endpoint> Resolve(asio::io_context& io, const std::string& listen) {
  const size_t colon = listen.rfind(':');
  int port = -1;
  if (colon == std::string::npos ||
      !absl::SimpleAtoi(ToAbsl(std::string_view(listen).substr(colon + 1)), &port) || port < 0 ||
      port > 65535) {
    return CannotListen(listen, "it is not HOST:PORT");
  }
  std::string host = listen.substr(0, colon);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  ErrorCode error;
  tcp::resolver resolver(io);
  const auto found =
      resolver.resolve(host, std::to_string(port),
                       tcp::resolver::passive | tcp::resolver::address_configured, error);
  if (error || found.empty()) return CannotListen(listen, "no such host");
  return found.begin()->endpoint();
}

TlsContext MakeContext(const HttpTlsFiles& files, ErrorCode& error) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  context->use_certificate_chain(asio::buffer(files.certificate_chain), error);
  if (!error) {
    context->use_private_key(asio::buffer(files.private_key), asio::ssl::context::pem, error);
  }
  if (error || files.client_ca.empty()) return context;
  context->add_certificate_authority(asio::buffer(files.client_ca), error);
  context->set_verify_mode(asio::ssl::verify_peer | (files.require_client_certificate
                                                         ? asio::ssl::verify_fail_if_no_peer_cert
                                                         : asio::ssl::verify_none));
  return context;
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(HttpOptions options, HttpHandler handler)
      : shared_(std::move(options), std::move(handler)),
        acceptor_(shared_.io),
        pause_(shared_.io) {}

  absl::StatusOr<int> Listen() {
    const std::string& listen = shared_.options.listen;
    absl::StatusOr<tcp::endpoint> endpoint = Resolve(shared_.io, listen);
    if (!endpoint.ok()) return endpoint.status();
    ErrorCode error;
    acceptor_.open(endpoint->protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(*endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return CannotListen(listen, error.message());
    if (shared_.options.tls != nullptr && Context() == nullptr) {
      return CannotListen(listen, "its certificate or key cannot be used: " + tls_problem_);
    }
    return acceptor_.local_endpoint().port();
  }

  void Run() {
    Accept();
    thread_ = std::thread([this] { shared_.io.run(); });
  }

  void Stop() {
    if (!thread_.joinable()) return;
    asio::post(shared_.io, [this] {
      ErrorCode ignored;
      acceptor_.close(ignored);
      pause_.cancel();
      const std::vector<HttpConnection*> open(shared_.open.begin(), shared_.open.end());
      for (HttpConnection* connection : open) connection->Cut();
    });
    thread_.join();  // nothing is pending any more
  }

  HttpCounts counts() const {
    return {shared_.accepted, shared_.displaced, shared_.timed_out, shared_.bad,
            shared_.connections};
  }

 private:
  void Accept() {
    acceptor_.async_accept([this](const ErrorCode& error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) {
        // No descriptors left: those that are open end by their deadlines.
        pause_.expires_after(std::chrono::milliseconds(50));
        pause_.async_wait([this](const ErrorCode& cut) {
          if (!cut) Accept();
        });
        return;
      }
      Take(std::move(socket));
      Accept();
    });
  }

  void Take(tcp::socket socket) {
    ++shared_.accepted;
    if (shared_.open.size() >= static_cast<size_t>(shared_.options.max_connections)) {
      ++shared_.displaced;
      if (shared_.waiting.empty()) return;  // all are being answered: the new one is cut
      HttpConnection* oldest = shared_.waiting.front();
      // It leaves the lists when its cancelled operation is told; it must not be chosen again.
      shared_.waiting.splice(shared_.waiting.end(), shared_.waiting, shared_.waiting.begin());
      oldest->Cut();
    }
    ErrorCode ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    if (shared_.options.tls == nullptr) {
      ServeHttp(shared_, std::move(socket));
    } else if (TlsContext context = Context(); context != nullptr) {
      ServeHttps(shared_, std::move(socket), std::move(context));
    }
  }

  // The last contents that could be used; null when there are none.
  TlsContext Context() {
    std::shared_ptr<const HttpTlsFiles> files = shared_.options.tls();
    if (files == tls_files_ || files == nullptr) return tls_context_;
    tls_files_ = std::move(files);
    ErrorCode error;
    TlsContext context = MakeContext(*tls_files_, error);
    if (error) {
      tls_problem_ = error.message();
      LogError("the new certificate or key cannot be used for HTTP", {{"why", tls_problem_}});
    } else {
      tls_context_ = std::move(context);
    }
    return tls_context_;
  }

  HttpShared shared_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::shared_ptr<const HttpTlsFiles> tls_files_;
  TlsContext tls_context_;
  std::string tls_problem_ = "there is none";
  std::thread thread_;
};

HttpServer::HttpServer() = default;
HttpServer::~HttpServer() { Stop(); }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(HttpOptions options,
                                                              HttpHandler handler) {
  std::unique_ptr<HttpServer> server(new HttpServer);
  const std::string listen = options.listen;
  server->impl_ = std::make_unique<Impl>(std::move(options), std::move(handler));
  const absl::StatusOr<int> port = server->impl_->Listen();
  if (!port.ok()) return port.status();
  server->address_ = listen.substr(0, listen.rfind(':') + 1) + std::to_string(*port);
  server->impl_->Run();
  return server;
}

HttpCounts HttpServer::counts() const { return impl_->counts(); }
void HttpServer::Stop() { impl_->Stop(); }

}  // namespace tidemark
