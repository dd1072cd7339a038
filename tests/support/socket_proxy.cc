#include "tests/support/socket_proxy.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
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

// A simple query, as libpq sends it.
constexpr std::string_view kCommit(
    "Q\0\0\0\x0b"
    "COMMIT\0",
    12);

// The server's word on its process number, as a server says it once: 'K', the length, the number.
void HidePid(std::string* bytes) {
  constexpr std::string_view kBackendKeyData("K\0\0\0\x0c", 5);
  const size_t at = bytes->find(kBackendKeyData);
  if (at != std::string::npos && at + 9 <= bytes->size()) (*bytes)[at + 5] ^= 0x40;
}

// Reads what is there. False at the end of the stream.
bool Receive(int from, std::string* bytes) {
  char buffer[65536];
  const ssize_t got = recv(from, buffer, sizeof(buffer), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  bytes->assign(buffer, static_cast<size_t>(got));
  return got > 0;
}

bool SendAll(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
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
      listen(listener_, 64) != 0 || pipe2(stop_, O_CLOEXEC) != 0) {
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
  holding_reply_ = false;
}

void SocketProxy::Accept() {
  Link link;
  // A program that the test starts meanwhile must not keep them open.
  link.client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
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

void SocketProxy::AtCommit(std::string needle, std::function<CommitFate()> fate) {
  const MutexLock lock(&mutex_);
  needle_ = std::move(needle);
  fate_ = std::move(fate);
  release_reply_ = false;
}

bool SocketProxy::FromClient(Link& link) {
  std::string bytes;
  if (!Receive(link.client, &bytes)) return false;
  if (bytes.empty()) return true;
  if (bytes == kCommit) {
    link.fate = link.concerned && fate_ ? fate_() : CommitFate::kPass;
    link.concerned = false;
    link.sent.clear();
    if (link.fate == CommitFate::kCutBefore) return false;
  } else if (fate_ && !link.concerned) {
    link.sent += bytes;
    link.concerned = link.sent.find(needle_) != std::string::npos;
    link.sent.erase(0, link.sent.size() - std::min(link.sent.size(), needle_.size()));
  }
  return SendAll(link.server, bytes) && link.fate != CommitFate::kCutSent;
}

bool SocketProxy::FromServer(Link& link) {
  std::string bytes;
  if (!Receive(link.server, &bytes)) return false;
  if (hide_pids_) HidePid(&bytes);
  if (!bytes.empty() && link.fate == CommitFate::kCutReplied) return false;
  if (link.fate == CommitFate::kHoldReply) {
    link.held += bytes;
    holding_reply_ = holding_reply_ || !link.held.empty();
    if (!release_reply_ || link.held.empty()) return true;
    bytes.swap(link.held);
    link.held.clear();
    holding_reply_ = false;
  }
  if (bytes.empty()) return true;
  link.fate = CommitFate::kPass;
  return hold_replies_ || SendAll(link.client, bytes);
}

bool SocketProxy::Serve(Link& link) {
  if (FromClient(link) && FromServer(link)) return true;
  if (!link.held.empty()) holding_reply_ = false;
  return false;
}

void SocketProxy::Run() {
  for (;;) {
    std::vector<pollfd> fds = {{stop_[0], POLLIN, 0}};
    const bool silent = silent_;
    if (!silent) {
      fds.push_back({listener_, POLLIN, 0});
      const MutexLock lock(&mutex_);
      for (const Link& link : links_) {
        fds.push_back({link.client, POLLIN, 0});
        fds.push_back({link.server, POLLIN, 0});
      }
    }
    // Wakes now and then: links may have been cut meanwhile.
    poll(fds.data(), fds.size(), 20);
    if (fds[0].revents != 0) return;
    if (silent) continue;
    if (fds[1].revents != 0) Accept();
    const MutexLock lock(&mutex_);
    for (auto link = links_.begin(); link != links_.end();) {
      if (Serve(*link)) {
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
