// A TCP client for tests that speaks bytes: well-formed HTTP, and everything else.
#ifndef TIDEMARK_TESTS_SUPPORT_RAW_CLIENT_H_
#define TIDEMARK_TESTS_SUPPORT_RAW_CLIENT_H_

#include <string>
#include <utility>

#include "absl/time/time.h"

namespace tidemark {

struct RawResponse {
  int status = 0;  // 0: none came, or it was cut off
  std::string headers;
  std::string body;
};

// One connection. Used by one thread; a failed connect shows as connected() == false.
class RawClient {
 public:
  explicit RawClient(const std::string& address);  // host:port
  ~RawClient();
  RawClient(RawClient&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  RawClient& operator=(RawClient&&) = delete;

  bool connected() const { return fd_ >= 0; }
  bool Send(const std::string& bytes) const;
  // One response with a Content-Length.
  RawResponse Read(absl::Duration timeout = absl::Seconds(20));
  // True when the other side closed before `timeout`; what it sent before is thrown away.
  bool Closed(absl::Duration timeout = absl::Seconds(20));

 private:
  bool Fill(absl::Duration timeout);

  int fd_ = -1;
  std::string buffer_;
};

// One request on a connection of its own.
RawResponse HttpGet(const std::string& address, const std::string& path);
RawResponse HttpPost(const std::string& address, const std::string& path, const std::string& json,
                     const std::string& more_headers = "");

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_SUPPORT_RAW_CLIENT_H_
