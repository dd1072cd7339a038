#include "common/address.h"

#include <arpa/inet.h>

#include "absl/strings/numbers.h"
#include "common/text.h"

namespace tidemark {

std::optional<HostPort> ParseAddress(std::string_view address) {
  const size_t colon = address.rfind(':');
  HostPort out;
  if (colon == std::string_view::npos || colon == 0 ||
      !absl::SimpleAtoi(ToAbsl(address.substr(colon + 1)), &out.port) || out.port < 0 ||
      out.port > 65535) {
    return std::nullopt;
  }
  std::string_view host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return std::nullopt;  // where an IPv6 address ends, brackets must say
  }
  out.host = std::string(host);
  return out;
}

bool IsLoopback(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  in_addr v4{};
  if (inet_pton(AF_INET, std::string(host).c_str(), &v4) != 1) return false;
  return (ntohl(v4.s_addr) >> 24) == 127;
}

bool IsLoopbackAddress(std::string_view address) {
  const std::optional<HostPort> parsed = ParseAddress(address);
  return parsed.has_value() && IsLoopback(parsed->host);
}

}  // namespace tidemark
