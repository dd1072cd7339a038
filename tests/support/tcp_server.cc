#include "tests/support/tcp_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tidemark {
namespace {

void Must(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::abort();
}

}  // namespace

bool TcpStream::Fill() {
  char bytes[4096];
  const ssize_t count = recv(fd_, bytes, sizeof bytes, 0);
  if (count <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(count));
  return true;
}

std::string TcpStream::ReadUntil(const std::string& end) {
  size_t at = 0;
  while ((at = buffer_.find(end)) == std::string::npos) {
    if (!Fill()) return "";
  }
  const std::string text = buffer_.substr(0, at + end.size());
  buffer_.erase(0, at + end.size());
  return text;
}

std::string TcpStream::ReadBytes(size_t count) {
  while (buffer_.size() < count) {
    if (!Fill()) break;
  }
  const std::string text = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return text;
}

void TcpStream::Write(const std::string& bytes) const {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = send(fd_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
}

void TcpStream::WaitForEnd() {
  while (Fill()) buffer_.clear();
}

TcpServer::TcpServer(std::function<void(TcpStream&)> serve) : serve_(std::move(serve)) {}

TcpServer::~TcpServer() { Stop(); }

void TcpServer::Start() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Must(listener_ >= 0, "socket");
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Must(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
  Must(listen(listener_, 64) == 0, "listen");
  socklen_t size = sizeof address;
  Must(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0, "getsockname");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

void TcpServer::Accept() {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const MutexLock lock(&mutex_);
    links_.emplace_back();
    links_.back().fd = fd;
    links_.back().thread = std::thread([this, fd] {
      TcpStream stream(fd);
      serve_(stream);
      shutdown(fd, SHUT_RDWR);
    });
  }
}

void TcpServer::Stop() {
  if (listener_ < 0) return;
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  listener_ = -1;
  std::list<Link> links;
  {
    const MutexLock lock(&mutex_);
    links.swap(links_);
  }
  for (Link& link : links) {
    shutdown(link.fd, SHUT_RDWR);
    link.thread.join();
    close(link.fd);
  }
}

}  // namespace tidemark
