// The frame of small servers for tests: HTTP and SMTP receivers.
#ifndef TIDEMARK_TESTS_SUPPORT_TCP_SERVER_H_
#define TIDEMARK_TESTS_SUPPORT_TCP_SERVER_H_

#include <functional>
#include <list>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "common/mutex.h"

namespace tidemark {

// One connection, blocking. Used by one thread.
class TcpStream {
 public:
  explicit TcpStream(int fd) : fd_(fd) {}
  // Up to and with `end`; "" when the other side closed or the server stops.
  std::string ReadUntil(const std::string& end);
  std::string ReadBytes(size_t count);
  void Write(const std::string& bytes) const;
  // Until the other side closes or the server stops.
  void WaitForEnd();

 private:
  bool Fill();

  const int fd_;
  std::string buffer_;
};

// Listens on 127.0.0.1, port by the kernel, and serves each connection on a thread of its own.
// Start and Stop are for one thread, and may be called again: the port stays the same.
class TcpServer {
 public:
  explicit TcpServer(std::function<void(TcpStream&)> serve);
  ~TcpServer();

  void Start();
  // Nobody listens any more; connections are cut.
  void Stop();
  int port() const { return port_; }

 private:
  struct Link {
    int fd = -1;
    std::thread thread;
  };
  void Accept();

  const std::function<void(TcpStream&)> serve_;
  int port_ = 0;
  int listener_ = -1;
  std::thread acceptor_;
  Mutex mutex_;
  std::list<Link> links_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_SUPPORT_TCP_SERVER_H_
