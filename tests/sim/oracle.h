// What must hold, judged from what the handlers did and what the store kept, never from what the
// product says of itself.
#ifndef TIDEMARK_TESTS_SIM_ORACLE_H_
#define TIDEMARK_TESTS_SIM_ORACLE_H_

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "tests/engine/harness.h"

namespace tidemark::sim {

class Oracle {
 public:
  // A handler is entered or left. `process`: which one, a new name for each start of an executor.
  void Entered(absl::Duration now, const std::string& occurrence, const std::string& process,
               const std::string& attempt);
  void Left(absl::Duration now, const std::string& occurrence, const std::string& process,
            const std::string& attempt, bool succeeded);
  // The process is gone, and its handlers with it. True: it was inside one.
  bool Died(const std::string& process);

  // Strict order: `date` may be entered only when all of `before` have succeeded some time.
  void CheckOrder(absl::Duration now, const std::string& job,
                  const std::vector<std::string>& before);
  // A person has said that the date need not run: order passes it, and it may be DONE by that word.
  void Excuse(const std::string& occurrence) { succeeded_.insert(occurrence); }
  // So many occurrences of the job may be inside handlers together.
  void Limit(const std::string& job, int at_once) { limits_[job] = at_once; }
  // No watermark is ahead of its runs.
  void CheckWatermarks(absl::Duration now, const MemoryStore& store);
  // Every one of `due` is DONE or waived.
  void CheckSettled(absl::Duration now, const MemoryStore& store, int64_t job_id,
                    const std::vector<absl::CivilDay>& due);

  // Every one of `expected` has a verdict.
  void CheckJudged(absl::Duration now, const MemoryStore& store, int64_t job_id,
                   const std::vector<absl::CivilDay>& expected);
  // Each date that was LATE was told once, no other was, and what is settled is told no more.
  void CheckTold(absl::Duration now, const MemoryStore& store);

  // Until then what is seen is a documented limit, and counted apart.
  void Pardon(absl::Duration until) { pardon_until_ = std::max(pardon_until_, until); }

  const std::vector<std::string>& violations() const { return violations_; }
  const std::vector<std::string>& pardoned() const { return pardoned_; }
  size_t entered() const { return entered_; }
  void Blame(absl::Duration now, const std::string& what);

 private:
  void CheckLimit(absl::Duration now, const std::string& occurrence);

  std::map<std::string, std::map<std::string, std::string>>
      inside_;  // occurrence → attempt → process
  std::set<std::string> succeeded_;
  std::map<std::string, int> limits_;
  std::vector<std::string> violations_;
  std::vector<std::string> pardoned_;
  absl::Duration pardon_until_;
  size_t entered_ = 0;
};

}  // namespace tidemark::sim

#endif  // TIDEMARK_TESTS_SIM_ORACLE_H_
