// Counts log lines that repeat, and says which are too many.
#ifndef TIDEMARK_COMMON_LOG_REPEATS_H_
#define TIDEMARK_COMMON_LOG_REPEATS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/mutex.h"

namespace tidemark {

// By event and minute. Thread-safe. Remembers kMostEvents events; more than these in a minute share
// one count.
class LogRepeats {
 public:
  struct Suppressed {
    std::string event;
    int64_t lines = 0;
  };
  static constexpr size_t kMostEvents = 1000;
  static constexpr absl::Duration kWindow = absl::Minutes(1);

  // Whether the line is to be written: of its minute it is one of the first `most`. Adds to
  // `suppressed` what Over() would return.
  bool Count(std::string_view event, int64_t most, absl::Duration now,
             std::vector<Suppressed>* suppressed);
  // Events whose minute is over and had lines that were not written; each is returned once.
  std::vector<Suppressed> Over(absl::Duration now);
  // All that was not written.
  int64_t total() const;

 private:
  struct Event {
    absl::Duration since;
    int64_t lines = 0;
    int64_t suppressed = 0;
  };
  void Sweep(absl::Duration now, std::vector<Suppressed>* out)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  std::map<std::string, Event, std::less<>> events_ ABSL_GUARDED_BY(mutex_);
  absl::Duration next_sweep_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
  int64_t total_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_LOG_REPEATS_H_
