// Identifiers that are random and time-ordered: never a database sequence, which a fail-over can
// set back. Randomness comes in from outside, so tests and simulations are repeatable.
#ifndef TIDEMARK_COMMON_ID_H_
#define TIDEMARK_COMMON_ID_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace tidemark {

// Source of randomness. Not thread-safe unless the implementation says so.
class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t Next() = 0;
  // Uniform in [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
};

// The kernel's generator (getrandom). Thread-safe, lives for ever.
Random& SystemRandom();

// splitmix64; equal seeds give equal sequences. Not thread-safe.
class SeededRandom : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}
  uint64_t Next() override;

 private:
  uint64_t state_;
};

// Makes UUIDs of version 7 in lower-case text form (36 bytes): 48 bits of Unix milliseconds, 12
// bits that count within the millisecond, 62 random bits. Each is greater than the one before, also
// when the time goes back. Not thread-safe.
class RunIdSource {
 public:
  // `random` must outlive it.
  explicit RunIdSource(Random& random) : random_(random) {}
  std::string Next(absl::Time now);
  // What comes next sorts behind `id`, one of an earlier process whose clock was ahead.
  void StartAfter(std::string_view id);

 private:
  Random& random_;
  uint64_t last_ = 0;  // milliseconds and count of the last one, as 60 bits
};

// One such id, where no order within a millisecond is needed.
std::string NewUuid(absl::Time now, Random& random);
// True for 36 characters in UUID form (any version), lower case.
bool IsUuid(std::string_view text);

// A positive 63-bit id: 42 bits of milliseconds since 2020, 21 bits random.
int64_t NewJobId(absl::Time now, Random& random);

// `bytes` random bytes in lower-case hexadecimal (2 × bytes characters).
std::string RandomHex(int bytes, Random& random);

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_ID_H_
