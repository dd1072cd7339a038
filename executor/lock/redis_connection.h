// One connection to a Redis: carries out the core's commands, one at a time, blocking.
#ifndef TIDEMARK_EXECUTOR_LOCK_REDIS_CONNECTION_H_
#define TIDEMARK_EXECUTOR_LOCK_REDIS_CONNECTION_H_

#include <initializer_list>
#include <memory>
#include <string>

#include "common/clock.h"
#include "executor/lock/lock_core.h"
#include "executor/lock/redis_address.h"

struct redisContext;
struct redisReply;

namespace tidemark::lock {

// Connects when there is something to do and again after any error; for 200 ms after a connect that
// failed, commands fail at once, so that many locks do not wait one after the other. Owns the
// socket. Used by one thread, which must have SIGPIPE blocked or ignored (hiredis writes with
// write()).
class RedisConnection {
 public:
  // `clock` must outlive it.
  RedisConnection(RedisAddress address, const Clock& clock);
  ~RedisConnection();

  // Blocks for at most connect_timeout and three commands' timeouts.
  LockReply Run(const LockCommand& command);

 private:
  struct FreeContext {
    void operator()(redisContext* context) const;
  };
  struct FreeReply {
    void operator()(redisReply* reply) const;
  };
  using Reply = std::unique_ptr<redisReply, FreeReply>;

  // "" or what failed.
  std::string Connect();
  std::string Greet();
  void DropIfStale();
  // Null when the connection failed; `why` says how.
  Reply Ask(std::initializer_list<std::string> words, std::string* why);
  // Redis answered with an error; null is none.
  static std::string ErrorOf(const redisReply& reply);
  Reply Send(const LockCommand& command, std::string* why);
  std::string HolderOf(const std::string& key);
  std::string LastError() const;

  const RedisAddress address_;
  const Clock& clock_;
  std::unique_ptr<redisContext, FreeContext> context_;
  absl::Duration no_connect_before_ = -absl::InfiniteDuration();
  std::string connect_error_;
};

}  // namespace tidemark::lock

#endif  // TIDEMARK_EXECUTOR_LOCK_REDIS_CONNECTION_H_
