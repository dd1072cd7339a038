// `alerts:` of the scheduler's file: channels, who gets what, windows of silence.
#ifndef TIDEMARK_SCHEDULER_ALERTS_ALERT_CONFIG_H_
#define TIDEMARK_SCHEDULER_ALERTS_ALERT_CONFIG_H_

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/alerts/alert_text.h"
#include "scheduler/alerts/smtp_client.h"

namespace tidemark {

enum class ChannelType { kWebhook, kAlertmanager, kDingTalk, kWeCom, kFeishu, kSlack, kEmail };

struct ChannelConfig {
  std::string name;
  ChannelType type = ChannelType::kWebhook;
  AlertStyle style;
  absl::Duration timeout = absl::Seconds(10);  // of one message, connecting included
  std::string ca_file;
  // HTTP: one of the two.
  std::string url;
  std::string url_file;
  std::string secret_file;  // "": not signed
  // E-mail. `server` with its port; the password is read from its file for each message.
  SmtpServer server;
  std::string password_file;
  std::string from;
  std::vector<std::string> to;
};

// Empty lists match all. Jobs may have * for any characters.
struct AlertMatch {
  std::vector<std::string> jobs;
  std::vector<std::string> namespaces;
  std::vector<std::string> kinds;
  std::vector<std::string> severities;
};

struct RouteConfig {
  AlertMatch match;
  std::vector<std::string> channels;
};

// Every day from `from` to `to` (minutes since midnight in `zone`; over midnight when to ≤ from).
struct SilenceWindow {
  AlertMatch match;
  int from = 0;
  int to = 0;
  absl::TimeZone zone;
};

struct AlertsConfig {
  std::vector<ChannelConfig> channels;
  std::vector<RouteConfig> routes;  // the first that matches decides; none: all channels
  std::vector<SilenceWindow> silences;
  absl::Duration remind_every = absl::Hours(24);  // zero: never
  int most_messages = 10;                         // of a channel in a window
  absl::Duration window = absl::Minutes(1);
  absl::Duration give_up_after = absl::Hours(24);
};

const char* ChannelTypeName(ChannelType type);

// Reads the mapping below `alerts:`. INVALID_ARGUMENT: "file:line: alerts.…: what is wrong". Files
// that it names must be readable.
absl::StatusOr<AlertsConfig> ReadAlertsConfig(const YAML::Node& node, const std::string& file);

// The first line of a file that holds a secret. The error names the file alone.
absl::StatusOr<std::string> ReadSecret(const std::string& path);

// What is wrong with a channel's URL, or "".
std::string ChannelUrlProblem(const std::string& url);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_ALERT_CONFIG_H_
