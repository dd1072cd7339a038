// Bounds requests a second, for each who asks.
#ifndef TIDEMARK_SCHEDULER_ACCESS_RATE_LIMITER_H_
#define TIDEMARK_SCHEDULER_ACCESS_RATE_LIMITER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"

namespace tidemark {

// A token bucket a key: `per_second` in the long run, twice as many at once. Its memory is bounded:
// when more than `most_keys` have asked in the last seconds, the rest share one bucket.
// Thread-safe. The clock must outlive it and be thread-safe.
class RateLimiter {
 public:
  static constexpr size_t kMostKeys = 10000;

  // per_second 0: no limit. `refused` is called for each refusal; null: nobody counts.
  RateLimiter(int per_second, Clock& clock, size_t most_keys = kMostKeys,
              std::function<void()> refused = nullptr);

  // Whether `key` may ask now. RESOURCE_EXHAUSTED names the limit.
  absl::Status Take(const std::string& key);
  size_t keys() const;

 private:
  struct Bucket {
    double tokens = 0;
    absl::Duration filled;
  };
  void Fill(Bucket& bucket, absl::Duration now) const;
  Bucket& Find(const std::string& key, absl::Duration now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int per_second_;
  const size_t most_keys_;
  Clock& clock_;
  const std::function<void()> refused_;
  mutable Mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);
  Bucket shared_ ABSL_GUARDED_BY(mutex_);
  absl::Duration swept_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
};

// The address of a peer ("ipv4:10.0.0.7:51234") without its port.
std::string AddressOf(const std::string& peer);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ACCESS_RATE_LIMITER_H_
