#include "scheduler/alerts/alert_channel.h"

#include <utility>

#include "common/safe_text.h"
#include "common/status.h"
#include "common/text.h"
#include "scheduler/alerts/http_client.h"
#include "scheduler/alerts/mail_format.h"
#include "scheduler/alerts/message_format.h"
#include "scheduler/alerts/redact.h"
#include "scheduler/alerts/signature.h"

namespace tidemark {
namespace {

constexpr size_t kMostAnswer = 300;

TransferLimits LimitsOf(const ChannelConfig& config) {
  TransferLimits limits;
  limits.total_timeout = config.timeout;
  limits.ca_file = config.ca_file;
  return limits;
}

class HttpChannel : public AlertChannel {
 public:
  HttpChannel(const ChannelConfig& config, Clock& clock)
      : config_(config), clock_(clock), client_(LimitsOf(config)) {}

  absl::StatusOr<std::string> Send(const AlertMessage& message) override {
    std::string url = config_.url;
    std::string secret;
    // Read each time, so that a secret can be changed without a restart.
    if (url.empty()) {
      TM_ASSIGN_OR_RETURN(url, ReadSecret(config_.url_file));
    }
    if (!config_.secret_file.empty()) {
      TM_ASSIGN_OR_RETURN(secret, ReadSecret(config_.secret_file));
    }
    // Not the URL as it is: the file may have changed to something else since it was checked.
    if (!ChannelUrlProblem(url).empty()) {
      return absl::FailedPreconditionError(
          ToAbsl("the URL in " + config_.url_file + " " + ChannelUrlProblem(url)));
    }
    Redactor redactor;
    redactor.AddUrl(url);
    redactor.AddSecret(secret);
    absl::StatusOr<HttpResponse> response = client_.Send(MakeRequest(message, url, secret));
    if (!response.ok()) {
      return absl::Status(response.status().code(),
                          ToAbsl(redactor.Clean(Message(response.status()))));
    }
    response->body = redactor.Clean(std::move(response->body));
    TM_RETURN_IF_ERROR(Judge(*response));
    const std::string body = CleanText(SafeText(response->body.substr(0, 600)), kMostAnswer);
    return "HTTP " + std::to_string(response->status) + (body.empty() ? "" : " " + body);
  }

  void Abort() override { client_.Abort(); }

 private:
  HttpRequest MakeRequest(const AlertMessage& message, const std::string& url,
                          const std::string& secret) const {
    const int64_t millis = absl::ToUnixMillis(clock_.WallNow());
    const AlertText text = WriteAlertText(message, config_.style);
    HttpRequest request;
    request.url = url;
    request.headers.emplace_back("Content-Type", "application/json; charset=utf-8");
    switch (config_.type) {
      case ChannelType::kDingTalk:
        request.body = DingTalkBody(text);
        if (!secret.empty()) {
          request.url += url.find('?') == std::string::npos ? '?' : '&';
          request.url += DingTalkQuery(secret, millis);
        }
        break;
      case ChannelType::kWeCom:
        request.body = WeComBody(text);
        break;
      case ChannelType::kFeishu:
        request.body = FeishuBody(text, millis / 1000,
                                  secret.empty() ? "" : FeishuSign(secret, millis / 1000));
        break;
      case ChannelType::kSlack:
        request.body = SlackBody(text);
        break;
      case ChannelType::kAlertmanager:
        request.body = AlertmanagerBody(message, config_.style);
        break;
      case ChannelType::kWebhook:
      case ChannelType::kEmail:
        request.body = WebhookBody(message, config_.style);
        if (!secret.empty()) {
          request.headers.emplace_back("Tidemark-Signature",
                                       WebhookSignature(secret, millis / 1000, request.body));
        }
        break;
    }
    return request;
  }

  absl::Status Judge(const HttpResponse& response) const {
    switch (config_.type) {
      case ChannelType::kDingTalk:
      case ChannelType::kWeCom:
        return JudgeErrcode(response);
      case ChannelType::kFeishu:
        return JudgeFeishu(response);
      default:
        return JudgeStatus(response);
    }
  }

  const ChannelConfig config_;
  Clock& clock_;
  HttpClient client_;
};

class MailChannel : public AlertChannel {
 public:
  MailChannel(const ChannelConfig& config, Clock& clock)
      : config_(config), clock_(clock), client_(LimitsOf(config)) {}

  absl::StatusOr<std::string> Send(const AlertMessage& message) override {
    SmtpServer server = config_.server;
    Redactor redactor;
    if (!config_.password_file.empty()) {
      TM_ASSIGN_OR_RETURN(server.password, ReadSecret(config_.password_file));
      redactor.AddSecret(server.password);
    }
    const MailHead head = {config_.from, config_.to, clock_.WallNow()};
    const AlertText text = WriteAlertText(message, config_.style);
    const absl::StatusOr<int> code =
        client_.Send(server, {config_.from, config_.to, WriteMail(message, text, head)});
    if (!code.ok()) {
      return absl::Status(code.status().code(), ToAbsl(redactor.Clean(Message(code.status()))));
    }
    return "SMTP " + std::to_string(*code) + ", accepted for " + Join(config_.to, ", ");
  }

  void Abort() override { client_.Abort(); }

 private:
  const ChannelConfig config_;
  Clock& clock_;
  SmtpClient client_;
};

}  // namespace

std::unique_ptr<AlertChannel> MakeAlertChannel(const ChannelConfig& config, Clock& clock) {
  if (config.type == ChannelType::kEmail) return std::make_unique<MailChannel>(config, clock);
  return std::make_unique<HttpChannel>(config, clock);
}

}  // namespace tidemark
