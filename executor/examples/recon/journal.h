// A file that records when a handler was entered and left: evidence outside every table, by which
// one can judge that no date ran twice at once.
#ifndef TIDEMARK_EXECUTOR_EXAMPLES_RECON_JOURNAL_H_
#define TIDEMARK_EXECUTOR_EXAMPLES_RECON_JOURNAL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/clock.h"

namespace tidemark::recon {

// Appends lines of tab-separated fields: instant (RFC 3339), monotonic nanoseconds of the machine,
// executor, "enter" or "exit", biz_date, run_id, attempt, outcome ("-" at entry). Each line is one
// write, so processes may share the file. Thread-safe; owns its descriptor.
class Journal {
 public:
  // A journal without a file, which drops everything.
  Journal() = default;
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  absl::Status Open(const std::string& path);

  struct Entry {
    std::string_view event;
    std::string_view executor;
    std::string_view biz_date;
    std::string_view run_id;
    int attempt = 0;
    std::string_view outcome;
  };
  // A line that cannot be written fails, rather than leaving a gap in the evidence.
  absl::Status Append(const Clock& clock, const Entry& entry);

 private:
  int fd_ = -1;
};

}  // namespace tidemark::recon

#endif  // TIDEMARK_EXECUTOR_EXAMPLES_RECON_JOURNAL_H_
