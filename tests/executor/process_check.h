// Whether processes of a test are alive; a zombie is not.
#ifndef TIDEMARK_TESTS_EXECUTOR_PROCESS_CHECK_H_
#define TIDEMARK_TESTS_EXECUTOR_PROCESS_CHECK_H_

#include <poll.h>

#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "common/clock.h"

namespace tidemark {

inline bool IsAlive(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::ostringstream text;
  text << file.rdbuf();
  const size_t close = text.str().rfind(')');
  return close != std::string::npos && text.str()[close + 2] != 'Z';
}

// Looks every 10 ms until `condition` is true, for at most 20 s.
inline bool AwaitTrue(const std::function<bool()>& condition) {
  const absl::Duration until = SystemClock().Monotonic() + absl::Seconds(20);
  while (!condition()) {
    if (SystemClock().Monotonic() > until) return false;
    poll(nullptr, 0, 10);
  }
  return true;
}

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_EXECUTOR_PROCESS_CHECK_H_
