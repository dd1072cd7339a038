// A small HTTP/1.1 server that stands slow and hostile peers.
#ifndef TIDEMARK_SCHEDULER_HTTP_HTTP_SERVER_H_
#define TIDEMARK_SCHEDULER_HTTP_HTTP_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark {

struct WebRequest {
  std::string method;         // "GET"
  std::string path;           // without the query, not decoded: "/v1/OperatorService/ListRuns"
  std::string query;          // behind the "?", not decoded
  std::string host;           // headers, "" when absent
  std::string origin;         //
  std::string authorization;  //
  std::string content_type;   //
  std::string body;
  std::string peer;  // "ipv4:10.0.0.7:51234", as gRPC calls peers
};

struct WebResponse {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
};

// Called once, from any thread, at once or later; calls after the server was stopped do nothing.
using HttpReply = std::function<void(WebResponse)>;
// Called on the server's thread: must return soon, and may reply later.
using HttpHandler = std::function<void(WebRequest, HttpReply)>;

// What TLS works with, as PEM text. A new pointer means new contents.
struct HttpTlsFiles {
  std::string certificate_chain;
  std::string private_key;
  std::string client_ca;  // "": client certificates are not asked for
  bool require_client_certificate = false;
};
// Asked at each new connection, so that certificates change without a restart; must return soon.
using HttpTlsSource = std::function<std::shared_ptr<const HttpTlsFiles>()>;

struct HttpOptions {
  std::string listen;  // host:port; port 0: any free
  HttpTlsSource tls;   // null: plain HTTP
  // At the limit the connection that has kept us waiting for a request longest gives way.
  int max_connections = 256;
  size_t max_header_bytes = size_t{16} * 1024;
  size_t max_body_bytes = size_t{4} * 1024 * 1024;
  // Large bodies and answers in memory, of all connections together.
  size_t max_held_bytes = size_t{64} * 1024 * 1024;
  // For the whole of a header, a body, a TLS handshake; a trickle does not extend it.
  absl::Duration read_timeout = absl::Seconds(10);
  absl::Duration write_timeout = absl::Seconds(20);
  // Between two requests.
  absl::Duration idle_timeout = absl::Seconds(30);
};

// Since the start.
struct HttpCounts {
  uint64_t accepted = 0;
  uint64_t displaced = 0;  // gave way at max_connections
  uint64_t timed_out = 0;
  uint64_t bad = 0;  // no HTTP, or over a limit
  uint64_t open = 0;
};

// One thread serves all connections. Start, Stop and destruction from one thread; the rest is
// thread-safe. Every reply must have been given, or never be given, by its destruction.
class HttpServer {
 public:
  // An error names the address and the mend.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(HttpOptions options,
                                                           HttpHandler handler);
  ~HttpServer();  // stops
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // host:port that it listens on.
  const std::string& address() const { return address_; }
  HttpCounts counts() const;
  // Cuts all connections and ends the thread.
  void Stop();

 private:
  class Impl;
  HttpServer();
  std::unique_ptr<Impl> impl_;
  std::string address_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_HTTP_HTTP_SERVER_H_
