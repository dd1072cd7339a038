#include "common/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "common/clock.h"
#include "common/log_control.h"
#include "common/log_repeats.h"
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

std::string JsonText(std::string_view raw) {
  const std::string clean = CleanText(raw, std::max<size_t>(raw.size() * 3, 16));
  std::string out = "\"";
  for (const char c : clean) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out + '"';
}

struct Logger {
  std::shared_ptr<spdlog::logger> out;
  bool json = false;
};

constexpr char kTime[] = "%Y-%m-%dT%H:%M:%S.%e%z";

Logger MakeLogger(std::string_view program, spdlog::level::level_enum level, bool json) {
  auto out = std::make_shared<spdlog::logger>(std::string(program),
                                              std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (json) {
    out->set_pattern(std::string(R"({"time":")") + kTime + R"(","level":"%l","program":"%n",%v})");
  } else {
    out->set_pattern(std::string(kTime) + " %l %n %v");
  }
  out->set_level(level);
  out->flush_on(spdlog::level::debug);
  return {std::move(out), json};
}

// Never destroyed: the last lines may come from other destructors.
Logger& Current() {
  static auto* logger = new Logger(MakeLogger("tidemark", spdlog::level::info, false));
  return *logger;
}

LogRepeats& Repeats() {
  static auto* repeats = new LogRepeats;
  return *repeats;
}

spdlog::level::level_enum ParseLevel(std::string_view level) {
  const spdlog::level::level_enum least = spdlog::level::from_str(std::string(level));
  // What it does not know it takes for "off", and a silent scheduler helps nobody.
  return least == spdlog::level::off ? spdlog::level::info : least;
}

template <typename Fields>
void WriteLine(LogLevel level, std::string_view event, const Fields& fields) {
  const Logger& logger = Current();
  std::string line;
  if (logger.json) {
    line = "\"event\":" + JsonText(event);
    for (const auto& [key, value] : fields) line += "," + JsonText(key) + ":" + JsonText(value);
  } else {
    line = EscapeControl(event);
    for (const auto& [key, value] : fields) AppendField(key, value, line);
  }
  logger.out->log(ToSpdlog(level), "{}", line);
}

void TellOf(const std::vector<LogRepeats::Suppressed>& suppressed) {
  using Field = std::pair<std::string, std::string>;
  for (const LogRepeats::Suppressed& item : suppressed) {
    WriteLine(LogLevel::kWarn, "lines were not written: the event repeats too often",
              std::vector<Field>{{"repeated", item.event}, {"lines", std::to_string(item.lines)}});
  }
}

template <typename Fields>
void LogLineOf(LogLevel level, std::string_view event, const Fields& fields) {
  if (!Current().out->should_log(ToSpdlog(level))) return;
  const bool loud = level == LogLevel::kWarn || level == LogLevel::kError;
  std::vector<LogRepeats::Suppressed> suppressed;
  const bool write = Repeats().Count(event, loud ? kMostRepeats : kMostInfos,
                                     SystemClock().Monotonic(), &suppressed);
  TellOf(suppressed);
  if (write) WriteLine(level, event, fields);
}

}  // namespace

void InitLogging(std::string_view program, std::string_view level, std::string_view format) {
  Current() = MakeLogger(program, ParseLevel(level), format == "json");
  spdlog::set_default_logger(Current().out);
}

void InitLogging(std::string_view program, std::string_view level) {
  InitLogging(program, level, "text");
}

void SetLogLevel(std::string_view level) { Current().out->set_level(ParseLevel(level)); }

void TellSuppressedLogs() { TellOf(Repeats().Over(SystemClock().Monotonic())); }

int64_t SuppressedLogs() { return Repeats().total(); }

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  LogLineOf(level, event, fields);
}

void Log(LogLevel level, std::string_view event,
         const std::vector<std::pair<std::string, std::string>>& fields) {
  LogLineOf(level, event, fields);
}

}  // namespace tidemark
