// A real Redis of a test's own, and an observer that shares no code with the lock.
#ifndef TIDEMARK_TESTS_EXECUTOR_LOCK_REDIS_SERVER_H_
#define TIDEMARK_TESTS_EXECUTOR_LOCK_REDIS_SERVER_H_

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/executor/temp_dir.h"
#include "tests/support/process.h"

namespace tidemark::lock {

// redis-server on a Unix socket in a private folder, without persistence; dies with this object.
// Used by one thread, but Ask from any.
class RedisServer {
 public:
  // `arguments` are added to the command line.
  explicit RedisServer(std::vector<std::string> arguments = {});

  std::string socket() const { return dir_.path() + "/redis.sock"; }
  std::string address() const { return "unix:" + socket(); }
  // For tests whose subject is not the time: the machine may be slow.
  std::string patient_address() const { return address() + "?connect_timeout=20s&timeout=20s"; }
  void Stop() { process_->Kill(); }
  void Start();
  void Freeze() { process_->Signal(SIGSTOP); }
  void Thaw() { process_->Signal(SIGCONT); }

  // One command over a connection of its own: the answer as text; nullopt for nil.
  std::optional<std::string> Ask(const std::vector<std::string>& words) const;
  bool Has(const std::string& key) const { return Ask({"EXISTS", key}) == "1"; }
  int64_t TtlMs(const std::string& key) const { return std::stoll(*Ask({"PTTL", key})); }

 private:
  TempDir dir_;
  std::vector<std::string> arguments_;
  std::optional<Process> process_;
};

}  // namespace tidemark::lock

#endif  // TIDEMARK_TESTS_EXECUTOR_LOCK_REDIS_SERVER_H_
