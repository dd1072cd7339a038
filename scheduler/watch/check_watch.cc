#include "scheduler/watch/check_watch.h"

#include <algorithm>
#include <utility>

#include "common/status.h"

namespace tidemark {
namespace {

constexpr int kPage = 200;  // jobs
constexpr int kDays = 3;
// The scheduler that starts has its own to catch up with first.
constexpr absl::Duration kFirstAfter = absl::Minutes(5);
constexpr absl::Duration kTryAgain = absl::Seconds(30);

// A date about which something was told, and no longer is so.
void ResolveOthers(int64_t job_id, const std::vector<absl::CivilDay>& open,
                   const std::function<std::string(int64_t, absl::CivilDay)>& key_of,
                   const std::vector<AlertRaise>& raised, std::vector<std::string>* resolve) {
  for (const absl::CivilDay date : open) {
    std::string key = key_of(job_id, date);
    const bool still = std::any_of(raised.begin(), raised.end(),
                                   [&](const auto& alert) { return alert.dedup_key == key; });
    if (!still) resolve->push_back(std::move(key));
  }
}

}  // namespace

CheckWatch::CheckWatch(const WatchConfig& config, std::string node, Reader read, WatchPort& port,
                       Clock& clock, Random& random)
    : config_(config),
      node_(std::move(node)),
      read_(std::move(read)),
      port_(port),
      clock_(clock),
      random_(random),
      log_("watching the daily check"),
      next_(clock.Monotonic() + std::min(kFirstAfter, config.every)) {}

absl::Duration CheckWatch::Turn() {
  const absl::Duration now = clock_.Monotonic();
  if (now < next_) return next_ - now;
  absl::StatusOr<WatchLook> look = Look();
  absl::Status status = look.status();
  if (stopping_) return config_.every;
  WatchLook report = look.ok() ? *look : WatchLook();
  if (!look.ok()) report.error = Message(status);
  const absl::Status reported = port_.Looked(node_, report);
  if (status.ok()) status = reported;
  // A database that is away, or not migrated yet, is what the store tells of.
  if (!absl::IsUnavailable(status) && !absl::IsFailedPrecondition(status)) log_.Report(status);
  next_ = clock_.Monotonic() + (status.ok() ? config_.every : std::min(kTryAgain, config_.every));
  return next_ - clock_.Monotonic();
}

absl::StatusOr<WatchLook> CheckWatch::Look() {
  WatchLook look;
  int64_t after = 0;
  for (bool more = true; more && !stopping_;) {
    TM_ASSIGN_OR_RETURN(const WatchPage page, port_.Jobs(node_, after, kPage));
    TM_RETURN_IF_ERROR(JudgePage(page, &look));
    if (!page.jobs.empty()) after = page.jobs.back().row.job_id;
    more = page.more;
  }
  return look;
}

absl::Status CheckWatch::JudgePage(const WatchPage& page, WatchLook* look) {
  std::vector<std::pair<int64_t, absl::CivilDay>> asked;
  std::vector<watch::DateToJudge> judged;
  std::vector<size_t> job_of;
  std::vector<watch::Job> jobs;
  for (const WatchJob& row : page.jobs) {
    std::vector<absl::CivilDay> also = row.open_missing;
    also.insert(also.end(), row.open_disagrees.begin(), row.open_disagrees.end());
    jobs.push_back(read_(row));
    for (const watch::DateToJudge& date :
         watch::DatesToJudge(jobs.back(), page.now, config_.grace, kDays, also)) {
      asked.emplace_back(jobs.back().job_id, date.date);
      judged.push_back(date);
      job_of.push_back(jobs.size() - 1);
    }
  }
  std::vector<WatchDate> kept;
  if (!asked.empty()) {
    TM_ASSIGN_OR_RETURN(kept, port_.Dates(asked));
  }
  if (kept.size() != asked.size()) return absl::InternalError("not all dates were read");
  WatchFindings findings;
  for (size_t i = 0; i < kept.size(); ++i) {
    std::optional<AlertRaise> alert = watch::JudgeDate(jobs[job_of[i]], judged[i], kept[i]);
    if (!alert.has_value()) continue;
    alert->alert_id = NewUuid(page.now, random_);
    findings.raise.push_back(*std::move(alert));
  }
  for (const WatchJob& row : page.jobs) {
    ResolveOthers(row.row.job_id, row.open_missing, watch::MissingKey, findings.raise,
                  &findings.resolve);
    ResolveOthers(row.row.job_id, row.open_disagrees, watch::DisagreesKey, findings.raise,
                  &findings.resolve);
  }
  look->jobs += static_cast<int64_t>(page.jobs.size());
  look->dates += static_cast<int64_t>(asked.size());
  if (findings.raise.empty() && findings.resolve.empty()) return absl::OkStatus();
  return port_.Tell(findings);
}

}  // namespace tidemark
