// Logging of a condition: once when it changes, not each time it is met.
#ifndef TIDEMARK_COMMON_STATE_LOG_H_
#define TIDEMARK_COMMON_STATE_LOG_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "common/log.h"
#include "common/status.h"

namespace tidemark {

// One a loop that tries again and again. Used by one thread.
class StateLog {
 public:
  explicit StateLog(std::string what) : what_(std::move(what)) {}

  void Report(const absl::Status& status) {
    const std::string words = status.ok() ? "" : Message(status);
    if (words == last_) return;
    last_ = words;
    if (status.ok()) {
      LogInfo(what_ + ": works again");
    } else {
      LogWarn(what_ + ": fails, will be tried again", {{"why", words}});
    }
  }

 private:
  const std::string what_;
  std::string last_;
};

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_STATE_LOG_H_
