#include "scheduler/store/flush_units.h"

#include <string_view>

#include "common/status.h"
#include "scheduler/store/database.h"

namespace tidemark {
namespace {

FlushUnit OfJob(int64_t job_id) { return {job_id, ""}; }
FlushUnit Other(std::string_view kind, const std::string& key) {
  return {0, std::string(kind) + " " + key};
}

FlushUnit UnitOf(const ExecutorRegister& r) { return Other("executor", r.executor_id); }
FlushUnit UnitOf(const RunClose& c) { return OfJob(c.run.occurrence.job_id); }
FlushUnit UnitOf(const Disarm& d) { return OfJob(d.job_id); }
FlushUnit UnitOf(const RunSkip& s) { return OfJob(s.run.occurrence.job_id); }
FlushUnit UnitOf(const RunOpen& o) { return OfJob(o.run.occurrence.job_id); }
FlushUnit UnitOf(const RunLaunch& l) { return OfJob(l.job_id); }
FlushUnit UnitOf(const RunUpdate& u) { return OfJob(u.run.occurrence.job_id); }
FlushUnit UnitOf(const AttemptEnd& a) { return OfJob(a.job_id); }
FlushUnit UnitOf(const WatermarkWrite& w) { return OfJob(w.job_id); }
FlushUnit UnitOf(const DueNote& n) { return OfJob(n.job_id); }
FlushUnit UnitOf(const CursorWrite& c) { return OfJob(c.job_id); }
FlushUnit UnitOf(const SkippedRange& s) { return OfJob(s.job_id); }
FlushUnit UnitOf(const JobUpdate& j) { return OfJob(j.job_id); }
FlushUnit UnitOf(const ExecutorState& e) { return Other("executor", e.executor_id); }
FlushUnit UnitOf(const VerdictWrite& v) { return OfJob(v.job_id); }
FlushUnit UnitOf(const VerdictSettled& v) { return OfJob(v.job_id); }
FlushUnit UnitOf(const AlertRaise& a) { return Other("alert", a.dedup_key); }
FlushUnit UnitOf(const AlertResolve& r) { return Other("resolve", r.prefix); }
FlushUnit UnitOf(const Audit& a) { return Other("audit", a.action + " " + a.subject); }
FlushUnit UnitOf(const CascadeOrder& c) { return OfJob(c.job_id); }
FlushUnit UnitOf(const UpstreamNews& n) { return OfJob(n.job_id); }
FlushUnit UnitOf(const BackfillWrite& b) { return OfJob(b.row.job_id); }
FlushUnit UnitOf(const DrillWrite& d) { return OfJob(d.job_id); }
FlushUnit UnitOf(const CommandDone& c) { return Other("command", c.command_id); }
FlushUnit UnitOf(const InboxWrite& w) { return Other("run", w.item.attempt.run_id); }
FlushUnit UnitOf(const AttemptRef& a) { return Other("run", a.run_id); }

// Calls `visit` with each list's member pointer: the one place that names them all.
template <typename Visit>
void ForEachList(const Visit& visit) {
  visit(&Flush::registers);
  visit(&Flush::closes);
  visit(&Flush::disarms);
  visit(&Flush::skips);
  visit(&Flush::opens);
  visit(&Flush::launches);
  visit(&Flush::updates);
  visit(&Flush::attempts);
  visit(&Flush::watermarks);
  visit(&Flush::notes);
  visit(&Flush::cursors);
  visit(&Flush::skipped);
  visit(&Flush::jobs);
  visit(&Flush::executors);
  visit(&Flush::verdicts);
  visit(&Flush::verdicts_settled);
  visit(&Flush::alerts);
  visit(&Flush::resolves);
  visit(&Flush::audits);
  visit(&Flush::cascades);
  visit(&Flush::news);
  visit(&Flush::backfills);
  visit(&Flush::drills);
  visit(&Flush::commands);
  visit(&Flush::inbox);
  visit(&Flush::inbox_taken);
}

class Search {
 public:
  Search(const Flush& flush, const std::function<absl::Status(const Flush&)>& probe,
         std::map<FlushUnit, absl::Status>* culprits)
      : flush_(flush), probe_(probe), culprits_(culprits) {}

  // Takes in as much of `units` as can be written together with what was taken in before.
  absl::Status Accept(const std::vector<FlushUnit>& units) {
    std::set<FlushUnit> tried = good_;
    tried.insert(units.begin(), units.end());
    const absl::Status status = probe_(Select(flush_, tried));
    if (status.ok()) {
      good_ = std::move(tried);
      return status;
    }
    if (!IsDataError(status)) return status;
    if (units.size() == 1) {
      culprits_->emplace(units.front(), status);
      return absl::OkStatus();
    }
    const auto middle = units.begin() + static_cast<std::ptrdiff_t>(units.size() / 2);
    TM_RETURN_IF_ERROR(Accept({units.begin(), middle}));
    return Accept({middle, units.end()});
  }

 private:
  const Flush& flush_;
  const std::function<absl::Status(const Flush&)>& probe_;
  std::map<FlushUnit, absl::Status>* const culprits_;
  std::set<FlushUnit> good_;
};

}  // namespace

std::vector<FlushUnit> UnitsOf(const Flush& flush) {
  std::set<FlushUnit> units;
  ForEachList([&](auto list) {
    for (const auto& element : flush.*list) units.insert(UnitOf(element));
  });
  return {units.begin(), units.end()};
}

Flush Select(const Flush& flush, const std::set<FlushUnit>& units) {
  Flush part;
  part.seq = flush.seq;
  ForEachList([&](auto list) {
    for (const auto& element : flush.*list) {
      if (units.count(UnitOf(element)) > 0) (part.*list).push_back(element);
    }
  });
  return part;
}

absl::Status FindCulprits(const Flush& flush,
                          const std::function<absl::Status(const Flush&)>& probe,
                          std::map<FlushUnit, absl::Status>* culprits) {
  const std::vector<FlushUnit> units = UnitsOf(flush);
  if (units.empty()) return absl::OkStatus();
  return Search(flush, probe, culprits).Accept(units);
}

}  // namespace tidemark
