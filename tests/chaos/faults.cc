#include "tests/chaos/faults.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "tests/chaos/chaos_base.h"

namespace tidemark {
namespace {

// How often each, in proportion.
constexpr int kWeights[kFaultKinds] = {12, 10, 5, 4, 5, 4, 5, 8, 5, 6, 3, 4, 5, 5, 2};
constexpr double kLeaveWithin = 90;  // seconds from SIGTERM: draining takes a minute at most

bool AtScheduler(FaultKind kind) {
  switch (kind) {
    case FaultKind::kKillScheduler:
    case FaultKind::kStopScheduler:
    case FaultKind::kRestartScheduler:
    case FaultKind::kSlowLinks:
    case FaultKind::kLoneNode:
    case FaultKind::kCutDatabase:
    case FaultKind::kSilentDatabase:
      return true;
    default:
      return false;
  }
}

bool AtExecutor(FaultKind kind) {
  return kind == FaultKind::kKillExecutor || kind == FaultKind::kStopExecutor ||
         kind == FaultKind::kRestartExecutor;
}

bool AtLink(FaultKind kind) {
  return kind == FaultKind::kCutLink || kind == FaultKind::kRefuseLink ||
         kind == FaultKind::kSilentLink;
}

}  // namespace

const char* Name(FaultKind kind) {
  constexpr const char* kNames[kFaultKinds] = {
      "kill -9 scheduler", "kill -9 executor", "SIGSTOP scheduler",   "SIGSTOP executor",
      "SIGTERM scheduler", "SIGTERM executor", "kill -9 primary",     "link cut",
      "link refused",      "link silent",      "links slow",          "scheduler without executors",
      "database cut",      "database silent",  "database clock + 1 d"};
  return kNames[static_cast<int>(kind)];
}

Faults::Faults(ChaosCluster& cluster, uint64_t seed, const FaultTimes& times)
    : cluster_(cluster), random_(seed), times_(times) {}

double Faults::Between(const double (&bounds)[2]) {
  return std::uniform_real_distribution<>(bounds[0], bounds[1])(random_);
}

const std::string& Faults::One(const std::vector<std::string>& names) {
  return names[std::uniform_int_distribution<size_t>(0, names.size() - 1)(random_)];
}

FaultKind Faults::Choose() {
  std::discrete_distribution<int> kinds(std::begin(kWeights), std::end(kWeights));
  return static_cast<FaultKind>(kinds(random_));
}

bool Faults::Busy(const std::string& target) const {
  return std::any_of(active_.begin(), active_.end(), [&](const Active& active) {
    return records_[active.record].target == target;
  });
}

void Faults::Step(double now) {
  LookForSurprises();
  for (size_t i = 0; i < active_.size();) {
    if (!active_[i].step(now, false)) {
      ++i;
      continue;
    }
    records_[active_[i].record].end = now;
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (next_ == 0) {
    next_ = now + Between(times_.gap);
    next_failover_ = now + times_.failover_every / 2;
    next_clock_step_ = now + times_.clock_step_every / 2;
  }
  if (now < next_) return;
  next_ = now + Between(times_.gap);
  Begin(now);
}

void Faults::Begin(double now) {
  constexpr size_t kMostAtOnce = 4;
  const FaultKind kind = Choose();
  std::string target = "postgres";
  if (AtScheduler(kind)) target = One(cluster_.schedulers());
  if (AtExecutor(kind)) target = One(cluster_.executors());
  if (AtLink(kind)) target = One(cluster_.executors()) + " " + One(cluster_.schedulers());
  if (active_.size() >= kMostAtOnce || Busy(target)) return;
  // One scheduler is left alone, if there are several: what all suffer at once is another test.
  const auto suffering = std::count_if(active_.begin(), active_.end(), [&](const Active& active) {
    return AtScheduler(records_[active.record].kind);
  });
  const auto most =
      std::max<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(cluster_.schedulers().size()) - 1);
  if (AtScheduler(kind) && suffering >= most) return;
  FaultRecord record{kind, target, now, 0, {}};
  if (AtScheduler(kind)) {
    for (const std::string& job : cluster_.Rows(
             "SELECT j.name FROM job j JOIN shard s ON s.shard = j.shard WHERE s.node_id = '" +
             target + "' AND j.deleted_at IS NULL AND j.name LIKE 'tick-%'")) {
      record.jobs.insert(job);
    }
  }
  auto step = Make(kind, target, now);
  if (step == nullptr) return;
  ChaosSay(std::string(Name(kind)) + ": " + target);
  records_.push_back(std::move(record));
  active_.push_back({records_.size() - 1, std::move(step)});
}

std::function<bool(double, bool)> Faults::Make(FaultKind kind, const std::string& target,
                                               double now) {
  switch (kind) {
    case FaultKind::kKillScheduler:
    case FaultKind::kKillExecutor:
      cluster_.Kill(target);
      return Down(target, now);
    case FaultKind::kStopScheduler:
    case FaultKind::kStopExecutor:
      cluster_.Signal(target, SIGSTOP);
      return Until(now + Between(times_.stopped),
                   [this, target] { cluster_.Signal(target, SIGCONT); });
    case FaultKind::kRestartScheduler:
    case FaultKind::kRestartExecutor:
      cluster_.Terminate(target);
      return Leave(target, now);
    case FaultKind::kCutLink:
    case FaultKind::kRefuseLink:
    case FaultKind::kSilentLink:
    case FaultKind::kSlowLinks:
    case FaultKind::kLoneNode:
      return OnLink(kind, target, now);
    default:
      return OnDatabase(kind, target, now);
  }
}

std::function<bool(double, bool)> Faults::Until(double end, std::function<void()> what) const {
  return [end, what = std::move(what)](double now, bool heal) {
    if (now < end && !heal) return false;
    what();
    return true;
  };
}

std::function<bool(double, bool)> Faults::Down(const std::string& target, double now) {
  down_.insert(target);
  const double length = Chance(0.25) ? Between(times_.long_down) : Between(times_.down);
  return Until(now + length, [this, target] {
    down_.erase(target);
    cluster_.Start(target);
  });
}

std::function<bool(double, bool)> Faults::Leave(const std::string& target, double now) {
  down_.insert(target);
  return [this, target, now](double at, bool heal) {
    if (heal) WaitFor([&] { return !cluster_.Running(target); }, absl::Seconds(kLeaveWithin));
    const int code = cluster_.Ended(target);
    if (code == -1) {
      if (!heal && at < now + kLeaveWithin) return false;
      surprises_.push_back(target + " does not end on SIGTERM");
      cluster_.Kill(target);
    } else if (code != 0) {
      surprises_.push_back(target + " ended on SIGTERM with " + std::to_string(code));
    }
    down_.erase(target);
    cluster_.Start(target);
    return true;
  };
}

std::function<bool(double, bool)> Faults::OnLink(FaultKind kind, const std::string& target,
                                                 double now) {
  if (!AtLink(kind)) {
    LinkProxy& all = cluster_.link(target);
    const double end = now + Between(times_.silent);
    if (kind == FaultKind::kSlowLinks) {
      constexpr double kSlow[2] = {0.05, 0.5};
      const absl::Duration delay = absl::Seconds(Between(kSlow));
      for (const std::string& executor : cluster_.executors()) all.Delay(executor, delay);
      return Until(end, [this, &all] {
        for (const std::string& executor : cluster_.executors()) {
          all.Delay(executor, absl::ZeroDuration());
        }
      });
    }
    for (const std::string& executor : cluster_.executors()) all.Set(executor, LinkState::kSilent);
    return Until(end, [this, &all] {
      for (const std::string& executor : cluster_.executors()) all.Set(executor, LinkState::kOpen);
    });
  }
  const std::string executor = target.substr(0, target.find(' '));
  LinkProxy& link = cluster_.link(target.substr(target.find(' ') + 1));
  link.Set(executor, kind == FaultKind::kSilentLink ? LinkState::kSilent : LinkState::kRefused);
  const double moment = 0.05;
  const double end = now + (kind == FaultKind::kCutLink ? moment : Between(times_.silent));
  return Until(end, [executor, &link] { link.Set(executor, LinkState::kOpen); });
}

std::function<bool(double, bool)> Faults::OnDatabase(FaultKind kind, const std::string& target,
                                                     double now) {
  if (kind == FaultKind::kCutDatabase) {
    cluster_.CutDatabase(target);
    return Until(now, [] {});
  }
  if (kind == FaultKind::kSilentDatabase) {
    cluster_.SilenceDatabase(target, true);
    return Until(now + Between(times_.silent),
                 [this, target] { cluster_.SilenceDatabase(target, false); });
  }
  if (kind == FaultKind::kClockStep) {
    if (now < next_clock_step_) return nullptr;
    next_clock_step_ = now + times_.clock_step_every;
    cluster_.MoveTime(absl::Hours(24) * ++days_ahead_);
    return Until(now, [] {});
  }
  if (now < next_failover_ || !cluster_.postgres().HasStandby()) return nullptr;
  next_failover_ = now + times_.failover_every;
  cluster_.FailOver();
  return Until(now + Between(times_.down), [this] { cluster_.postgres().Rebuild(); });
}

void Faults::LookForSurprises() {
  for (const auto* names : {&cluster_.schedulers(), &cluster_.executors()}) {
    for (const std::string& name : *names) {
      if (down_.count(name) != 0) continue;
      const int code = cluster_.Ended(name);
      if (code == -1) continue;
      surprises_.push_back(name + " ended by itself with " + std::to_string(code) + ", see " +
                           cluster_.Path(name + ".log"));
      ChaosSay(surprises_.back());
      constexpr size_t kMost = 20;
      if (surprises_.size() > kMost) ChaosDie("processes end again and again");
      cluster_.Start(name);
    }
  }
}

void Faults::Heal() {
  for (Active& active : active_) active.step(0, true);
  active_.clear();
  LookForSurprises();
}

}  // namespace tidemark
