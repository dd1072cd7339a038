// Structured logging over spdlog, which stays out of headers. One line an event, key=value fields;
// control characters are escaped, so no input can forge a line.
#ifndef TIDEMARK_COMMON_LOG_H_
#define TIDEMARK_COMMON_LOG_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

using LogField = std::pair<std::string_view, std::string>;

// Sets program name and least level, and sends logs to stderr. Call once, before threads start;
// without it logs go to stderr at level info. Levels: debug, info, warn, error; another is info.
void InitLogging(std::string_view program, std::string_view level);

// Thread-safe. Log(kInfo, "run finished", {{"run_id", id}, {"status", "COMPLETED"}}).
void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});
void Log(LogLevel level, std::string_view event,
         const std::vector<std::pair<std::string, std::string>>& fields);

inline void LogInfo(std::string_view event, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kInfo, event, fields);
}
inline void LogWarn(std::string_view event, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kWarn, event, fields);
}
inline void LogError(std::string_view event, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kError, event, fields);
}

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_LOG_H_
