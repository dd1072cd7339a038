#include "common/id.h"

#include <sys/random.h>

#include <algorithm>
#include <cstdlib>

namespace tidemark {
namespace {

class KernelRandom : public Random {
 public:
  uint64_t Next() override {
    uint64_t value = 0;
    // Reads of up to 256 bytes are never short once the pool is initialised.
    if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) std::abort();
    return value;
  }
};

constexpr char kHex[] = "0123456789abcdef";
constexpr int64_t kEpoch2020Millis = 1577836800000;

std::string UuidText(uint64_t high, uint64_t low) {
  std::string id;
  id.reserve(36);
  for (int nibble = 0; nibble < 32; ++nibble) {
    if (nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20) id += '-';
    const uint64_t word = nibble < 16 ? high : low;
    id += kHex[(word >> (60 - 4 * (nibble % 16))) & 0xf];
  }
  return id;
}

}  // namespace

Random& SystemRandom() {
  static KernelRandom* random = new KernelRandom;
  return *random;
}

uint64_t SeededRandom::Next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::string RunIdSource::Next(absl::Time now) {
  constexpr int64_t kMaxMillis = (int64_t{1} << 48) - 1;
  const auto millis =
      static_cast<uint64_t>(std::clamp(absl::ToUnixMillis(now), int64_t{0}, kMaxMillis));
  // A random start within the lower half leaves room to count, and nothing to guess.
  last_ = std::max(last_ + 1, (millis << 12) | (random_.Next() & 0x7ff));
  const uint64_t high = ((last_ >> 12) << 16) | 0x7000 | (last_ & 0xfff);
  const uint64_t low = (random_.Next() & 0x3fffffffffffffffULL) | 0x8000000000000000ULL;
  return UuidText(high, low);
}

void RunIdSource::StartAfter(std::string_view id) {
  if (!IsUuid(id)) return;
  std::string front(id.substr(0, 8));
  front.append(id.substr(9, 4)).append(id.substr(15, 3));
  last_ = std::max(last_, static_cast<uint64_t>(std::stoull(front, nullptr, 16)));
}

std::string NewUuid(absl::Time now, Random& random) { return RunIdSource(random).Next(now); }

bool IsUuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? c != '-' : !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  }
  return true;
}

int64_t NewJobId(absl::Time now, Random& random) {
  const int64_t millis = absl::ToUnixMillis(now) - kEpoch2020Millis;
  const int64_t id = ((millis & ((int64_t{1} << 42) - 1)) << 21) |
                     static_cast<int64_t>(random.Next() & ((1U << 21) - 1));
  return std::max(id, int64_t{1});
}

std::string RandomHex(int bytes, Random& random) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    const uint64_t value = random.Next();
    text += kHex[(value >> 4) & 0xf];
    text += kHex[value & 0xf];
  }
  return text;
}

}  // namespace tidemark
