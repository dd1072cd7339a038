#include "tests/executor/lock/redis_server.h"

#include <hiredis/hiredis.h>

#include <memory>
#include <stdexcept>
#include <utility>

namespace tidemark::lock {

RedisServer::RedisServer(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {
  Start();
}

void RedisServer::Start() {
  ProcessOptions options;
  options.argv = {"/usr/bin/redis-server",
                  "--unixsocket",
                  socket(),
                  "--port",
                  "0",
                  "--save",
                  "",
                  "--dir",
                  dir_.path(),
                  "--appendonly",
                  "no"};
  options.argv.insert(options.argv.end(), arguments_.begin(), arguments_.end());
  options.output_file = dir_.path() + "/redis.log";
  auto process = Process::Start(options);
  if (!process.ok()) throw std::runtime_error(std::string(process.status().message()));
  process_.emplace(*std::move(process));
  const bool up = WaitFor([this] {
    redisContext* context = redisConnectUnix(socket().c_str());
    const bool connected = context != nullptr && context->err == 0;
    if (context != nullptr) redisFree(context);
    return connected;
  });
  if (!up)
    throw std::runtime_error("redis-server does not start: " + ReadFile(options.output_file));
}

std::optional<std::string> RedisServer::Ask(const std::vector<std::string>& words) const {
  const std::unique_ptr<redisContext, void (*)(redisContext*)> context(
      redisConnectUnix(socket().c_str()), redisFree);
  std::vector<const char*> pointers;
  std::vector<size_t> sizes;
  for (const std::string& word : words) {
    pointers.push_back(word.data());
    sizes.push_back(word.size());
  }
  void* raw = redisCommandArgv(context.get(), static_cast<int>(words.size()), pointers.data(),
                               sizes.data());
  if (raw == nullptr) throw std::runtime_error(std::string("redis: ") + context->errstr);
  const std::unique_ptr<redisReply, void (*)(void*)> reply(static_cast<redisReply*>(raw),
                                                           freeReplyObject);
  if (reply->type == REDIS_REPLY_NIL) return std::nullopt;
  if (reply->type == REDIS_REPLY_INTEGER) return std::to_string(reply->integer);
  if (reply->type == REDIS_REPLY_ARRAY) return std::to_string(reply->elements);
  return std::string(reply->str, reply->len);
}

}  // namespace tidemark::lock
