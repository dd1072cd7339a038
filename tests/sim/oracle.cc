#include "tests/sim/oracle.h"

#include "common/time_text.h"

namespace tidemark::sim {

void Oracle::Blame(absl::Duration now, const std::string& what) {
  (now < pardon_until_ ? pardoned_ : violations_)
      .push_back("at " + DurationText(now) + ": " + what);
}

void Oracle::Entered(absl::Duration now, const std::string& occurrence, const std::string& process,
                     const std::string& attempt) {
  ++entered_;
  auto& inside = inside_[occurrence];
  for (const auto& [other, where] : inside) {
    Blame(now, occurrence + " entered twice at once: " + attempt + " in " + process + ", " + other +
                   " in " + where);
  }
  inside[attempt] = process;
  CheckLimit(now, occurrence);
}

void Oracle::CheckLimit(absl::Duration now, const std::string& occurrence) {
  const std::string job = occurrence.substr(0, occurrence.find('/'));
  const auto limit = limits_.find(job);
  if (limit == limits_.end()) return;
  std::string names;
  int count = 0;
  for (const auto& [other, inside] : inside_) {
    if (inside.empty() || other.substr(0, other.find('/')) != job) continue;
    ++count;
    names += " " + other;
  }
  if (count > limit->second) Blame(now, "too many runs of " + job + " at once:" + names);
}

void Oracle::Left(absl::Duration, const std::string& occurrence, const std::string&,
                  const std::string& attempt, bool succeeded) {
  inside_[occurrence].erase(attempt);
  if (succeeded) succeeded_.insert(occurrence);
}

bool Oracle::Died(const std::string& process) {
  bool inside_one = false;
  for (auto& [occurrence, inside] : inside_) {
    inside_one =
        std::erase_if(inside, [&](const auto& entry) { return entry.second == process; }) > 0 ||
        inside_one;
  }
  return inside_one;
}

void Oracle::CheckOrder(absl::Duration now, const std::string& job,
                        const std::vector<std::string>& before) {
  for (const std::string& occurrence : before) {
    if (!succeeded_.contains(occurrence)) {
      Blame(now, job + " went on although " + occurrence + " never succeeded");
      return;
    }
  }
}

void Oracle::CheckWatermarks(absl::Duration now, const MemoryStore& store) {
  for (const auto& [key, mark] : store.watermarks) {
    if (mark.status != "DONE") continue;
    const auto job = store.jobs.find(key.first);
    if (job == store.jobs.end()) continue;
    const std::string occurrence = job->second.name + "/" + FormatDate(key.second);
    if (!succeeded_.contains(occurrence)) Blame(now, occurrence + " is DONE, but never succeeded");
  }
}

void Oracle::CheckSettled(absl::Duration now, const MemoryStore& store, int64_t job_id,
                          const std::vector<absl::CivilDay>& due) {
  for (const absl::CivilDay date : due) {
    const auto it = store.watermarks.find({job_id, date});
    const std::string status = it == store.watermarks.end() ? "no row" : it->second.status;
    if (status != "DONE" && status != "WAIVED") {
      Blame(now, "job " + std::to_string(job_id) + " " + FormatDate(date) +
                     " is not settled: " + status);
    }
  }
}

void Oracle::CheckJudged(absl::Duration now, const MemoryStore& store, int64_t job_id,
                         const std::vector<absl::CivilDay>& expected) {
  for (const absl::CivilDay date : expected) {
    if (store.verdicts.contains({job_id, date})) continue;
    Blame(now, "job " + std::to_string(job_id) + " " + FormatDate(date) + " has no verdict");
  }
}

void Oracle::CheckTold(absl::Duration now, const MemoryStore& store) {
  std::map<std::string, int> told;
  for (const AlertRaise& alert : store.all_alerts) {
    if (alert.kind == "date_missed") ++told[alert.dedup_key];
  }
  for (const auto& [key, verdict] : store.verdicts) {
    const std::string alert =
        "date_missed/" + std::to_string(key.first) + "/" + FormatDate(key.second);
    const int times = told.contains(alert) ? told.at(alert) : 0;
    told.erase(alert);
    if (times != (verdict.row.verdict == "LATE" ? 1 : 0)) {
      Blame(now,
            alert + " was " + verdict.row.verdict + " and told so often: " + std::to_string(times));
    }
    const auto job = store.jobs.find(key.first);
    const auto mark = store.watermarks.find(key);
    // A moment ago: the next flush says so.
    const bool settled = mark != store.watermarks.end() &&
                         (mark->second.status == "DONE" || mark->second.status == "WAIVED") &&
                         mark->second.at < store.now - absl::Minutes(1);
    if ((settled || job == store.jobs.end()) && store.alerts.contains(alert)) {
      Blame(now, alert + " is not over");
    }
    // Over may also be that its calendar does not have the date any more.
    if (settled && job != store.jobs.end() && job->second.calendars == nullptr &&
        verdict.row.verdict == "LATE" && !verdict.settled_at.has_value()) {
      Blame(now, alert + " was settled, but the verdict does not say so");
    }
  }
  for (const auto& [alert, times] : told) Blame(now, alert + " has no verdict");
}

}  // namespace tidemark::sim
