#include "executor/lock/redis_connection.h"

#include <hiredis/hiredis.h>
#include <poll.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/text.h"

namespace tidemark::lock {
namespace {

constexpr absl::Duration kConnectPause = absl::Milliseconds(200);
constexpr absl::Duration kLeastTimeout = absl::Milliseconds(50);

constexpr char kRenew[] =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then "
    "return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";
constexpr char kRelease[] =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then "
    "return redis.call('DEL', KEYS[1]) end return 0";

std::string Printable(std::string_view text) { return EscapeControl(CleanText(text, 200)); }

}  // namespace

void RedisConnection::FreeContext::operator()(redisContext* context) const { redisFree(context); }
void RedisConnection::FreeReply::operator()(redisReply* reply) const { freeReplyObject(reply); }

RedisConnection::RedisConnection(RedisAddress address, const Clock& clock)
    : address_(std::move(address)), clock_(clock) {}
RedisConnection::~RedisConnection() = default;

std::string RedisConnection::LastError() const {
  return context_ == nullptr ? "out of memory" : Printable(context_->errstr);
}

std::string RedisConnection::Connect() {
  if (context_ != nullptr) return "";
  if (clock_.Monotonic() < no_connect_before_) return connect_error_;
  const timeval timeout = absl::ToTimeval(address_.connect_timeout);
  context_.reset(address_.socket.empty()
                     ? redisConnectWithTimeout(address_.host.c_str(), address_.port, timeout)
                     : redisConnectUnixWithTimeout(address_.socket.c_str(), timeout));
  connect_error_.clear();
  if (context_ == nullptr || context_->err != 0) {
    connect_error_ = "cannot connect: " + LastError();
  } else {
    if (address_.socket.empty()) redisEnableKeepAlive(context_.get());
    redisSetTimeout(context_.get(), absl::ToTimeval(address_.timeout));
    connect_error_ = Greet();
  }
  if (!connect_error_.empty()) {
    context_.reset();
    no_connect_before_ = clock_.Monotonic() + kConnectPause;
  }
  return connect_error_;
}

std::string RedisConnection::Greet() {
  std::string why;
  if (!address_.password.empty()) {
    const Reply reply = address_.user.empty()
                            ? Ask({"AUTH", address_.password}, &why)
                            : Ask({"AUTH", address_.user, address_.password}, &why);
    if (reply == nullptr) return why;
    if (reply->type == REDIS_REPLY_ERROR) return "Redis refused user and password (AUTH)";
  }
  if (address_.db != 0) {
    const Reply reply = Ask({"SELECT", std::to_string(address_.db)}, &why);
    if (reply == nullptr) return why;
    if (const std::string error = ErrorOf(*reply); !error.empty()) return error;
  }
  return "";
}

void RedisConnection::DropIfStale() {
  if (context_ == nullptr) return;
  // Nothing was asked: what is readable is the end of the connection.
  pollfd fd = {context_->fd, POLLIN, 0};
  if (poll(&fd, 1, 0) != 0) context_.reset();
}

RedisConnection::Reply RedisConnection::Ask(std::initializer_list<std::string> words,
                                            std::string* why) {
  std::vector<const char*> pointers;
  std::vector<size_t> sizes;
  for (const std::string& word : words) {
    pointers.push_back(word.data());
    sizes.push_back(word.size());
  }
  Reply reply(static_cast<redisReply*>(redisCommandArgv(
      context_.get(), static_cast<int>(pointers.size()), pointers.data(), sizes.data())));
  if (reply == nullptr) {
    const bool late = context_->err == REDIS_ERR_IO && (errno == EAGAIN || errno == EWOULDBLOCK);
    *why = late ? "no answer in time" : "connection lost: " + LastError();
    context_.reset();
  }
  return reply;
}

std::string RedisConnection::ErrorOf(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ERROR) return "";
  return "Redis answers: " + Printable({reply.str, reply.len});
}

RedisConnection::Reply RedisConnection::Send(const LockCommand& command, std::string* why) {
  const std::string ttl = std::to_string(absl::ToInt64Milliseconds(command.ttl));
  switch (command.kind) {
    case LockCommand::Kind::kAcquire:
      return Ask({"SET", command.key, command.token, "NX", "PX", ttl}, why);
    case LockCommand::Kind::kRenew: {
      // A short ttl leaves time to try again on another connection.
      const absl::Duration timeout =
          std::min(address_.timeout, std::max(command.ttl / 3, kLeastTimeout));
      redisSetTimeout(context_.get(), absl::ToTimeval(timeout));
      Reply reply = Ask({"EVAL", kRenew, "1", command.key, command.token, ttl}, why);
      if (context_ != nullptr) {
        redisSetTimeout(context_.get(), absl::ToTimeval(address_.timeout));
      }
      return reply;
    }
    case LockCommand::Kind::kRelease:
      return Ask({"EVAL", kRelease, "1", command.key, command.token}, why);
  }
  return nullptr;
}

std::string RedisConnection::HolderOf(const std::string& key) {
  std::string why;
  const Reply reply = Ask({"GET", key}, &why);
  if (reply == nullptr || reply->type != REDIS_REPLY_STRING) return "";
  return Printable({reply->str, reply->len});
}

LockReply RedisConnection::Run(const LockCommand& command) {
  LockReply out;
  out.kind = LockReply::Kind::kNotSent;
  DropIfStale();
  out.detail = Connect();
  out.sent_at = clock_.Monotonic();
  if (!out.detail.empty()) return out;
  const Reply reply = Send(command, &out.detail);
  if (reply == nullptr) {
    out.kind = LockReply::Kind::kInDoubt;
    return out;
  }
  out.detail = ErrorOf(*reply);
  if (!out.detail.empty()) {
    // A replica, a Redis that still loads, a changed password: another one may answer next time.
    context_.reset();
    return out;
  }
  const bool done = reply->type == REDIS_REPLY_STATUS ||
                    (reply->type == REDIS_REPLY_INTEGER && reply->integer == 1);
  out.kind = done ? LockReply::Kind::kDone : LockReply::Kind::kNot;
  if (!done && command.kind == LockCommand::Kind::kAcquire) out.detail = HolderOf(command.key);
  return out;
}

}  // namespace tidemark::lock
