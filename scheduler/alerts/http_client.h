// HTTP requests with limits: to alert channels, and for whoever else has to call out.
#ifndef TIDEMARK_SCHEDULER_ALERTS_HTTP_CLIENT_H_
#define TIDEMARK_SCHEDULER_ALERTS_HTTP_CLIENT_H_

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/alerts/curl_transfer.h"

namespace tidemark {

struct HttpRequest {
  std::string method = "POST";  // or GET, PUT …
  std::string url;              // http or https
  // Names and values; a value must have no line break (it is refused).
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;  // not sent with GET
};

struct HttpResponse {
  int status = 0;    // of HTTP, 3xx included: redirects are not followed
  std::string body;  // as much as the limit allows
  bool cut = false;
};

// Each request has a connection of its own, and ends within limits.total_timeout whatever the other
// side does. Thread-safe.
class HttpClient {
 public:
  explicit HttpClient(TransferLimits limits) : limits_(std::move(limits)) {}

  // An error means that there was no answer of HTTP: UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED
  // (Abort), INVALID_ARGUMENT. It may name the host, never path or query.
  absl::StatusOr<HttpResponse> Send(const HttpRequest& request);
  // Ends what is under way within a second, and all later requests at once.
  void Abort() { aborted_ = true; }

 private:
  const TransferLimits limits_;
  std::atomic<bool> aborted_ = false;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_HTTP_CLIENT_H_
