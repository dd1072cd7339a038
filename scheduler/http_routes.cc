#include "scheduler/http_routes.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/status.h"
#include "common/text.h"
#include "scheduler/alerts/json.h"

namespace tidemark {
namespace {

constexpr std::string_view kCalls = "/v1/";

WebResponse Error(absl::StatusCode code, const std::string& message) {
  WebResponse response;
  response.status = HttpStatusOf(code);
  response.body = JsonObject().Text("code", CodeName(code)).Text("message", message).Take() + "\n";
  if (response.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (response.status == 429 || response.status == 503) {
    response.headers.emplace_back("Retry-After", "1");
  }
  return response;
}

WebResponse Error(int status, absl::StatusCode code, const std::string& message) {
  WebResponse response = Error(code, message);
  response.status = status;
  return response;
}

WebResponse WrongMethod(const char* allowed) {
  WebResponse response = Error(405, absl::StatusCode::kInvalidArgument,
                               std::string("this path takes ") + allowed + " alone");
  response.headers.emplace_back("Allow", allowed);
  return response;
}

WebResponse Health(const std::vector<std::string>& problems) {
  WebResponse response;
  response.content_type = "text/plain; charset=utf-8";
  response.body = problems.empty() ? "ok\n" : "";
  for (const std::string& problem : problems) response.body += EscapeControl(problem) + "\n";
  if (!problems.empty()) response.status = 503;
  return response;
}

bool IsJson(const std::string& content_type) {
  const std::string type = ToStd(absl::AsciiStrToLower(ToAbsl(content_type)));
  const std::string media = type.substr(0, type.find(';'));
  return ToStd(absl::StripAsciiWhitespace(ToAbsl(media))) == "application/json";
}

// host[:port] without the port.
std::string HostOf(const std::string& host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

// An address cannot be a name that somebody else made to point at it.
bool IsAddress(const std::string& host) {
  if (host == "localhost" || host.starts_with('[')) return true;
  return !host.empty() && std::all_of(host.begin(), host.end(),
                                      [](char c) { return c == '.' || absl::ascii_isdigit(c); });
}

// What a page in somebody's browser could have sent, or "".
std::string BrowserProblem(const WebRequest& request, bool asks_tokens) {
  if (!IsJson(request.content_type)) {
    return "send Content-Type: application/json (with curl: -H 'Content-Type: application/json')";
  }
  if (!request.origin.empty() && request.origin != "http://" + request.host &&
      request.origin != "https://" + request.host) {
    return "pages of another origin may not call";
  }
  // A page can send a header of its own choice to a name that was made to point here.
  const bool shows_token = asks_tokens && !request.authorization.empty();
  if (!shows_token && !IsAddress(HostOf(request.host))) {
    return asks_tokens ? "without a token the Host header must be an address or localhost"
                       : "where no token is asked for (--insecure) the Host header must be an "
                         "address or localhost";
  }
  return "";
}

class HttpRoutes {
 public:
  explicit HttpRoutes(HttpSources sources) : sources_(std::move(sources)) {}

  void Handle(WebRequest request, HttpReply reply) const {
    const std::string& path = request.path;
    const bool get = request.method == "GET" || request.method == "HEAD";
    if (path == "/healthz") {
      reply(get ? Health(sources_.not_alive()) : WrongMethod("GET"));
    } else if (path == "/readyz") {
      reply(get ? Health(sources_.not_ready()) : WrongMethod("GET"));
    } else if (path == "/metrics") {
      reply(get ? Metrics(request) : WrongMethod("GET"));
    } else if (path.starts_with(kCalls)) {
      if (request.method != "POST") {
        reply(WrongMethod("POST"));
        return;
      }
      Call(std::move(request), std::move(reply));
    } else {
      reply(Error(absl::StatusCode::kNotFound,
                  "there are /healthz, /readyz, /metrics and POST /v1/Service/Method"));
    }
  }

 private:
  WebResponse Metrics(const WebRequest& request) const {
    if (sources_.may != nullptr) {
      const absl::Status status = sources_.may(request, HttpSources::kMetrics);
      if (!status.ok()) return Error(status.code(), Message(status));
    }
    WebResponse response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = sources_.metrics();
    return response;
  }

  void Call(WebRequest request, HttpReply reply) const {
    if (const std::string problem = BrowserProblem(request, sources_.asks_tokens);
        !problem.empty()) {
      const bool type = !IsJson(request.content_type);
      reply(Error(type ? 415 : 403,
                  type ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kPermissionDenied,
                  problem));
      return;
    }
    const std::string rest = request.path.substr(kCalls.size());
    const size_t slash = rest.find('/');
    if (slash == std::string::npos || rest.find('/', slash + 1) != std::string::npos) {
      reply(Error(absl::StatusCode::kNotFound,
                  "calls are POST /v1/Service/Method, as /v1/OperatorService/ListRuns"));
      return;
    }
    if (sources_.may != nullptr) {
      const absl::Status status = sources_.may(request, rest);
      if (!status.ok()) {
        reply(Error(status.code(), Message(status)));
        return;
      }
    }
    JsonCall call;
    call.service = rest.substr(0, slash);
    call.method = rest.substr(slash + 1);
    call.body = std::move(request.body);
    call.authorization = std::move(request.authorization);
    call.peer = std::move(request.peer);
    sources_.call(std::move(call), [reply = std::move(reply)](JsonAnswer answer) {
      if (answer.code != absl::StatusCode::kOk) {
        reply(Error(answer.code, answer.message));
        return;
      }
      WebResponse response;
      response.body = std::move(answer.json) + "\n";
      reply(std::move(response));
    });
  }

  const HttpSources sources_;
};

}  // namespace

HttpHandler MakeHttpRoutes(HttpSources sources) {
  const auto routes = std::make_shared<const HttpRoutes>(std::move(sources));
  return [routes](WebRequest request, HttpReply reply) {
    routes->Handle(std::move(request), std::move(reply));
  };
}

int HttpStatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kCancelled:
      return 499;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

}  // namespace tidemark
