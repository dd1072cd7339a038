#include "scheduler/rpc/dependencies.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "common/status.h"
#include "common/text.h"

namespace tidemark {
namespace {

constexpr size_t kMaxChain = 200;

using Edges = std::map<std::string, std::vector<std::string>>;

std::vector<std::string> AfterNames(const JobSpec& spec) {
  std::vector<std::string> names;
  names.reserve(spec.after.size());
  for (const Dependency& d : spec.after) names.push_back(d.job);
  return names;
}

// Names that edges lead to and that are not yet read.
std::vector<std::string> Unread(const Edges& edges) {
  std::set<std::string> unread;
  for (const auto& [name, after] : edges) {
    for (const std::string& job : after) {
      if (edges.count(job) == 0) unread.insert(job);
    }
  }
  return {unread.begin(), unread.end()};
}

// Follows `edges` from `name`; returns the way round when it leads back to a name on the way.
std::string FindCycle(const Edges& edges, const std::string& name, std::vector<std::string>* way,
                      std::set<std::string>* safe) {
  if (safe->count(name) > 0) return "";
  const auto on_way = std::find(way->begin(), way->end(), name);
  if (on_way != way->end()) {
    return Join(std::vector<std::string>(on_way, way->end()), " → ") + " → " + name;
  }
  way->push_back(name);
  if (const auto found = edges.find(name); found != edges.end()) {
    for (const std::string& next : found->second) {
      if (std::string cycle = FindCycle(edges, next, way, safe); !cycle.empty()) return cycle;
    }
  }
  way->pop_back();
  safe->insert(name);
  return "";
}

absl::Status NoUpstream(OperatorPort& store, const std::string& name) {
  std::string message = "after: there is no job '" + EscapeControl(name) + "'";
  // A hint only: without it the answer is still right.
  if (const absl::StatusOr<std::vector<std::string>> names = store.SimilarJobs(name); names.ok()) {
    if (const std::string near = Nearest(name, *names); !near.empty()) {
      message += "; did you mean '" + near + "'?";
    }
  }
  return Invalid(message + "; apply it first, or in the same file");
}

// Whoever may not see a job cannot begin to wait for it; what waits for one already may go on.
absl::Status CheckForeign(OperatorPort& store, const std::vector<const JobSpec*>& specs,
                          const StoredUpstreams& stored) {
  std::vector<std::string> wanted;
  std::vector<std::string> names;
  for (const JobSpec* spec : specs) {
    names.push_back(spec->name);
    for (const Dependency& d : spec->after) {
      if (stored.jobs.count(d.job) > 0) wanted.push_back(d.job);
    }
  }
  if (wanted.empty()) return absl::OkStatus();
  std::set<std::string> known;
  TM_ASSIGN_OR_RETURN(const std::vector<OperatorJob> seen, store.FindJobs(wanted));
  for (const OperatorJob& job : seen) known.insert(job.name);
  if (known.size() < wanted.size()) {
    TM_ASSIGN_OR_RETURN(std::vector<OperatorJob> before, store.FindJobs(names));
    for (OperatorJob& job : before) {
      for (const Dependency& d : LoadJob(std::move(job)).spec.after) known.insert(d.job);
    }
  }
  for (const std::string& name : wanted) {
    if (known.count(name) == 0) return NoUpstream(store, name);
  }
  return absl::OkStatus();
}

// All jobs that hang together with `job`, by name.
absl::StatusOr<std::map<std::string, LoadedJob>> Connected(OperatorPort& store,
                                                           const LoadedJob& job) {
  std::map<std::string, LoadedJob> chain = {{job.row.name, job}};
  // Down from the job, then up from all of these; not down again from what else its upstream has.
  for (const bool down : {true, false}) {
    std::vector<std::string> edge;
    edge.reserve(chain.size());
    for (const auto& [name, loaded] : chain) edge.push_back(name);
    while (!edge.empty() && chain.size() < kMaxChain) {
      std::set<std::string> wanted;
      for (const std::string& name : edge) {
        for (const Dependency& d : chain.at(name).spec.after) wanted.insert(d.job);
      }
      TM_ASSIGN_OR_RETURN(
          std::vector<OperatorJob> rows,
          down ? store.JobsAfter(edge) : store.FindUpstreams({wanted.begin(), wanted.end()}));
      edge.clear();
      for (OperatorJob& row : rows) {
        const std::string name = row.name;
        if (chain.emplace(name, LoadJob(std::move(row))).second) edge.push_back(name);
      }
    }
  }
  return chain;
}

}  // namespace

absl::StatusOr<StoredUpstreams> CheckAfter(OperatorPort& store,
                                           const std::vector<const JobSpec*>& specs) {
  StoredUpstreams stored;
  Edges edges;
  for (const JobSpec* spec : specs) edges[spec->name] = AfterNames(*spec);
  for (std::vector<std::string> names = Unread(edges); !names.empty(); names = Unread(edges)) {
    TM_ASSIGN_OR_RETURN(std::vector<OperatorJob> rows, store.FindUpstreams(names));
    for (OperatorJob& row : rows) {
      LoadedJob job = LoadJob(std::move(row));
      const std::string name = job.row.name;
      edges[name] = AfterNames(job.spec);
      stored.versions[job.row.job_id] = job.row.version;
      stored.jobs.emplace(name, std::move(job));
    }
    for (const std::string& name : names) {
      if (edges.count(name) == 0) return NoUpstream(store, name);
    }
  }
  TM_RETURN_IF_ERROR(CheckForeign(store, specs, stored));
  std::set<std::string> safe;
  for (const JobSpec* spec : specs) {
    std::vector<std::string> way;
    if (const std::string cycle = FindCycle(edges, spec->name, &way, &safe); !cycle.empty()) {
      return Invalid("after: jobs would wait for each other in a circle: " + EscapeControl(cycle));
    }
  }
  return stored;
}

absl::StatusOr<std::string> DependentsOf(OperatorPort& store, const std::string& job) {
  TM_ASSIGN_OR_RETURN(const std::vector<OperatorJob> rows, store.JobsAfter({job}));
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const OperatorJob& row : rows) names.push_back(row.name);
  return Join(names, ", ");
}

