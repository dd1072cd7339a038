#include "tests/support/socket_proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace tidemark {
namespace {

sockaddr_un Address(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  return address;
}

}  // namespace

SocketProxy::SocketProxy(const std::string& server_url) {
  char folder[] = "/tmp/tidemark-proxy.XXXXXX";
  if (mkdtemp(folder) == nullptr) std::abort();
  folder_ = folder;
  const size_t begin = server_url.find("host=") + 5;
  server_socket_ = server_url.substr(begin, server_url.find(' ', begin) - begin) + "/.s.PGSQL.5432";
  url_ = server_url + " host=" + folder_;  // the last of two wins
  const sockaddr_un address = Address(folder_ + "/.s.PGSQL.5432");
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener_, 64) != 0 || pipe(stop_) != 0) {
    std::abort();
  }
  thread_ = std::thread([this] { Run(); });
}

SocketProxy::~SocketProxy() {
  close(stop_[1]);
  thread_.join();
  {
    const MutexLock lock(&mutex_);
    CloseAll();
  }
  close(stop_[0]);
  close(listener_);
  unlink((folder_ + "/.s.PGSQL.5432").c_str());
  rmdir(folder_.c_str());
}

void SocketProxy::Cut() {
  const MutexLock lock(&mutex_);
  CloseAll();
  hold_replies_ = false;
}

void SocketProxy::Refuse(bool refuse) {
  refuse_ = refuse;
  if (refuse) Cut();
}

void SocketProxy::CloseAll() {
  for (const Link& link : links_) {
    close(link.client);
    close(link.server);
  }
  links_.clear();
}

void SocketProxy::Accept() {
  Link link;
  link.client = accept(listener_, nullptr, nullptr);
  if (link.client < 0) return;
  const sockaddr_un address = Address(server_socket_);
  link.server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (refuse_ ||
      connect(link.server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(link.client);
    close(link.server);
    return;
  }
  const MutexLock lock(&mutex_);
  links_.push_back(link);
}

bool SocketProxy::Forward(int from, int to, bool drop) {
  char buffer[65536];
  const ssize_t got = recv(from, buffer, sizeof(buffer), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  for (ssize_t sent = 0; !drop && sent < got;) {
    const ssize_t n = send(to, buffer + sent, static_cast<size_t>(got - sent), MSG_NOSIGNAL);
    if (n < 0) return false;
    sent += n;
  }
  return true;
}

void SocketProxy::Run() {
  for (;;) {
    std::vector<pollfd> fds = {{stop_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    {
      const MutexLock lock(&mutex_);
      for (const Link& link : links_) {
        fds.push_back({link.client, POLLIN, 0});
        fds.push_back({link.server, POLLIN, 0});
      }
    }
    // Wakes now and then: links may have been cut meanwhile.
    poll(fds.data(), fds.size(), 20);
    if (fds[0].revents != 0) return;
    if (fds[1].revents != 0) Accept();
    const MutexLock lock(&mutex_);
    for (auto link = links_.begin(); link != links_.end();) {
      const bool alive = Forward(link->client, link->server, false) &&
                         Forward(link->server, link->client, hold_replies_);
      if (alive) {
        ++link;
        continue;
      }
      close(link->client);
      close(link->server);
      link = links_.erase(link);
    }
  }
}

}  // namespace tidemark
