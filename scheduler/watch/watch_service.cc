#include "scheduler/watch/watch_service.h"

#include <algorithm>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "scheduler/alerts/alert_config.h"
#include "scheduler/alerts/redact.h"

namespace tidemark {
namespace {

TransferLimits LimitsOf(const WatchConfig& config) {
  TransferLimits limits;
  limits.connect_timeout = std::min(limits.connect_timeout, config.ping_timeout);
  limits.total_timeout = config.ping_timeout;
  limits.ca_file = config.ca_file;
  return limits;
}

}  // namespace

WatchService::WatchService(WatchConfig config, CheckWatch::Reader read, MakePort make_port,
                           Clock& clock, Random& random)
    : config_(std::move(config)),
      read_(std::move(read)),
      make_port_(std::move(make_port)),
      clock_(clock),
      random_(random),
      client_(LimitsOf(config_)) {}

WatchService::~WatchService() { Stop(); }

void WatchService::Start(const std::string& node, bool channels) {
  look_port_ = make_port_();
  ping_port_ = make_port_();
  watch_ = std::make_unique<CheckWatch>(config_, node, read_, *look_port_, clock_, random_);
  WellPing::Send send;
  if (config_.pings()) send = [this] { return SendPing(); };
  ping_ = std::make_unique<WellPing>(config_, node, channels, std::move(send), *ping_port_, clock_);
  looks_ = std::make_unique<TurnThread>([this] { return watch_->Turn(); });
  pings_ = std::make_unique<TurnThread>([this] { return ping_->Turn(); });
  looks_->Start();
  pings_->Start();
}

void WatchService::Abort() {
  client_.Abort();
  if (watch_ != nullptr) watch_->Stop();
  if (look_port_ != nullptr) look_port_->Close();
  if (ping_port_ != nullptr) ping_port_->Close();
}

void WatchService::Stop() {
  Abort();
  if (looks_ != nullptr) looks_->Stop();
  if (pings_ != nullptr) pings_->Stop();
}

absl::Status WatchService::SendPing() {
  std::string url = config_.ping_url;
  // Read each time, so that it can be changed without a restart.
  if (url.empty()) {
    TM_ASSIGN_OR_RETURN(url, ReadSecret(config_.ping_url_file));
  }
  if (!ChannelUrlProblem(url).empty()) {
    return absl::FailedPreconditionError(
        ToAbsl("the URL in " + config_.ping_url_file + " " + ChannelUrlProblem(url)));
  }
  Redactor redactor;
  redactor.AddUrl(url);
  HttpRequest request;
  request.method = "GET";
  request.url = url;
  const absl::StatusOr<HttpResponse> response = client_.Send(request);
  if (!response.ok()) {
    return absl::Status(response.status().code(),
                        ToAbsl(redactor.Clean(Message(response.status()))));
  }
  if (response->status / 100 == 2) return absl::OkStatus();
  return absl::FailedPreconditionError(
      ToAbsl("it answered HTTP " + std::to_string(response->status)));
}

}  // namespace tidemark
