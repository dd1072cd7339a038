#include "executor/src/exec_log.h"

#include "common/text.h"

namespace tidemark::exec {
namespace {

LogSeverity SeverityOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return LogSeverity::kDebug;
    case LogLevel::kInfo:
      return LogSeverity::kInfo;
    case LogLevel::kWarn:
      return LogSeverity::kWarn;
    case LogLevel::kError:
      return LogSeverity::kError;
  }
  return LogSeverity::kInfo;
}

}  // namespace

void ExecLog::Write(LogLevel level, std::string_view event,
                    std::initializer_list<LogField> fields) const {
  if (!hook_) {
    Log(level, event, fields);
    return;
  }
  std::string line(event);
  for (const LogField& field : fields) {
    line += " ";
    line += field.first;
    line += "=\"" + EscapeControl(field.second) + "\"";
  }
  hook_(SeverityOf(level), line);
}

}  // namespace tidemark::exec
