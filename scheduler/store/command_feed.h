// The threads that bring operators' orders, and reports that other nodes took in.
#ifndef TIDEMARK_SCHEDULER_STORE_COMMAND_FEED_H_
#define TIDEMARK_SCHEDULER_STORE_COMMAND_FEED_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/state_log.h"
#include "scheduler/engine/ports.h"
#include "scheduler/store/inbox_rows.h"
#include "scheduler/store/session.h"
#include "scheduler/store/term.h"

namespace tidemark {

// Reads the orders of `shards` that are not done, and what other nodes left in the inbox for their
// owner, each once a term: at a poke, at a notification,
// and each `command_poll` (a notification may be lost, and LISTEN may not be possible). What other
// nodes settled of jobs that ours wait for is told as the notification says it. Owns two threads,
// one that reads and one that listens, and their connections.
class CommandFeed {
 public:
  // `cluster_changed`: called when a node or an owner of shards is said to have changed.
  CommandFeed(const StoreOptions& options, Clock* clock, Term* term,
              const std::map<int, Epoch>& shards, std::function<void()> cluster_changed);
  ~CommandFeed();

  // The orders of these as well. They must be the listener's already.
  void AddShards(const std::map<int, Epoch>& shards);
  void Poke();  // any thread

 private:
  void Read();
  void Listen();
  absl::Status ReadOnce();
  void Deliver(std::vector<Command> commands, std::vector<InboxItem> items, absl::Duration read);
  absl::Status ListenOnce(bool* listening);
  bool Stopped();
  std::string Shards();  // array literal

  Clock* const clock_;
  const absl::Duration poll_;
  const absl::Duration max_backoff_;
  Term* const term_;
  const std::function<void()> cluster_changed_;
  // The reader's thread alone:
  std::set<std::string> known_;  // ids delivered in this term and not seen done
  InboxReader inbox_;
  Session session_;
  Session listen_session_;
  StateLog log_{"reading commands"};
  StateLog listen_log_{"listening for commands (the poll goes on)"};
  Signal wake_;
  Signal listen_wake_;
  Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<int, Epoch> shards_ ABSL_GUARDED_BY(mutex_);
  std::thread reader_;
  std::thread listener_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_COMMAND_FEED_H_
