#include "tests/support/raw_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace tidemark {

RawClient::RawClient(const std::string& address) {
  const size_t colon = address.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::atoi(address.c_str() + colon + 1)));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd_ >= 0 && connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
    close(fd_);
    fd_ = -1;
  }
}

RawClient::~RawClient() {
  if (fd_ >= 0) close(fd_);
}

bool RawClient::Send(const std::string& bytes) const {
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t n = send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

bool RawClient::Fill(absl::Duration timeout) {
  pollfd entry{fd_, POLLIN, 0};
  if (poll(&entry, 1, static_cast<int>(absl::ToInt64Milliseconds(timeout))) <= 0) return false;
  char bytes[16384];
  const ssize_t n = recv(fd_, bytes, sizeof bytes, 0);
  if (n <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(n));
  return true;
}

RawResponse RawClient::Read(absl::Duration timeout) {
  RawResponse response;
  size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!Fill(timeout)) return response;
  }
  const std::string head = buffer_.substr(0, end + 2);
  size_t length = 0;
  if (const size_t at = head.find("Content-Length: "); at != std::string::npos) {
    length = std::strtoul(head.c_str() + at + 16, nullptr, 10);
  }
  while (buffer_.size() < end + 4 + length) {
    if (!Fill(timeout)) return response;
  }
  response.status = std::atoi(head.c_str() + head.find(' '));
  response.headers = head;
  response.body = buffer_.substr(end + 4, length);
  buffer_.erase(0, end + 4 + length);
  return response;
}

bool RawClient::Closed(absl::Duration timeout) {
  for (;;) {
    pollfd entry{fd_, POLLIN, 0};
    if (poll(&entry, 1, static_cast<int>(absl::ToInt64Milliseconds(timeout))) <= 0) return false;
    char bytes[4096];
    if (recv(fd_, bytes, sizeof bytes, 0) <= 0) return true;
  }
}

RawResponse HttpGet(const std::string& address, const std::string& path) {
  RawClient client(address);
  if (!client.connected()) return {};
  client.Send("GET " + path + " HTTP/1.1\r\nHost: " + address + "\r\nConnection: close\r\n\r\n");
  return client.Read();
}

RawResponse HttpPost(const std::string& address, const std::string& path, const std::string& json,
                     const std::string& more_headers) {
  RawClient client(address);
  if (!client.connected()) return {};
  client.Send("POST " + path + " HTTP/1.1\r\nHost: " + address +
              "\r\nConnection: close\r\nContent-Type: application/json\r\n" + more_headers +
              "Content-Length: " + std::to_string(json.size()) + "\r\n\r\n" + json);
  return client.Read();
}

}  // namespace tidemark
