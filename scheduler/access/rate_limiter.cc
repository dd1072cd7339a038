#include "scheduler/access/rate_limiter.h"

#include <algorithm>
#include <utility>

#include "common/text.h"

namespace tidemark {
namespace {

constexpr double kBurstSeconds = 2;
constexpr absl::Duration kSweepEvery = absl::Seconds(1);

}  // namespace

RateLimiter::RateLimiter(int per_second, Clock& clock, size_t most_keys,
                         std::function<void()> refused)
    : per_second_(per_second), most_keys_(most_keys), clock_(clock), refused_(std::move(refused)) {
  shared_.tokens = per_second * kBurstSeconds;
  shared_.filled = clock.Monotonic();
}

void RateLimiter::Fill(Bucket& bucket, absl::Duration now) const {
  bucket.tokens = std::min(bucket.tokens + absl::ToDoubleSeconds(now - bucket.filled) * per_second_,
                           per_second_ * kBurstSeconds);
  bucket.filled = now;
}

RateLimiter::Bucket& RateLimiter::Find(const std::string& key, absl::Duration now) {
  if (const auto it = buckets_.find(key); it != buckets_.end()) return it->second;
  if (buckets_.size() >= most_keys_) {
    if (now - swept_ < kSweepEvery) return shared_;
    swept_ = now;
    // A bucket that is full again says no more than none.
    std::erase_if(buckets_, [&](const auto& entry) {
      Bucket bucket = entry.second;
      Fill(bucket, now);
      return bucket.tokens >= per_second_ * kBurstSeconds;
    });
    if (buckets_.size() >= most_keys_) return shared_;
  }
  return buckets_[key] = Bucket{per_second_ * kBurstSeconds, now};
}

absl::Status RateLimiter::Take(const std::string& key) {
  if (per_second_ == 0) return absl::OkStatus();
  const absl::Duration now = clock_.Monotonic();
  {
    const MutexLock lock(&mutex_);
    Bucket& bucket = Find(key, now);
    Fill(bucket, now);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return absl::OkStatus();
    }
  }
  if (refused_ != nullptr) refused_();
  return absl::ResourceExhaustedError(
      ToAbsl("more than " + std::to_string(per_second_) +
             " requests a second from one credential or address (requests-per-second); ask less "
             "often, or for more at once"));
}

size_t RateLimiter::keys() const {
  const MutexLock lock(&mutex_);
  return buckets_.size();
}

std::string AddressOf(const std::string& peer) {
  const size_t colon = peer.rfind(':');
  // Of a unix socket's path, or without a port, nothing is cut.
  if (colon == std::string::npos || !peer.starts_with("ipv")) return peer;
  return peer.substr(0, colon);
}

}  // namespace tidemark
