#include "common/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "common/text.h"

namespace tidemark {
namespace {

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

void AppendField(std::string_view key, std::string_view raw, std::string& line) {
  line += ' ';
  line += key;
  line += '=';
  const std::string value = EscapeControl(raw);
  if (!value.empty() && value.find_first_of(" \"=") == std::string::npos) {
    line += value;
    return;
  }
  line += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  line += '"';
}

std::shared_ptr<spdlog::logger> MakeLogger(std::string_view program,
                                           spdlog::level::level_enum level) {
  auto logger = std::make_shared<spdlog::logger>(std::string(program),
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %n %v");
  logger->set_level(level);
  logger->flush_on(spdlog::level::debug);
  return logger;
}

// Never destroyed: the last lines may come from other destructors.
std::shared_ptr<spdlog::logger>& Current() {
  static auto* logger =
      new std::shared_ptr<spdlog::logger>(MakeLogger("tidemark", spdlog::level::info));
  return *logger;
}

template <typename Fields>
void WriteLine(LogLevel level, std::string_view event, const Fields& fields) {
  spdlog::logger* logger = Current().get();
  if (!logger->should_log(ToSpdlog(level))) return;
  std::string line = EscapeControl(event);
  for (const auto& [key, value] : fields) AppendField(key, value, line);
  logger->log(ToSpdlog(level), "{}", line);
}

}  // namespace

void InitLogging(std::string_view program, std::string_view level) {
  spdlog::level::level_enum least = spdlog::level::from_str(std::string(level));
  // What it does not know it takes for "off", and a silent scheduler helps nobody.
  if (least == spdlog::level::off) least = spdlog::level::info;
  Current() = MakeLogger(program, least);
  spdlog::set_default_logger(Current());
}

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  WriteLine(level, event, fields);
}

void Log(LogLevel level, std::string_view event,
         const std::vector<std::pair<std::string, std::string>>& fields) {
  WriteLine(level, event, fields);
}

}  // namespace tidemark
