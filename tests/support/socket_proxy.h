// A cuttable link between a test's subject and its PostgreSQL.
#ifndef TIDEMARK_TESTS_SUPPORT_SOCKET_PROXY_H_
#define TIDEMARK_TESTS_SUPPORT_SOCKET_PROXY_H_

#include <atomic>
#include <functional>
#include <list>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "common/mutex.h"

namespace tidemark {

// What becomes of a transaction at its COMMIT.
enum class CommitFate {
  kPass,
  kCutBefore,   // the link breaks and COMMIT never arrives: it did not take place
  kCutSent,     // the link breaks once COMMIT has left: it takes place, perhaps later
  kCutReplied,  // the link breaks once the server has answered: it took place
  kHoldReply    // it took place; the answer waits for ReleaseReply or a cut
};

// Listens on a Unix socket in a private folder and forwards every connection to the server's Unix
// socket. Owns its thread and folder. Thread-safe.
class SocketProxy {
 public:
  // `server_url`: as TestDatabase gives it (host=FOLDER …).
  explicit SocketProxy(const std::string& server_url);
  ~SocketProxy();

  const std::string& url() const { return url_; }        // the same database through the proxy
  const std::string& folder() const { return folder_; }  // of its socket
  // What the server sends is taken from it, but not passed on, until the link is cut.
  void HoldReplies() { hold_replies_ = true; }
  // Breaks all connections, and replies flow again on new ones.
  void Cut();
  // New connections are closed at once; those that are there are broken.
  void Refuse(bool refuse);

  // While silent nothing arrives on either side and nobody is told; new connections wait, too.
  void Silence(bool silent) { silent_ = silent; }

  // New connections are told another process number, as by a proxy that pools transactions.
  void HidePids() { hide_pids_ = true; }

  // Asked at each COMMIT of a transaction in which `needle` was part of a statement; null: never
  // again. Called on the proxy's thread. Whoever sends COMMIT waits for all answers before it, as
  // libpq does.
  void AtCommit(std::string needle, std::function<CommitFate()> fate);
  bool HoldingReply() { return holding_reply_; }
  void ReleaseReply() { release_reply_ = true; }

 private:
  struct Link {
    int client = -1;
    int server = -1;
    std::string sent;        // by the client since the last COMMIT: its end, to look for the needle
    bool concerned = false;  // the needle was in it
    CommitFate fate = CommitFate::kPass;  // of the COMMIT that is under way
    std::string held;                     // kHoldReply: what the server answered
  };

  void Run();
  void Accept();
  bool Serve(Link& link) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool FromClient(Link& link) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool FromServer(Link& link) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CloseAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::string folder_;
  std::string server_socket_;
  std::string url_;
  int listener_ = -1;
  int stop_[2] = {-1, -1};
  std::atomic<bool> hold_replies_ = false;
  std::atomic<bool> refuse_ = false;
  std::atomic<bool> silent_ = false;
  std::atomic<bool> hide_pids_ = false;
  std::atomic<bool> holding_reply_ = false;
  std::atomic<bool> release_reply_ = false;
  Mutex mutex_;
  std::list<Link> links_ ABSL_GUARDED_BY(mutex_);
  std::string needle_ ABSL_GUARDED_BY(mutex_);
  std::function<CommitFate()> fate_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_SUPPORT_SOCKET_PROXY_H_
