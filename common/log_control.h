// What a program sets about its logs: format, level at run time, and how often a line may repeat.
#ifndef TIDEMARK_COMMON_LOG_CONTROL_H_
#define TIDEMARK_COMMON_LOG_CONTROL_H_

#include <cstdint>
#include <string_view>

namespace tidemark {

// Of one event (the text, whatever its fields) at most so many warnings and errors, and so many
// other lines, are written a minute; then a line says how many were not.
inline constexpr int kMostRepeats = 200;
inline constexpr int kMostInfos = 20000;

// As InitLogging(program, level), with the format: text, or json (an object a line).
void InitLogging(std::string_view program, std::string_view level, std::string_view format);
// Changes the least level. Thread-safe.
void SetLogLevel(std::string_view level);
// Says how many lines of each event were not written, where the minute is over. Every line that is
// written does the same; call it now and then so that the last ones are told of, too. Thread-safe.
void TellSuppressedLogs();
// Lines not written since the start.
int64_t SuppressedLogs();

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_LOG_CONTROL_H_
