#include "scheduler/store/conninfo.h"

#include <libpq-fe.h>

#include <algorithm>
#include <map>
#include <memory>

namespace tidemark {
namespace {

std::string Quote(const std::string& value) {
  std::string out = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string Seconds(absl::Duration d) {
  return std::to_string(std::max<int64_t>(2, absl::ToInt64Seconds(d)));
}

std::string Describe(const std::map<std::string, std::string>& values) {
  const auto get = [&](const std::string& key, const std::string& otherwise) {
    const auto it = values.find(key);
    return it == values.end() || it->second.empty() ? otherwise : it->second;
  };
  const std::string host = get("host", get("hostaddr", "the local socket"));
  return "database " + get("dbname", "(default)") + " at " + host + ":" + get("port", "5432");
}

}  // namespace

absl::StatusOr<ConnInfo> MakeConnInfo(const DatabaseOptions& options) {
  char* error = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> parsed(
      PQconninfoParse(options.url.c_str(), &error), &PQconninfoFree);
  if (error != nullptr) PQfreemem(error);  // may repeat the URL, and the password in it
  if (parsed == nullptr) {
    return absl::InvalidArgumentError(
        "the database URL cannot be read: write it as postgresql://USER:PASSWORD@HOST:PORT/NAME "
        "(special characters of the password as %XX) or as \"host=… port=… dbname=… user=…\"");
  }
  std::map<std::string, std::string> values;
  ConnInfo info;
  for (const PQconninfoOption* option = parsed.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    values[option->keyword] = option->val;
    const bool secret = option->dispchar != nullptr && option->dispchar[0] == '*';
    if (secret && option->val[0] != '\0') info.secrets.emplace_back(option->val);
  }
  info.where = Describe(values);
  // emplace: what the URL says itself stays.
  values.emplace("connect_timeout", Seconds(options.connect_timeout));
  values.emplace("tcp_user_timeout",
                 std::to_string(absl::ToInt64Milliseconds(options.tcp_user_timeout)));
  values.emplace("keepalives_idle", "5");
  values.emplace("keepalives_interval", "2");
  values.emplace("keepalives_count", "3");
  values.emplace("application_name", options.application_name);
  values.emplace("client_encoding", "UTF8");
  values.emplace("target_session_attrs", "read-write");  // a standby is never written to
  for (const auto& [key, value] : values) info.text += key + "=" + Quote(value) + " ";
  return info;
}

std::string Redact(std::string message, const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets) {
    for (size_t at = message.find(secret); at != std::string::npos; at = message.find(secret, at)) {
      message.replace(at, secret.size(), "***");
      at += 3;
    }
  }
  return message;
}

std::string DescribeDatabase(const DatabaseOptions& options) {
  const auto info = MakeConnInfo(options);
  return info.ok() ? info->where + ", schema " + options.schema : "an unreadable database URL";
}

}  // namespace tidemark
