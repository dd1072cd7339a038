#include "tests/chaos/verdict.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "common/clock.h"
#include "tests/chaos/chaos_base.h"

namespace tidemark {
namespace {

constexpr char kUnsettled[] =
    "SELECT j.name || ' ' || d.biz_date || ' ' || coalesce(w.status, 'MISSING') FROM due_date d "
    "JOIN job j ON j.job_id = d.job_id AND j.deleted_at IS NULL "
    "LEFT JOIN job_watermark w ON w.job_id = d.job_id AND w.biz_date = d.biz_date "
    "WHERE d.fire_time <= tidemark_now() AND coalesce(w.status, '') <> 'DONE' ORDER BY 1";
// An interval job that is behind by more than this has not caught up.
constexpr char kBehind[] =
    "SELECT j.name || ' is behind: ' || c.last_fire FROM job_cursor c JOIN job j "
    "ON j.job_id = c.job_id WHERE j.name LIKE '%tick-%' AND NOT j.paused "
    "AND c.last_fire < tidemark_now() - interval '5 s' ORDER BY 1";
// What a pause met before it was sent, or after a full executor refused it, waits for the job to be
// resumed.
constexpr char kLive[] =
    "SELECT job_name || '/' || occurrence || ' ' || status || ' attempt ' || attempt || ' on ' || "
    "coalesce(executor_id, '-') || ' held ' || held FROM active_run "
    "WHERE NOT (armed AND fire_time > tidemark_now()) AND NOT (status = 'PENDING' "
    "AND coalesce(executor_id, '') = '' AND EXISTS (SELECT 1 FROM job j WHERE j.job_id = "
    "active_run.job_id AND j.paused)) ORDER BY 1";

// A pause would keep it from its retry, and what is queued behind it from its turn.
constexpr char kOld[] =
    "SELECT job_name || '/' || occurrence || ' ' || status || ' attempt ' || attempt FROM "
    "active_run "
    "WHERE fire_time < tidemark_now() - interval '5 s' ORDER BY 1";

// What the statement still finds when time is over, as violations.
void Await(ChaosCluster& cluster, const std::string& statement, const std::string& what,
           absl::Duration patience, Verdict& verdict) {
  std::vector<std::string> left;
  const absl::Duration end = SystemClock().Monotonic() + patience;
  do {
    left = cluster.Rows(statement);
    (void)WaitFor([] { return false; }, absl::Milliseconds(200));
  } while (!left.empty() && SystemClock().Monotonic() < end);
  constexpr size_t kMost = 12;
  for (size_t i = 0; i < std::min(left.size(), kMost); ++i) {
    verdict.violations.push_back(what + left[i]);
  }
  if (left.size() > kMost) {
    verdict.violations.push_back(what + "and " + std::to_string(left.size() - kMost) + " more");
  }
}

void Add(const std::vector<std::string>& rows, const std::string& what, Verdict& verdict) {
  for (const std::string& row : rows) verdict.violations.push_back(what + row);
}

// What the tables call done, and what handlers did.
void Compare(ChaosCluster& cluster, bool commits_may_be_lost, Verdict& verdict) {
  std::set<std::string> recorded;
  for (std::string& row : cluster.Rows("SELECT job_name || '/' || occurrence FROM run_history "
                                       "WHERE status = 'COMPLETED'")) {
    recorded.insert(std::move(row));
  }
  std::vector<std::string> made_up, lost;
  const std::set<std::string>& done = verdict.journal.done_batches;
  std::set_difference(recorded.begin(), recorded.end(), done.begin(), done.end(),
                      std::back_inserter(made_up));
  std::set_difference(done.begin(), done.end(), recorded.begin(), recorded.end(),
                      std::back_inserter(lost));
  Add(made_up, "COMPLETED, and no handler did it: ", verdict);
  if (!commits_may_be_lost) Add(lost, "a handler did it, and it is not COMPLETED: ", verdict);
}

struct TakeOver {
  double seconds = 0;
  bool alone = true;  // no other fault meanwhile
};

// From a fault at a scheduler to the first fire of a job of its shards under a later epoch.
std::vector<TakeOver> TakeOvers(const std::vector<JournalLine>& lines, const Faults& faults,
                                FaultKind kind) {
  std::vector<TakeOver> found;
  for (const FaultRecord& fault : faults.records()) {
    if (fault.kind != kind) continue;
    std::map<std::string, std::string> epochs;  // of jobs, before it
    for (const JournalLine& line : lines) {
      if (line.event != "enter" || fault.jobs.count(line.job()) == 0) continue;
      if (line.seconds < fault.begin) {
        epochs[line.job()] = std::max(epochs[line.job()], line.epoch());
        continue;
      }
      if (line.epoch() <= epochs[line.job()] || epochs[line.job()].empty()) continue;
      TakeOver over{line.seconds - fault.begin, true};
      for (const FaultRecord& other : faults.records()) {
        const double end = other.end == 0 ? line.seconds : other.end;
        // What a fault did is not over with it: streams are opened anew, terms begin.
        if (&other != &fault && other.begin < line.seconds && end + 5 > fault.begin) {
          over.alone = false;
        }
      }
      found.push_back(over);
      break;
    }
  }
  std::sort(found.begin(), found.end(),
            [](const TakeOver& a, const TakeOver& b) { return a.seconds < b.seconds; });
  return found;
}

void ReportTakeOvers(const std::vector<JournalLine>& lines, const Faults& faults, FaultKind kind) {
  const std::vector<TakeOver> all = TakeOvers(lines, faults, kind);
  if (all.empty()) return;
  std::vector<double> alone;
  for (const TakeOver& one : all) {
    if (one.alone) alone.push_back(one.seconds);
  }
  std::printf("  %-20s %3zu: median %.1f s, longest %.1f s", Name(kind), all.size(),
              all[all.size() / 2].seconds, all.back().seconds);
  if (!alone.empty()) {
    std::printf("; with no other fault near %zu: median %.1f s, longest %.1f s", alone.size(),
                alone[alone.size() / 2], alone.back());
  }
  std::printf("\n");
}

}  // namespace

void Settle(ChaosCluster& cluster, absl::Duration patience, Verdict& verdict) {
  ChaosSay("all is healed: what is due must be settled");
  Await(cluster, kUnsettled, "not settled in time: ", patience, verdict);
  Await(cluster, kBehind, "not caught up in time: ", patience, verdict);
  Await(cluster, kOld, "not done in time: ", patience, verdict);
  for (const std::string& job :
       cluster.Rows("SELECT name FROM job WHERE name LIKE '%tick-%' AND deleted_at IS NULL")) {
    const auto answer = cluster.Cli({"job", "pause", job, "--reason", "the end"});
    if (answer.code != 0) verdict.violations.push_back("job pause " + job + ": " + answer.output);
  }
  Await(cluster, kLive, "still live: ", patience, verdict);
  // What the last ones made due.
  Await(cluster, kUnsettled, "not settled at last: ", absl::Seconds(30), verdict);
}

void Judge(ChaosCluster& cluster, const Faults& faults, bool commits_may_be_lost,
           Verdict& verdict) {
  ChaosSay("the oracles are asked");
  verdict.journal = JudgeJournal(ReadJournal(cluster.journal()), commits_may_be_lost);
  Add(verdict.journal.violations, "journal: ", verdict);
  Add(faults.surprises(), "", verdict);
  const auto verify = cluster.Cli({"job", "verify"});
  if (verify.code != 0) verdict.violations.push_back("job verify:\n" + verify.output);
  Add(cluster.Rows("SELECT job_name || '/' || occurrence || ' ' || count(*) FROM run_history "
                   "WHERE status = 'COMPLETED' GROUP BY job_name, occurrence "
                   "HAVING count(*) > 1 ORDER BY 1"),
      "completed more than once: ", verdict);
  Add(cluster.Rows("SELECT job_name || '/' || occurrence || ' ' || status || ' ' || message "
                   "FROM run_history WHERE status NOT IN ('COMPLETED', 'SKIPPED') ORDER BY 1"),
      "ended otherwise: ", verdict);
  Compare(cluster, commits_may_be_lost, verdict);
}

void Report(ChaosCluster& cluster, const Faults& faults, const Verdict& verdict) {
  const std::vector<JournalLine> lines = ReadJournal(cluster.journal());
  std::map<std::string, int> counts;
  int kills = 0;
  for (const FaultRecord& fault : faults.records()) {
    const std::string name = Name(fault.kind);
    ++counts[name];
    kills += name.rfind("kill", 0) == 0 ? 1 : 0;
  }
  std::printf("\nfaults (%zu, of them %d kills):\n", faults.records().size(), kills);
  for (const auto& [name, count] : counts) std::printf("  %4d  %s\n", count, name.c_str());
  std::printf("handlers entered %d times; %zu occurrences done (%d times)\n",
              verdict.journal.enters, verdict.journal.done_batches.size(), verdict.journal.done);
  std::printf(
      "dates done: %s; runs in history: %s, of interval jobs %s; fires skipped by policy: "
      "%s\n",
      cluster.Sql("SELECT count(*) FROM job_watermark WHERE status = 'DONE'").c_str(),
      cluster.Sql("SELECT count(*) FROM run_history").c_str(),
      cluster.Sql("SELECT count(*) FROM run_history WHERE biz_date IS NULL").c_str(),
      cluster.Sql("SELECT coalesce(sum(fires), 0) FROM skipped_range").c_str());
  std::printf("run again because the executor was killed before its result was on disk: %d\n",
              verdict.journal.again_after_kill);
  if (verdict.journal.again_after_failover > 0) {
    std::printf("run again because a fail-over lost commits: %d\n",
                verdict.journal.again_after_failover);
  }
  std::printf("take-over: from the fault to the first fire of a lost shard\n");
  for (const FaultKind kind :
       {FaultKind::kKillScheduler, FaultKind::kStopScheduler, FaultKind::kRestartScheduler}) {
    ReportTakeOvers(lines, faults, kind);
  }
  std::printf("violations: %zu\n", verdict.violations.size());
  for (const std::string& violation : verdict.violations) {
    std::printf("  %s\n", violation.c_str());
  }
  std::fflush(stdout);
}

}  // namespace tidemark
