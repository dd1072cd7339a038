// Jobs, calendars and executors of the simulated world.
#include <algorithm>
#include <utility>

#include "common/time_text.h"
#include "tests/sim/simulation.h"

namespace tidemark::sim {

Decoders Simulation::MakeDecoders() {
  return {[this](const std::string& text) -> absl::StatusOr<JobSpec> { return specs_.at(text); },
          [](const std::string&) { return std::map<std::string, std::string>{}; }};
}

void Simulation::AddJob(const std::string& name, JobSpec spec) {
  const int64_t id = ++last_job_id_;
  const std::string text = name + std::to_string(id) + "#1";
  JobRow& row = store_.jobs[id];
  row.job_id = id;
  row.name = name;
  row.ns = "default";
  row.app = "app";
  row.version = 1;
  row.created_at = scheduler_->DbNow();
  row.versions.push_back({1, row.created_at, text});
  if (!spec.schedule.calendar.empty()) {
    row.calendars = std::make_shared<const CalendarSet>(calendars_);
  }
  KeepAfter(id, spec);
  specs_[text] = std::move(spec);
  job_ids_[name] = id;
}

void Simulation::KeepAfter(int64_t job_id, const JobSpec& spec) {
  std::erase_if(store_.after, [&](const auto& entry) { return entry.second.first == job_id; });
  for (const Dependency& d : spec.after) store_.after.emplace(d.job, std::pair(job_id, d.offset));
}

void Simulation::AddDailyJob(const std::string& name, CatchUpOrder order,
                             const std::string& calendar) {
  JobSpec spec = EngineHarness::DailyJob(name, "2026-11-16");
  spec.schedule.calendar = calendar;
  spec.catch_up.order = order;
  spec.catch_up.parallelism = 2;
  spec.routing.strategy =
      random_.Uniform() < 0.5 ? RoutingStrategy::kLeastBusy : RoutingStrategy::kRoundRobin;
  // Between two and eight in the morning, or as it is without a word: at nine.
  if (random_.Uniform() < 0.7) spec.expected_by = absl::Hours(2 + random_.Next() % 7);
  oracle_.Limit(name, order == CatchUpOrder::kStrict ? 1 : spec.catch_up.parallelism);
  AddJob(name, std::move(spec));
}

void Simulation::AddReportJob() {
  JobSpec spec = EngineHarness::DailyJob("report", "2026-11-16");
  spec.schedule.cron = "0 0 3 * * ?";
  spec.after = {{"strict", 0}, {"loose", 0}};
  spec.catch_up.order =
      random_.Uniform() < 0.5 ? CatchUpOrder::kStrict : CatchUpOrder::kIndependent;
  spec.catch_up.parallelism = 2;
  oracle_.Limit("report", spec.catch_up.order == CatchUpOrder::kStrict ? 1 : 2);
  AddJob("report", std::move(spec));
}

void Simulation::AddBeatJob() {
  JobSpec spec = EngineHarness::DailyJob("beat", "");
  spec.schedule.cron = "0 0/15 * * * ?";
  spec.misfire.policy =
      random_.Uniform() < 0.5 ? MisfirePolicy::kFireOnce : MisfirePolicy::kFireAll;
  constexpr BlockingPolicy kPolicies[] = {BlockingPolicy::kSerial, BlockingPolicy::kDiscardLater,
                                          BlockingPolicy::kCoverEarly, BlockingPolicy::kConcurrent};
  spec.blocking.policy = kPolicies[random_.Next() % 4];
  spec.blocking.concurrent = 2;
  oracle_.Limit("beat", spec.blocking.policy == BlockingPolicy::kConcurrent ? 2 : 1);
  AddJob("beat", std::move(spec));
}

const JobSpec& Simulation::NewestSpec(const std::string& name) const {
  return specs_.at(store_.jobs.at(job_ids_.at(name)).versions.back().spec);
}

// Later than the version before it, whatever the clock did.
absl::Time Simulation::EditTime(const std::string& name) const {
  const JobRow& row = store_.jobs.at(job_ids_.at(name));
  return std::max(scheduler_->DbNow(), row.versions.back().valid_from + absl::Microseconds(1));
}

void Simulation::Edit(const std::string& name, const JobSpec& spec) {
  JobRow& row = store_.jobs.at(job_ids_.at(name));
  const absl::Time at = EditTime(name);
  ++row.version;
  const std::string text = name + std::to_string(row.job_id) + "#" + std::to_string(row.version);
  specs_[text] = spec;
  KeepAfter(row.job_id, spec);
  row.versions.push_back({row.version, at, text});
  scheduler_->Order(row.job_id, "job_changed", {});
}

void Simulation::ImportCalendar(const std::vector<absl::CivilDay>& closed, bool retroactive) {
  CalendarHistory& history = calendars_["cn"];
  Calendar::Spec spec;
  spec.name = "cn";
  spec.version = static_cast<int>(history.size()) + 1;
  spec.dates = closed;
  absl::Time at = scheduler_->DbNow();
  if (!history.empty()) at = std::max(at, history.back().valid_from + absl::Microseconds(1));
  history.push_back(
      {at, retroactive, std::make_shared<const Calendar>(*Calendar::Make(std::move(spec)))});
  for (auto& [id, row] : store_.jobs) {
    if (row.calendars == nullptr) continue;
    row.calendars = std::make_shared<const CalendarSet>(calendars_);
    scheduler_->Order(id, "job_changed", {});
  }
}

void Simulation::AddExecutor(const std::string& name, const std::string& id, bool interruptible) {
  executors_.push_back(std::make_unique<SimExecutor>(
      name, id, interruptible, queue_, random_, oracle_,
      SimExecutor::Outside{
          [this](SimExecutor& executor) { Dial(executor); },
          [this](SimExecutor& executor, const v1::ExecutorMessage& message) {
            ToScheduler(executor, message);
          },
          [this](SimExecutor& executor) { CloseStream(links_[executor.id()].stream); },
          [this](const v1::Trigger& trigger) { CheckEntering(trigger); }, [this] { Focus(); },
          [this](const std::string& run_id, int attempt) { CheckAcknowledged(run_id, attempt); }}));
  executors_.back()->odds = {0.05, 0.15, interruptible ? 0.1 : 0.5, absl::Seconds(20)};
  // Long enough to outlive a lost contact.
  if (!interruptible || random_.Uniform() < 0.3) executors_.back()->odds.mean = absl::Minutes(8);
}

}  // namespace tidemark::sim
