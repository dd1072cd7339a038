// One connection of the HTTP server.
#ifndef TIDEMARK_SCHEDULER_HTTP_HTTP_CONNECTION_H_
#define TIDEMARK_SCHEDULER_HTTP_HTTP_CONNECTION_H_

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <list>
#include <memory>

#include "scheduler/http/http_server.h"

namespace tidemark {

class HttpConnection;

// What the connections of a server share. Its lists belong to the I/O thread, counts to anybody.
struct HttpShared {
  HttpShared(HttpOptions o, HttpHandler h) : options(std::move(o)), handler(std::move(h)) {}

  const HttpOptions options;
  const HttpHandler handler;
  std::list<HttpConnection*> open;
  std::list<HttpConnection*> waiting;  // for a request, the longest first
  size_t held_bytes = 0;
  std::atomic<uint64_t> accepted = 0;
  std::atomic<uint64_t> displaced = 0;
  std::atomic<uint64_t> timed_out = 0;
  std::atomic<uint64_t> bad = 0;
  std::atomic<uint64_t> connections = 0;
  // Last, so that it goes first: connections that its pending operations hold leave the lists.
  boost::asio::io_context io{1};
};

// Kept alive by its pending operations; the shared part must outlive it. The I/O thread alone uses
// it.
class HttpConnection {
 public:
  virtual ~HttpConnection() = default;
  // Ends what is pending, at once.
  virtual void Cut() = 0;
};

// Serves the connection until it ends.
void ServeHttp(HttpShared& shared, boost::asio::ip::tcp::socket socket);
// The same behind a TLS handshake.
void ServeHttps(HttpShared& shared, boost::asio::ip::tcp::socket socket,
                const std::shared_ptr<boost::asio::ssl::context>& context);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_HTTP_HTTP_CONNECTION_H_
