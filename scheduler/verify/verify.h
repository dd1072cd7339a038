// The independent oracle: replays a job's history against its schedules and says what does not fit.
// It shares cron, zone and calendar evaluation with the scheduler and nothing else: what is due
// over edits, what settles a date and what excuses one is judged anew here.
#ifndef TIDEMARK_SCHEDULER_VERIFY_VERIFY_H_
#define TIDEMARK_SCHEDULER_VERIFY_VERIFY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/verify/history.h"

namespace tidemark::verify {

struct Finding {
  enum class Kind {
    kMissed,       // due, and neither run, nor on its way, nor told why not
    kDuplicate,    // completed again although nobody asked for it
    kOverlapping,  // in executors' hands together with what excludes it
    kOutOfOrder,   // started before an earlier date was settled (strict order)
    kUnexplained,  // a run or a verdict that nothing accounts for
  };
  Kind kind = Kind::kMissed;
  std::optional<absl::CivilDay> date;   // dated jobs
  std::optional<absl::Time> fire_time;  // interval jobs
  std::vector<std::string> run_ids;
  std::string text;  // one line for people
};
std::string_view Name(Finding::Kind kind);  // "missed", …

struct Range {
  std::optional<absl::CivilDay> from;  // biz_dates, of interval jobs local days; both inclusive
  std::optional<absl::CivilDay> to;
  bool narrowed = false;  // `from` is later than was asked for: the job fires too often
};

struct Verdict {
  std::vector<Finding> findings;  // by date or fire time
  int64_t judged = 0;             // due dates or fires that were looked at
  // The range had too many fires: what is later was not looked at.
  std::optional<absl::Time> judged_until;
};

// A date or fire is given so long before it must be accounted for.
inline constexpr absl::Duration kPatience = absl::Minutes(10);
// At most so many fires of one interval job are looked at.
inline constexpr size_t kMostFires = 100000;

// A range that can be looked at in a moment: from `asked.from`, or so many days before its end, or
// later when there would be more than kMostFires fires. Needs definitions, calendars and now alone.
Range Narrow(const History& history, const Range& asked, int days);

// Pure. Only what lies in `range` is judged; earlier dates count where order needs them. It answers
// from rows: work that goes on in an attempt which was judged lost, or released by force, is in
// none.
Verdict VerifyJob(const History& history, const Range& range);

}  // namespace tidemark::verify

#endif  // TIDEMARK_SCHEDULER_VERIFY_VERIFY_H_
