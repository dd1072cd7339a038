#include "executor/lock/redis_address.h"

#include <charconv>
#include <cstdint>
#include <optional>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"

namespace tidemark::lock {
namespace {

absl::Status Wrong(const std::string& what) {
  return absl::InvalidArgumentError("redis address: " + what +
                                    "; write host:port, "
                                    "unix://[[user]:password@]/path[?db=0&timeout=1s] or "
                                    "redis://[[user]:password@]host[:port][/db]"
                                    "[?connect_timeout=1s&timeout=1s]");
}

std::optional<int> Number(std::string_view text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < least || value > most) return std::nullopt;
  return value;
}

std::optional<std::string> Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    uint8_t byte = 0;
    const char* digits = text.data() + i + 1;
    const auto [end, error] = std::from_chars(digits, digits + 2, byte, 16);
    if (error != std::errc() || end != digits + 2) return std::nullopt;
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

absl::Status ReadCredentials(std::string_view text, RedisAddress* out) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return Wrong("before the @ there is no \":password\"");
  const auto user = Unescape(text.substr(0, colon));
  const auto password = Unescape(text.substr(colon + 1));
  if (!user || !password) return Wrong("a % in user or password must be written as %25");
  if (password->empty()) return Wrong("the password is empty");
  out->user = *user;
  out->password = *password;
  return absl::OkStatus();
}

absl::Status ReadDuration(std::string_view value, absl::Duration* out) {
  const auto duration = ParseDuration(value);
  if (!duration.ok() || *duration < absl::Milliseconds(10) || *duration > absl::Minutes(1)) {
    return Wrong("a timeout must be a duration from 10ms to 1m");
  }
  *out = *duration;
  return absl::OkStatus();
}

absl::Status ReadDb(std::string_view value, RedisAddress* out) {
  const auto number = Number(value, 0, 1 << 20);
  if (!number) return Wrong("the database is not a number");
  out->db = *number;
  return absl::OkStatus();
}

absl::Status ReadQuery(std::string_view query, RedisAddress* out) {
  while (!query.empty()) {
    const std::string_view item = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(item.size() + 1, query.size()));
    const size_t equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : item.substr(equals + 1);
    if (key == "connect_timeout") {
      TM_RETURN_IF_ERROR(ReadDuration(value, &out->connect_timeout));
    } else if (key == "timeout") {
      TM_RETURN_IF_ERROR(ReadDuration(value, &out->timeout));
    } else if (key == "db") {
      TM_RETURN_IF_ERROR(ReadDb(value, out));
    } else {
      return Wrong("after the ? only db, connect_timeout and timeout are known");
    }
  }
  return absl::OkStatus();
}

absl::Status ReadHostPort(std::string_view text, RedisAddress* out) {
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return Wrong("the ] of an IPv6 address is missing");
    out->host = text.substr(1, close - 1);
    port = text.substr(close + 1);
    if (!port.empty() && port[0] != ':') return Wrong("after the ] there is no \":port\"");
  } else {
    const size_t colon = text.find(':');
    out->host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon);
  }
  if (out->host.empty()) return Wrong("the host is missing");
  if (!port.empty()) {
    const auto number = Number(port.substr(1), 1, 65535);
    if (!number) return Wrong("the port is not a number from 1 to 65535");
    out->port = *number;
  }
  return absl::OkStatus();
}

// `text` is what comes after "unix:".
absl::Status ReadSocket(std::string_view text, RedisAddress* out) {
  if (text.starts_with("//")) text.remove_prefix(2);
  // A path may have an @ of its own.
  if (const size_t at = text.rfind("@/"); at != std::string_view::npos && text[0] != '/') {
    TM_RETURN_IF_ERROR(ReadCredentials(text.substr(0, at), out));
    text.remove_prefix(at + 1);
  }
  if (const size_t question = text.find('?'); question != std::string_view::npos) {
    TM_RETURN_IF_ERROR(ReadQuery(text.substr(question + 1), out));
    text = text.substr(0, question);
  }
  if (!text.starts_with('/')) return Wrong("the path after unix: must be absolute");
  if (text.size() > 107) return Wrong("the path after unix: is longer than 107 bytes");
  out->socket = text;
  return absl::OkStatus();
}

absl::Status ReadUrl(std::string_view text, RedisAddress* out) {
  // The last @: a password may have been written with a raw @, / or ?.
  const size_t at = text.rfind('@');
  if (at != std::string_view::npos) {
    TM_RETURN_IF_ERROR(ReadCredentials(text.substr(0, at), out));
    text.remove_prefix(at + 1);
  }
  if (const size_t question = text.find('?'); question != std::string_view::npos) {
    TM_RETURN_IF_ERROR(ReadQuery(text.substr(question + 1), out));
    text = text.substr(0, question);
  }
  if (const size_t slash = text.find('/'); slash != std::string_view::npos) {
    if (const std::string_view db = text.substr(slash + 1); !db.empty()) {
      TM_RETURN_IF_ERROR(ReadDb(db, out));
    }
    text = text.substr(0, slash);
  }
  return ReadHostPort(text, out);
}

}  // namespace

std::string RedisAddress::Text() const {
  if (!socket.empty())
    return "unix:" + EscapeControl(socket) + (db == 0 ? "" : "?db=" + std::to_string(db));
  const bool v6 = host.find(':') != std::string::npos;
  return EscapeControl(v6 ? "[" + host + "]" : host) + ":" + std::to_string(port) +
         (db == 0 ? "" : "/" + std::to_string(db));
}

absl::StatusOr<RedisAddress> ParseRedisAddress(std::string_view text) {
  RedisAddress out;
  if (!IsCleanUtf8(text)) return Wrong("it is not UTF-8 text");
  if (text.starts_with("rediss://")) {
    return Wrong("TLS is not supported here; put a tunnel such as stunnel before Redis");
  }
  if (text.starts_with("redis://")) {
    TM_RETURN_IF_ERROR(ReadUrl(text.substr(8), &out));
  } else if (text.starts_with("unix:")) {
    TM_RETURN_IF_ERROR(ReadSocket(text.substr(5), &out));
  } else if (text.find_first_of("@/?") != std::string_view::npos) {
    return Wrong("it has parts of a URL, but does not begin with redis://");
  } else {
    TM_RETURN_IF_ERROR(ReadHostPort(text, &out));
  }
  return out;
}

}  // namespace tidemark::lock