absl::Status AddChain(OperatorPort& store, const LoadedJob& job, absl::Time now, v1::Job* out) {
  using Chain = std::map<std::string, LoadedJob>;
  TM_ASSIGN_OR_RETURN(const Chain chain, Connected(store, job));
  if (chain.size() < 2) return absl::OkStatus();
  // Upstream first: a job follows once all that it waits for, as far as it is here, has come.
  std::set<std::string> told;
  std::function<void(const std::string&)> tell = [&](const std::string& name) {
    const auto found = chain.find(name);
    if (found == chain.end() || !told.insert(name).second) return;
    for (const Dependency& d : found->second.spec.after) tell(d.job);
    const v1::Job shown = JobToProto(found->second, now);
    v1::ChainLink* link = out->add_chain();
    link->set_job(name);
    *link->mutable_after() = shown.spec().after();
    link->set_high_watermark(shown.high_watermark());
    link->set_paused(shown.paused());
  };
  for (const auto& [name, loaded] : chain) tell(name);
  return absl::OkStatus();
}

absl::StatusOr<std::map<absl::CivilDay, UpstreamDate>> WaitingDates(
    OperatorPort& store, const LoadedJob& job, const std::vector<Occurrence>& due) {
  std::map<absl::CivilDay, UpstreamDate> waiting;
  if (job.spec.after.empty()) return waiting;
  TM_ASSIGN_OR_RETURN(std::vector<OperatorJob> rows, store.FindUpstreams(AfterNames(job.spec)));
  std::map<std::string, std::pair<LoadedJob, LedgerRows>> upstreams;
  for (OperatorJob& row : rows) {
    TM_ASSIGN_OR_RETURN(LedgerRows ledger, store.Ledger(row.job_id));
    const std::string name = row.name;
    upstreams.emplace(name, std::pair(LoadJob(std::move(row)), std::move(ledger)));
  }
  for (const Occurrence& each : due) {
    for (const Dependency& d : job.spec.after) {
      const UpstreamDate date{d.job, each.biz_date + d.offset};
      const auto found = upstreams.find(d.job);
      // One that is gone, or cannot be used, tells nothing: the date waits.
      bool holds = found == upstreams.end() || !found->second.first.error.empty();
      if (!holds) {
        const auto& [upstream, ledger] = found->second;
        const auto row = ledger.watermarks.find(date.date);
        const bool none = row == ledger.watermarks.end();
        holds = HoldsBack(upstream.timeline, AccountedFrom(upstream, ledger.now), date.date,
                          none ? "" : row->second.status, none ? "" : row->second.reason);
      }
      if (holds) waiting.emplace(each.biz_date, date);
    }
  }
  return waiting;
}

}  // namespace tidemark
