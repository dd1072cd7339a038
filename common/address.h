// host:port, as options have it.
#ifndef TIDEMARK_COMMON_ADDRESS_H_
#define TIDEMARK_COMMON_ADDRESS_H_

#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

struct HostPort {
  std::string host;  // as written; an IPv6 address without its brackets
  int port = 0;
};

// Nothing when it is not HOST:PORT (IPv6: [::1]:7400). A name is not looked up.
std::optional<HostPort> ParseAddress(std::string_view address);

// Whether what is sent there stays on this machine: localhost, 127.x.x.x, ::1. Names that merely
// begin so ("127.example.com") do not.
bool IsLoopback(std::string_view host);
// … of an address HOST:PORT.
bool IsLoopbackAddress(std::string_view address);

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_ADDRESS_H_
