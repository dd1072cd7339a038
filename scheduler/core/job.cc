#include "scheduler/core/job.h"

namespace tidemark {

int ShardOf(int64_t job_id) {
  // The finaliser of splitmix64. Stored with every row, so it may never change.
  uint64_t z = static_cast<uint64_t>(job_id) + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return static_cast<int>(z % kShards);
}

}  // namespace tidemark
