// A holder that a test can stop as a process: takes a lock, says so, holds it until it is lost,
// says so, releases it, says what that came to. lock_holder ADDRESS KEY TTL_MS
#include <cstdio>
#include <future>
#include <string>

#include "tidemark/redis_lock.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  tidemark::RedisLock lock({.redis = argv[1], .holder = "child"});
  std::promise<std::string> lost;
  auto attempt = lock.Acquire(argv[2], std::chrono::milliseconds(std::stoi(argv[3])),
                              [&](const std::string& reason) { lost.set_value(reason); });
  if (attempt.held == nullptr) return 1;
  std::printf("held\n");
  std::fflush(stdout);
  std::printf("lost: %s\n", lost.get_future().get().c_str());
  const auto released = attempt.held->Release();
  const bool not_owner = released == tidemark::RedisLock::Released::kNotOwner;
  std::printf("release: %s\n", not_owner ? "not owner" : "deleted or unknown");
  std::fflush(stdout);
  return 0;
}
