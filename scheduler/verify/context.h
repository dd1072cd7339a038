// What the checks share: a history indexed for questions, and where findings are put.
#ifndef TIDEMARK_SCHEDULER_VERIFY_CONTEXT_H_
#define TIDEMARK_SCHEDULER_VERIFY_CONTEXT_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/verify/due_plan.h"
#include "scheduler/verify/verify.h"

namespace tidemark::verify {

// Rows of one moment are stamped by several hands: differences below it prove nothing.
inline constexpr absl::Duration kSlack = absl::Seconds(2);

// Lives for one VerifyJob; history and range must outlive it. Not thread-safe.
class Context {
 public:
  Context(const History& history, const Range& range);

  const History& history;
  const Range& range;
  const DuePlan plan;
  std::vector<std::pair<const Upstream*, DuePlan>> upstreams;
  std::map<absl::CivilDay, std::vector<const Run*>> runs_of_date;  // by created_at
  std::map<std::string, const Run*> run_by_id;
  Verdict out;

  bool InRange(absl::CivilDay date) const;
  bool InRange(const Run& run) const;
  // What was known when the run was made.
  const DuePlan& PlanOf(const Run& run);
  // The definition in force at that instant; the first one before any.
  const Definition& DefinitionAt(absl::Time at) const;
  // The definition under which the run was made.
  const Definition& DefinitionOf(const Run& run) const;
  // Whether the job may open anything now.
  bool Opens() const;
  void Add(Finding::Kind kind, std::optional<absl::CivilDay> date, std::optional<absl::Time> fire,
           std::vector<std::string> run_ids, std::string text);
  // The same about one run.
  void Blame(Finding::Kind kind, const Run& run, std::vector<std::string> run_ids,
             std::string text);

 private:
  std::map<std::pair<int, absl::Time>, std::unique_ptr<const DuePlan>> plans_;
};

// The date of another job that holds this one back, "job@date"; "": none does.
std::string WaitsFor(const Context& context, absl::CivilDay date);

// When the run's first trigger may have left; unset: it was in no executor's hands.
std::optional<absl::Time> FirstSent(const Run& run);
bool Settles(const Mark& mark);

// Each looks for its kinds of findings.
void CheckDates(Context& context);   // due dates and watermarks
void CheckFires(Context& context);   // fires of interval jobs
void CheckRuns(Context& context);    // each run, and runs of one occurrence
void CheckAtOnce(Context& context);  // runs of one job together
void CheckOrder(Context& context);   // strict order

}  // namespace tidemark::verify

#endif  // TIDEMARK_SCHEDULER_VERIFY_CONTEXT_H_
