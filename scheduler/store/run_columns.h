// A live run to and from its row. Only for the store.
#ifndef TIDEMARK_SCHEDULER_STORE_RUN_COLUMNS_H_
#define TIDEMARK_SCHEDULER_STORE_RUN_COLUMNS_H_

#include <string_view>

#include "scheduler/core/run.h"
#include "scheduler/store/database.h"

namespace tidemark {

// As column on_lost has it: "retry", "wait"; "": not decided yet.
inline std::string_view OnLostName(OnLost on_lost) {
  switch (on_lost) {
    case OnLost::kRetry:
      return "retry";
    case OnLost::kWait:
      return "wait";
    case OnLost::kByHandler:
      return "";
  }
  return "";
}

inline OnLost ParseOnLost(std::string_view name) {
  if (name == "retry") return OnLost::kRetry;
  return name.empty() ? OnLost::kByHandler : OnLost::kWait;
}

// A row of kLoadRuns.
ActiveRun ReadRun(const SqlRows& rows, int i);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_RUN_COLUMNS_H_
