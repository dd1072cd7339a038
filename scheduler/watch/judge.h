// The judgement of the watch: which due dates must have a verdict of the daily check by now, and
// whether what they have can be right. Its own reading of when a date is expected.
#ifndef TIDEMARK_SCHEDULER_WATCH_JUDGE_H_
#define TIDEMARK_SCHEDULER_WATCH_JUDGE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scheduler/engine/watch_port.h"
#include "scheduler/verify/history.h"

namespace tidemark::watch {

// A version of a job's definition as the oracle and the watch read it.
struct Version {
  verify::Definition definition;
  std::optional<absl::Duration> expected_by;  // since midnight
};

// A job whose texts were read.
struct Job {
  int64_t job_id = 0;
  std::string name;
  std::string ns;
  absl::Time check_from;
  // Neither checked nor watched: it is in error, or opens nothing and never did.
  bool silent = false;
  std::optional<absl::CivilDay> ledger_from;
  std::vector<Version> versions;  // oldest first
  std::map<std::string, std::vector<verify::Edition>> calendars;
};

// A date that must have its verdict by now.
struct DateToJudge {
  absl::CivilDay date;
  absl::Time due;
  absl::Time expected;
};

// When a date that is due at `due` is expected to be done: by `expected_by` of the local day (of
// the next one when that is earlier), else by the later of 09:00 and two hours after it was due.
absl::Time ExpectedAt(absl::Time due, absl::TimeZone zone,
                      std::optional<absl::Duration> expected_by);

// Dates that were due within `days` before `now`, and `also`, whose verdict is overdue by more than
// `grace`. Empty for interval jobs.
std::vector<DateToJudge> DatesToJudge(const Job& job, absl::Time now, absl::Duration grace,
                                      int days, const std::vector<absl::CivilDay>& also);

// What is wrong with what is kept of a date, or nullopt. Without id.
std::optional<AlertRaise> JudgeDate(const Job& job, const DateToJudge& judged,
                                    const WatchDate& kept);

// The keys of the two alerts about a date.
std::string MissingKey(int64_t job_id, absl::CivilDay date);
std::string DisagreesKey(int64_t job_id, absl::CivilDay date);

}  // namespace tidemark::watch

#endif  // TIDEMARK_SCHEDULER_WATCH_JUDGE_H_
