// The link between executors and a scheduler, in a test's hand: message by message.
#ifndef TIDEMARK_TESTS_SUPPORT_LINK_PROXY_H_
#define TIDEMARK_TESTS_SUPPORT_LINK_PROXY_H_

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "tidemark/v1/executor.pb.h"

namespace tidemark {

// One message on its way; one of the two is set.
struct LinkMessage {
  const v1::ExecutorMessage* from_executor = nullptr;
  const v1::SchedulerMessage* from_scheduler = nullptr;
};
using LinkMatch = std::function<bool(const LinkMessage&)>;

// Whether what is sent on a link arrives.
enum class LinkState {
  kOpen,
  kRefused,  // broken, and each new one as soon as it is known whose it is
  kSilent    // nothing arrives and nobody is told, as in a partition; it goes on afterwards
};

// Messages of the executor session by what they say; a message with several parts is all of them.
LinkMatch IsTrigger();
LinkMatch IsAcknowledged();
LinkMatch IsReport(v1::RunReport::EventCase event);

// Listens on a loopback port and forwards to `address`, where the scheduler may come and go. Reads
// HTTP/2 so far as to pass on one gRPC message at a time (each at most 64 KiB, or flow control
// would wait for it). Owns its thread. Thread-safe; matches are called on its thread.
class LinkProxy {
 public:
  explicit LinkProxy(const std::string& address);
  ~LinkProxy();

  const std::string& address() const { return address_; }

  // The next message that `match` takes is held, and all that follows it in its direction of its
  // link (pings and windows of HTTP/2 go on). A link one end of which is gone stays open to the
  // other while something is held in it, as bytes on their way do.
  void HoldNext(LinkMatch match);
  bool Holding();
  void Release();   // what is held arrives
  void DropHeld();  // what is held is lost, with its link
  // The link of a message that `match` takes is cut, and the message lost; null: not any more.
  void CutAt(LinkMatch match);
  int cuts();
  // Breaks all links; with `refuse` new ones are closed at once until refused no more.
  void Cut();
  void Refuse(bool refuse);
  // The links of one executor, known by its Hello; "": of all that nothing was said of by name.
  void Set(const std::string& executor, LinkState state);
  // What is read from now on arrives so much later.
  void Delay(const std::string& executor, absl::Duration delay);
  // New links lead there.
  void Retarget(const std::string& address);

 private:
  struct Rule {
    LinkState state = LinkState::kOpen;
    absl::Duration delay;
  };
  // One direction of a link.
  struct Pipe {
    bool from_executor = false;
    std::string in;                           // read, no whole frame yet
    std::map<uint32_t, std::string> partial;  // by HTTP/2 stream: no whole message yet
    bool holding = false;
    std::string held;  // frames
    std::string out;   // to be written, when its time has come
    std::deque<std::pair<absl::Duration, std::string>> late;  // monotonic time, bytes
    std::string ready;                                        // to be written now
  };
  struct Link {
    int executor = -1;
    int scheduler = -1;
    bool preface = false;  // of HTTP/2, seen
    bool ended = false;    // one end is gone
    bool cut = false;
    std::string name;  // of the executor; "": it has not said
    Pipe up{true, {}, {}, false, {}, {}, {}, {}};
    Pipe down{false, {}, {}, false, {}, {}, {}, {}};
  };

  void Run();
  void Accept() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Serve(Link& link) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What was read and is due by now becomes ready.
  static void Ripen(Pipe& pipe, absl::Duration delay, absl::Duration now);
  Rule RuleOf(const Link& link) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Read(int fd, Link& link, Pipe& pipe) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeFrames(Link& link, Pipe& pipe) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeData(uint32_t stream, const std::string& payload, Link& link, Pipe& pipe)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Judge(const std::string& message, Link& link, Pipe& pipe)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::string address_;
  int listener_ = -1;
  int stop_[2] = {-1, -1};
  Mutex mutex_;
  int target_port_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Rule> rules_ ABSL_GUARDED_BY(mutex_);
  std::list<Link> links_ ABSL_GUARDED_BY(mutex_);
  LinkMatch hold_ ABSL_GUARDED_BY(mutex_);
  LinkMatch cut_ ABSL_GUARDED_BY(mutex_);
  int cuts_ ABSL_GUARDED_BY(mutex_) = 0;
  bool refuse_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_SUPPORT_LINK_PROXY_H_
