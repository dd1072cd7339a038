#include "scheduler/http_face.h"

#include <utility>

#include "common/status.h"
#include "scheduler/http_routes.h"

namespace tidemark {

absl::StatusOr<std::unique_ptr<HttpFace>> HttpFace::Start(HttpOptions options, RpcServer& rpc,
                                                          NodeStatus& status, May may,
                                                          bool asks_tokens) {
  std::unique_ptr<HttpFace> face(new HttpFace(rpc, status));
  HttpSources sources;
  sources.not_alive = [&status] { return status.NotAlive(); };
  sources.not_ready = [&status] { return status.NotReady(); };
  sources.metrics = [&status] { return status.MetricsText(); };
  sources.may = std::move(may);
  sources.asks_tokens = asks_tokens;
  sources.call = [&gateway = face->gateway_](JsonCall call, std::function<void(JsonAnswer)> done) {
    gateway.Call(std::move(call), std::move(done));
  };
  TM_ASSIGN_OR_RETURN(face->http_,
                      HttpServer::Start(std::move(options), MakeHttpRoutes(std::move(sources))));
  status.SetHttp(face->http_.get());
  return face;
}

HttpFace::~HttpFace() {
  status_.SetHttp(nullptr);
  if (http_ != nullptr) http_->Stop();
}

}  // namespace tidemark
