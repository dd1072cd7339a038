// A database for the watch that tests fill.
#ifndef TIDEMARK_TESTS_WATCH_FAKE_PORT_H_
#define TIDEMARK_TESTS_WATCH_FAKE_PORT_H_

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/time_text.h"
#include "scheduler/engine/watch_port.h"
#include "scheduler/watch/judge.h"

namespace tidemark {

inline absl::Time At(const std::string& instant) { return *ParseInstant(instant); }
inline absl::CivilDay Day(const std::string& date) { return *ParseDate(date); }

// Daily at 01:00 in Shanghai (17:00Z), for the day before, since 2026-11-01.
inline watch::Job DailyJob(int64_t id, const std::string& name) {
  watch::Job job;
  job.job_id = id;
  job.name = name;
  job.ns = "default";
  job.check_from = At("2026-11-01T00:00:00Z");
  job.ledger_from = Day("2026-11-01");
  watch::Version version;
  version.definition.version = 1;
  version.definition.valid_from = At("2026-11-01T00:00:00Z");
  version.definition.schedule.cron = "0 0 1 * * ?";
  version.definition.schedule.zone = "Asia/Shanghai";
  job.versions.push_back(version);
  return job;
}

class FakePort : public WatchPort {
 public:
  absl::Time now;
  absl::Status fails;
  std::map<int64_t, watch::Job> jobs;
  std::map<std::pair<int64_t, absl::CivilDay>, WatchDate> kept;
  std::map<std::string, AlertRaise> open;
  std::vector<AlertRaise> told;
  std::vector<WatchLook> looks;
  int pages = 0;
  size_t dates_asked = 0;
  WatchHealth health;
  absl::Duration late_asked;
  absl::Duration blind_asked;
  std::vector<PingState> pings;

  watch::Job Read(const WatchJob& job) const { return jobs.at(job.row.job_id); }

  // A verdict of the check, and what the watermark says.
  void Keep(int64_t job, const std::string& date, const std::string& status,
            const std::string& verdict, bool told_of = false) {
    WatchDate& row = kept[{job, Day(date)}];
    row.status = status;
    row.verdict = verdict;
    row.state = status.empty() ? "MISSING" : status;
    row.checked_at = now;
    row.told = told_of;
  }

  absl::StatusOr<WatchPage> Jobs(const std::string&, int64_t after, int limit) override {
    if (!fails.ok()) return fails;
    ++pages;
    WatchPage page;
    page.now = now;
    for (auto it = jobs.upper_bound(after); it != jobs.end(); ++it) {
      if (static_cast<int>(page.jobs.size()) == limit) {
        page.more = true;
        break;
      }
      WatchJob job;
      job.row.job_id = it->first;
      for (const auto& [key, alert] : open) {
        if (alert.job_name != it->second.name) continue;
        (alert.kind == "check_missing" ? job.open_missing : job.open_disagrees)
            .push_back(*alert.biz_date);
      }
      page.jobs.push_back(std::move(job));
    }
    return page;
  }
  absl::StatusOr<std::vector<WatchDate>> Dates(
      const std::vector<std::pair<int64_t, absl::CivilDay>>& dates) override {
    if (!fails.ok()) return fails;
    dates_asked += dates.size();
    std::vector<WatchDate> rows;
    for (const auto& key : dates) {
      WatchDate row = kept.count(key) > 0 ? kept.at(key) : WatchDate();
      row.job_id = key.first;
      row.date = key.second;
      rows.push_back(row);
    }
    return rows;
  }
  absl::Status Tell(const WatchFindings& findings) override {
    for (const AlertRaise& alert : findings.raise) {
      if (open.emplace(alert.dedup_key, alert).second) told.push_back(alert);
    }
    for (const std::string& key : findings.resolve) open.erase(key);
    return absl::OkStatus();
  }
  absl::Status Looked(const std::string&, const WatchLook& look) override {
    looks.push_back(look);
    return fails;
  }
  absl::StatusOr<WatchHealth> Health(absl::Duration late, absl::Duration blind_after) override {
    late_asked = late;
    blind_asked = blind_after;
    if (!fails.ok()) return fails;
    return health;
  }
  absl::Status Pinged(const std::string&, const PingState& state) override {
    pings.push_back(state);
    return fails;
  }
  void Close() override {}
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_WATCH_FAKE_PORT_H_
