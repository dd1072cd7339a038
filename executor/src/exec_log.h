// The executor's own log: to the embedding program's hook, or to stderr.
#ifndef TIDEMARK_EXECUTOR_SRC_EXEC_LOG_H_
#define TIDEMARK_EXECUTOR_SRC_EXEC_LOG_H_

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "common/log.h"
#include "tidemark/executor.h"

namespace tidemark::exec {

// Thread-safe when the hook is. Copyable.
class ExecLog {
 public:
  using Hook = std::function<void(LogSeverity, std::string_view)>;

  ExecLog() = default;
  explicit ExecLog(Hook hook) : hook_(std::move(hook)) {}

  void Info(std::string_view event, std::initializer_list<LogField> fields = {}) const {
    Write(LogLevel::kInfo, event, fields);
  }
  void Warn(std::string_view event, std::initializer_list<LogField> fields = {}) const {
    Write(LogLevel::kWarn, event, fields);
  }
  void Error(std::string_view event, std::initializer_list<LogField> fields = {}) const {
    Write(LogLevel::kError, event, fields);
  }
  void Debug(std::string_view event, std::initializer_list<LogField> fields = {}) const {
    Write(LogLevel::kDebug, event, fields);
  }

 private:
  void Write(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) const;

  Hook hook_;
};

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_EXEC_LOG_H_
