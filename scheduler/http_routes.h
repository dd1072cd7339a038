// What the HTTP listener answers: health, metrics, and the services of operators as JSON.
#ifndef TIDEMARK_SCHEDULER_HTTP_ROUTES_H_
#define TIDEMARK_SCHEDULER_HTTP_ROUTES_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/http/http_server.h"
#include "scheduler/rpc/json_gateway.h"

namespace tidemark {

// What the routes ask. Called on the HTTP server's thread: must return soon.
struct HttpSources {
  std::function<std::vector<std::string>()> not_alive;  // why not; empty: alive
  std::function<std::vector<std::string>()> not_ready;
  std::function<std::string()> metrics;  // Prometheus's text format
  static constexpr std::string_view kMetrics = "Metrics";
  // Whether who sent the request may call "Service/Method", or read kMetrics, as far as his
  // credential and limits say; comes before a body is read as JSON. The services judge their calls
  // themselves, besides. Null: anybody may.
  std::function<absl::Status(const WebRequest& request, std::string_view method)> may;
  std::function<void(JsonCall, std::function<void(JsonAnswer)>)> call;
  // Whether callers are asked for a token. Where they are not, one that was sent proves nothing.
  bool asks_tokens = false;
};

//   GET  /healthz               200 while the engine turns, else 503: to be restarted
//   GET  /readyz                200 while it schedules, else 503; the body says why not
//   GET  /metrics               Prometheus
//   POST /v1/Service/Method     the request as JSON, the response as JSON
//
// Errors are {"code": "NOT_FOUND", "message": "…"}. A browser cannot be made to call: the body must
// be application/json, no other origin is allowed, and without a token that is asked for the Host
// must be an address or localhost (else a foreign name could be made to point here).
HttpHandler MakeHttpRoutes(HttpSources sources);

// The HTTP status of a canonical code, as google.rpc.Code has it.
int HttpStatusOf(absl::StatusCode code);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_HTTP_ROUTES_H_
