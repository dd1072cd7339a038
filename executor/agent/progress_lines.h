// What a command writes to its progress descriptor.
#ifndef TIDEMARK_EXECUTOR_AGENT_PROGRESS_LINES_H_
#define TIDEMARK_EXECUTOR_AGENT_PROGRESS_LINES_H_

#include <string>
#include <string_view>

#include "tidemark/executor.h"

namespace tidemark::agent {

// Reads lines of UTF-8 text, each ended by LF, at most 8 KiB, from the descriptor whose number a
// command finds in TIDEMARK_PROGRESS_FD:
//
//   PERCENT [CHECKPOINT [MESSAGE…]]        42.5 row-7000 reading the second file
//       "-" for a percent or checkpoint that is not said; a checkpoint has no blanks
//   result_rows=N result_digest=TEXT       what the run left (either may come alone)
//   result=TEXT…                           a short result, to the end of the line
//
// A line that is none of these goes to the run's log with a remark. Not thread-safe.
class ProgressLines {
 public:
  explicit ProgressLines(Context& run) : run_(run) {}

  void Feed(std::string_view bytes);
  // The command is over: a last line without LF counts too.
  void End();

 private:
  void Line(std::string_view line);
  bool Result(std::string_view line);
  bool Progress(std::string_view line);

  Context& run_;
  std::string partial_;
  bool too_long_ = false;
  int complaints_ = 0;
  int64_t rows_ = 0;
  std::string digest_;
};

}  // namespace tidemark::agent

#endif  // TIDEMARK_EXECUTOR_AGENT_PROGRESS_LINES_H_
