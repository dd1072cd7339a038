#include "scheduler/alerts/channel_config.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "common/secret.h"
#include "common/status.h"
#include "common/text.h"
#include "scheduler/core/time/zone.h"

namespace tidemark {
namespace {

struct TypeName {
  const char* name;
  ChannelType type;
  bool takes_secret;
};
constexpr TypeName kTypes[] = {
    {"webhook", ChannelType::kWebhook, true},   {"alertmanager", ChannelType::kAlertmanager, false},
    {"dingtalk", ChannelType::kDingTalk, true}, {"wecom", ChannelType::kWeCom, false},
    {"feishu", ChannelType::kFeishu, true},     {"slack", ChannelType::kSlack, false},
    {"email", ChannelType::kEmail, false}};

const TypeName* FindType(const std::string& name) {
  for (const TypeName& type : kTypes) {
    if (name == type.name) return &type;
  }
  return nullptr;
}

// Names are used in keys, tables and on command lines.
bool IsChannelName(const std::string& name) {
  return !name.empty() && name.size() <= 64 && name[0] != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.');
         });
}

void CheckFile(const std::string& key, const std::string& path, YamlReader* reader) {
  if (path.empty()) return;
  const absl::StatusOr<std::string> secret = ReadSecret(path);
  if (!secret.ok()) reader->Fail(key, Message(secret.status()));
}

// Whoever guesses the key of a signature can send alerts in our name.
void CheckStrength(const std::string& key, const std::string& path, YamlReader* reader) {
  if (path.empty()) return;
  const absl::StatusOr<std::string> secret = ReadSecret(path);
  if (!secret.ok()) return;
  if (const std::string problem = SecretProblem(*secret); !problem.empty()) {
    reader->Fail(key, "the secret in " + path + " " + problem);
  }
}

void ReadHttp(const TypeName& type, YamlReader* reader, ChannelConfig* channel) {
  reader->Text("url", &channel->url);
  reader->Text("url_file", &channel->url_file);
  if (type.takes_secret) {
    reader->Text("secret_file", &channel->secret_file);
  } else if (reader->Has("secret_file")) {
    reader->Fail("secret_file", std::string("a channel of type ") + type.name +
                                    " has no signature; its URL is the secret (url_file)");
  }
}

void CheckHttp(const ChannelConfig& channel, YamlReader* reader) {
  if (channel.url.empty() == channel.url_file.empty()) {
    reader->Fail("url", "give either url or url_file (for a URL that is a secret)");
  }
  CheckFile("url_file", channel.url_file, reader);
  CheckFile("secret_file", channel.secret_file, reader);
  CheckStrength("secret_file", channel.secret_file, reader);
  std::string url = channel.url;
  if (!channel.url_file.empty()) url = ReadSecret(channel.url_file).value_or("");
  if (url.empty()) return;
  const std::string problem = ChannelUrlProblem(url);
  if (!problem.empty()) reader->Fail(channel.url.empty() ? "url_file" : "url", problem);
}

void ReadMailKeys(YamlReader* reader, ChannelConfig* channel, std::string* tls) {
  reader->Require("server");
  reader->Text("server", &channel->server.address);
  reader->Text("tls", tls);
  reader->Text("user", &channel->server.user);
  reader->Text("password_file", &channel->password_file);
  reader->Require("from");
  reader->Text("from", &channel->from);
  reader->Require("to");
  reader->TextOrTexts("to", &channel->to);
}

bool IsHostPort(const std::string& address) {
  const size_t colon = address.rfind(':');
  int port = 0;
  if (colon == std::string::npos || colon == 0) return false;
  const bool clean = std::all_of(address.begin(), address.end(), [](unsigned char c) {
    return c < 0x80 &&
           (std::isalnum(c) != 0 || c == '-' || c == '.' || c == ':' || c == '[' || c == ']');
  });
  return clean && absl::SimpleAtoi(ToAbsl(std::string_view(address).substr(colon + 1)), &port) &&
         port > 0 && port < 65536;
}

void CheckMail(const std::string& tls, YamlReader* reader, ChannelConfig* channel) {
  if (!IsHostPort(channel->server.address)) {
    reader->Fail("server", "must be HOST:PORT, as smtp.example.com:587");
  }
  channel->server.tls = tls == "none"  ? SmtpTls::kNone
                        : tls == "tls" ? SmtpTls::kTls
                                       : SmtpTls::kStartTls;
  if (tls != "none" && tls != "tls" && tls != "starttls") {
    reader->Fail("tls", "must be starttls, tls or none");
  }
  if (channel->server.user.empty() != channel->password_file.empty()) {
    reader->Fail("user", "user and password_file go together");
  }
  if (!channel->server.user.empty() && channel->server.tls == SmtpTls::kNone) {
    reader->Fail("tls", "with none the password would cross the network in plain text");
  }
  CheckFile("password_file", channel->password_file, reader);
  std::string problem = MailAddressProblem(channel->from);
  if (!problem.empty()) reader->Fail("from", problem);
  if (channel->to.empty()) reader->Fail("to", "lists nobody");
  for (const std::string& to : channel->to) {
    problem = MailAddressProblem(to);
    if (!problem.empty()) reader->Fail("to", problem);
  }
}

