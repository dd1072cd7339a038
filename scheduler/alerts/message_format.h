// Bodies of HTTP messages, one function a kind of receiver, and what its answers mean.
#ifndef TIDEMARK_SCHEDULER_ALERTS_MESSAGE_FORMAT_H_
#define TIDEMARK_SCHEDULER_ALERTS_MESSAGE_FORMAT_H_

#include <string>

#include "absl/status/status.h"
#include "scheduler/alerts/alert_text.h"
#include "scheduler/alerts/http_client.h"
#include "scheduler/engine/alert_delivery.h"

namespace tidemark {

// No body is longer, whatever the alerts hold.
inline constexpr size_t kMostBody = size_t{256} * 1024;

// Bodies are JSON in UTF-8. Those of chats have their text as plain text, or escaped where the
// receiver knows nothing but markup, so that no name can mention people or forge a link.
std::string WebhookBody(const AlertMessage& message, const AlertStyle& style);
std::string AlertmanagerBody(const AlertMessage& message, const AlertStyle& style);
std::string DingTalkBody(const AlertText& text);
std::string WeComBody(const AlertText& text);
// `sign` "": the robot has no secret.
std::string FeishuBody(const AlertText& text, int64_t unix_seconds, const std::string& sign);
std::string SlackBody(const AlertText& text);

// OK when the receiver took the message. These three say it in the body, with status 200.
absl::Status JudgeStatus(const HttpResponse& response);
absl::Status JudgeErrcode(const HttpResponse& response);  // DingTalk, WeCom: {"errcode":0}
absl::Status JudgeFeishu(const HttpResponse& response);   // {"code":0}

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_MESSAGE_FORMAT_H_
