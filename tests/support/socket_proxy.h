// A cuttable link between a test's subject and its PostgreSQL.
#ifndef TIDEMARK_TESTS_SUPPORT_SOCKET_PROXY_H_
#define TIDEMARK_TESTS_SUPPORT_SOCKET_PROXY_H_

#include <atomic>
#include <list>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "common/mutex.h"

namespace tidemark {

// Listens on a Unix socket in a private folder and forwards every connection to the server's Unix
// socket. Owns its thread and folder. Thread-safe.
class SocketProxy {
 public:
  // `server_url`: as TestDatabase gives it (host=FOLDER …).
  explicit SocketProxy(const std::string& server_url);
  ~SocketProxy();

  const std::string& url() const { return url_; }  // the same database through the proxy
  // What the server sends is taken from it, but not passed on, until the link is cut.
  void HoldReplies() { hold_replies_ = true; }
  // Breaks all connections, and replies flow again on new ones.
  void Cut();
  // New connections are closed at once; those that are there are broken.
  void Refuse(bool refuse);

 private:
  struct Link {
    int client = -1;
    int server = -1;
  };

  void Run();
  void Accept();
  bool Forward(int from, int to, bool drop);
  void CloseAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::string folder_;
  std::string server_socket_;
  std::string url_;
  int listener_ = -1;
  int stop_[2] = {-1, -1};
  std::atomic<bool> hold_replies_ = false;
  std::atomic<bool> refuse_ = false;
  Mutex mutex_;
  std::list<Link> links_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_SUPPORT_SOCKET_PROXY_H_
