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
  const std::string text = name + std::to_string(id) + "#" + std::to_string(++last_edit_);
  JobRow& row = Store().jobs[id];
  row.job_id = id;
  row.name = name;
  row.ns = "default";
  row.app = "app";
  row.shard = static_cast<int>(id * 37 % kShards);  // whichever way shards are shared out
  row.version = 1;
  row.created_at = DbNow();
  row.versions.push_back({1, row.created_at, text});
  if (!spec.schedule.calendar.empty()) {
    row.calendars = std::make_shared<const CalendarSet>(calendars_);
  }
  KeepAfter(id, spec);
  specs_[text] = std::move(spec);
  job_ids_[name] = id;
}

void Simulation::KeepAfter(int64_t job_id, const JobSpec& spec) {
  std::erase_if(Store().after, [&](const auto& entry) { return entry.second.first == job_id; });
  for (const Dependency& d : spec.after) Store().after.emplace(d.job, std::pair(job_id, d.offset));
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
  return specs_.at(Store().jobs.at(job_ids_.at(name)).versions.back().spec);
}

// Later than the version before it, whatever the clock did.
absl::Time Simulation::EditTime(const std::string& name) const {
  const JobRow& row = Store().jobs.at(job_ids_.at(name));
  return std::max(DbNow(), row.versions.back().valid_from + absl::Microseconds(1));
}

void Simulation::Edit(const std::string& name, const JobSpec& spec) {
  JobRow& row = Store().jobs.at(job_ids_.at(name));
  const absl::Time at = EditTime(name);
  ++row.version;
  // A fail-over may forget an edit, and its number.
  const std::string text = name + std::to_string(row.job_id) + "#" + std::to_string(++last_edit_);
  specs_[text] = spec;
  KeepAfter(row.job_id, spec);
  row.versions.push_back({row.version, at, text});
  Order(row.job_id, "job_changed", {});
}

void Simulation::ImportCalendar(const std::vector<absl::CivilDay>& closed, bool retroactive) {
  CalendarHistory& history = calendars_["cn"];
  Calendar::Spec spec;
  spec.name = "cn";
  spec.version = static_cast<int>(history.size()) + 1;
  spec.dates = closed;
  absl::Time at = DbNow();
  if (!history.empty()) at = std::max(at, history.back().valid_from + absl::Microseconds(1));
  history.push_back(
      {at, retroactive, std::make_shared<const Calendar>(*Calendar::Make(std::move(spec)))});
  for (auto& [id, row] : Store().jobs) {
    if (row.calendars == nullptr) continue;
    row.calendars = std::make_shared<const CalendarSet>(calendars_);
    Order(id, "job_changed", {});
  }
}

std::string Simulation::Order(int64_t job_id, const std::string& kind,
                              std::map<std::string, std::string> args) {
  Command command;
  command.command_id = "order" + std::to_string(++last_order_);
  command.job_id = job_id;
  command.kind = kind;
  command.args = std::move(args);
  command.actor = "simulation";
  primary_->rows.orders[command.command_id] = command;
  return command.command_id;
}

void Simulation::AddNode(int number) {
  const std::string name = "n" + std::to_string(number);
  SimNode::Outside outside;
  outside.server = [this, name] { return ServerOf(name); };
  outside.send = [this, name](const Outbound& message) { ToExecutor(NodeOf(name), message); };
  outside.close = [this](StreamId stream) { Break(stream); };
  outside.about_to_send = [this, name] { PauseBeforeSending(NodeOf(name)); };
  outside.committing = [this, name](const Flush& flush) {
    return DisturbCommit(NodeOf(name), flush);
  };
  outside.left = [this, name] {
    BreakIf([&](const Link& link) { return link.node->name() == name; });
  };
  outside.told = [this](const std::string& text) { Trace(text); };
  outside.nodes = [this, name] { TellNodes(NodeOf(name)); };
  outside.notify = [this](const SimServer& server, const std::vector<std::string>& upstreams) {
    for (const auto& node : nodes_) node->Notified(server, upstreams);
  };
  const double rate = 1 + 1e-4 * (2 * random_.Uniform() - 1);
  nodes_.push_back(
      std::make_unique<SimNode>(name, rate, queue_, random_, MakeDecoders(), std::move(outside)));
}

std::shared_ptr<SimServer> Simulation::ServerOf(const std::string& node) const {
  if (old_primary_ != nullptr && stays_with_old_.contains(node)) return old_primary_;
  return queue_.now() < database_down_until_ ? nullptr : primary_;
}

void Simulation::AddExecutor(const std::string& name, const std::string& id, bool interruptible) {
  SimExecutor::Facts facts{name, id, interruptible, 1 + 1e-4 * (2 * random_.Uniform() - 1), {}};
  for (const auto& node : nodes_) facts.nodes.push_back(node->name());
  // The last one is learned from the others.
  if (facts.nodes.size() > 2) facts.nodes.pop_back();
  SimExecutor::Outside outside;
  outside.dial = [this](SimExecutor& from, exec::LinkId link, const std::string& node) {
    Dial(from, link, node);
  };
  outside.send = [this](SimExecutor& from, exec::LinkId link, const v1::ExecutorMessage& message) {
    ToNode(from, link, message);
  };
  outside.close = [this](SimExecutor& from, exec::LinkId link) { Break(StreamOf(from, link)); };
  outside.close_all = [this](SimExecutor& from) {
    BreakIf([&](const Link& link) { return link.executor == &from; });
  };
  outside.entering = [this](const SimExecutor& by, const v1::Trigger& trigger) {
    CheckEpoch(by, trigger);
    CheckEntering(trigger);
  };
  outside.left = [this] { Focus(); };
  outside.acknowledged = [this](const std::string& run_id, int attempt) {
    CheckAcknowledged(run_id, attempt);
  };
  executors_.push_back(std::make_unique<SimExecutor>(std::move(facts), queue_, random_, oracle_,
                                                     std::move(outside)));
  executors_.back()->odds = {0.05, 0.15, interruptible ? 0.1 : 0.5, absl::Seconds(20),
                             interruptible ? 0 : 0.2};
  // Long enough to outlive a lost contact.
  if (!interruptible || random_.Uniform() < 0.5) executors_.back()->odds.mean = absl::Minutes(10);
}

}  // namespace tidemark::sim