void CheckChannel(const std::vector<std::string>& others, YamlReader* reader,
                  ChannelConfig* channel) {
  if (!IsChannelName(channel->name)) {
    reader->Fail("name", "must be 1 to 64 letters, digits or -_. and not begin with -");
  }
  if (std::find(others.begin(), others.end(), channel->name) != others.end()) {
    reader->Fail("name", channel->name + " is there twice");
  }
  if (channel->name == "log") {
    reader->Fail("name", "log is the channel that is always there; choose another name");
  }
  if (channel->timeout < absl::Seconds(1) || channel->timeout > absl::Seconds(60)) {
    reader->Fail("timeout", "must be from 1s to 60s");
  }
  if (!channel->ca_file.empty() && !std::ifstream(channel->ca_file)) {
    reader->Fail("ca_file", "cannot be read");
  }
}

}  // namespace

const char* ChannelTypeName(ChannelType type) {
  for (const TypeName& name : kTypes) {
    if (name.type == type) return name.name;
  }
  return "";
}

absl::StatusOr<std::string> ReadSecret(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) {
    return absl::FailedPreconditionError(
        ToAbsl("cannot read " + path + ": it is missing, empty or not readable for this user"));
  }
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  if (line.empty()) {
    return absl::FailedPreconditionError(ToAbsl("the first line of " + path + " is empty"));
  }
  return line;
}

std::string ChannelUrlProblem(const std::string& url) {
  const bool http = url.rfind("http://", 0) == 0 || url.rfind("https://", 0) == 0;
  const bool clean =
      std::all_of(url.begin(), url.end(), [](char c) { return c > ' ' && c < 0x7F; });
  const size_t host = url.find("//") + 2;
  const bool has_host = http && host < url.size() && url[host] != '/';
  return http && clean && has_host
             ? ""
             : "must be an http or https URL, without blanks (it is not shown "
               "here: it may be a secret)";
}

void ReadStyle(YamlReader* reader, AlertStyle* style) {
  std::string language;
  std::string zone;
  reader->Text("language", &language);
  if (!language.empty() && language != "en" && language != "zh") {
    reader->Fail("language", "must be en or zh");
  }
  if (!language.empty()) {
    style->language = language == "zh" ? AlertLanguage::kChinese : AlertLanguage::kEnglish;
  }
  reader->Text("zone", &zone);
  if (zone.empty()) return;
  const absl::StatusOr<absl::TimeZone> loaded = LoadZone(zone);
  if (loaded.ok()) {
    style->zone = *loaded;
  } else {
    reader->Fail("zone", Message(loaded.status()));
  }
}

absl::StatusOr<ChannelConfig> ReadChannel(const YAML::Node& node, const std::string& file,
                                          const std::string& place, const AlertStyle& style,
                                          const std::vector<std::string>& others) {
  ChannelConfig channel;
  channel.style = style;
  YamlReader reader(node, file, place);
  std::string type_name;
  std::string tls = "starttls";
  reader.Require("name");
  reader.Text("name", &channel.name);
  reader.Require("type");
  reader.Text("type", &type_name);
  ReadStyle(&reader, &channel.style);
  reader.Duration("timeout", &channel.timeout);
  reader.Text("ca_file", &channel.ca_file);
  const TypeName* type = FindType(type_name);
  if (type == nullptr && reader.Has("type")) {
    std::vector<std::string> names;
    for (const TypeName& known : kTypes) names.emplace_back(known.name);
    reader.Fail("type", "\"" + EscapeControl(type_name) + "\" is none of " + Join(names, ", "));
  }
  const bool mail = type != nullptr && type->type == ChannelType::kEmail;
  if (type != nullptr) channel.type = type->type;
  if (mail) ReadMailKeys(&reader, &channel, &tls);
  if (type != nullptr && !mail) ReadHttp(*type, &reader, &channel);
  TM_RETURN_IF_ERROR(reader.Done());
  CheckChannel(others, &reader, &channel);
  if (mail) CheckMail(tls, &reader, &channel);
  if (!mail) CheckHttp(channel, &reader);
  TM_RETURN_IF_ERROR(reader.Done());
  return channel;
}

}  // namespace tidemark
