// Logs of runs on a terminal.
#ifndef TIDEMARK_SCHEDULER_CLI_LOG_TEXT_H_
#define TIDEMARK_SCHEDULER_CLI_LOG_TEXT_H_

#include <string>
#include <string_view>

namespace tidemark {

// Makes any bytes, as they come in pieces, safe to show: line ends and tabs stay, every other
// control character and what turns or hides text is escaped as SafeText does, and what is no UTF-8
// becomes U+FFFD. A character that is torn between two pieces is put together again. A value of
// one thread.
class LogText {
 public:
  std::string Feed(std::string_view bytes);
  // What is left of a torn character. The next piece begins afresh.
  std::string End();

 private:
  std::string torn_;  // at most 3 bytes
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CLI_LOG_TEXT_H_
