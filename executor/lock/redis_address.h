// Where a Redis is and how to get in.
#ifndef TIDEMARK_EXECUTOR_LOCK_REDIS_ADDRESS_H_
#define TIDEMARK_EXECUTOR_LOCK_REDIS_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark::lock {

struct RedisAddress {
  std::string host;
  int port = 6379;
  std::string socket;  // path of a Unix socket, instead of host and port
  std::string user;    // "": Redis's default user
  std::string password;
  int db = 0;
  absl::Duration connect_timeout = absl::Seconds(1);
  absl::Duration timeout = absl::Seconds(1);  // of one command

  // For logs: without user and password.
  std::string Text() const;
};

// The forms of RedisLockOptions::redis. INVALID_ARGUMENT says what is wrong and repeats nothing of
// the text, because a mistyped URL may have its password anywhere.
absl::StatusOr<RedisAddress> ParseRedisAddress(std::string_view text);

}  // namespace tidemark::lock

#endif  // TIDEMARK_EXECUTOR_LOCK_REDIS_ADDRESS_H_
