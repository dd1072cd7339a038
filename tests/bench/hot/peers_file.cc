#include "tests/bench/hot/peers_file.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <limits>

#include "tests/bench/hot/bench_sql.h"
#include "tests/support/process.h"

namespace tidemark {
namespace {

using google::protobuf::Struct;

const Struct& Child(const Struct& parent, const std::string& name) {
  static const Struct& none = *new Struct();
  const auto it = parent.fields().find(name);
  return it == parent.fields().end() ? none : it->second.struct_value();
}

double Number(const Struct& parent, const std::string& name) {
  const auto it = parent.fields().find(name);
  return it == parent.fields().end() ? 0 : it->second.number_value();
}

}  // namespace

std::map<std::string, PeerFigures> ReadPeers(const std::string& file) {
  std::map<std::string, PeerFigures> peers;
  if (file.empty()) return peers;
  Struct document;
  const std::string text = ReadFile(file);
  const auto parsed = google::protobuf::util::JsonStringToMessage(text, &document);
  if (!parsed.ok()) BenchDie("--peers: " + file + " is not what tests/bench/peers/run.sh writes");
  for (const auto& [name, value] : Child(document, "peers").fields()) {
    const Struct& peer = value.struct_value();
    PeerFigures& figures = peers[name];
    const auto history = peer.fields().find("history");
    if (history != peer.fields().end()) figures.history = history->second.string_value();
    figures.per_second = Number(Child(peer, "drain"), "per_second");
    figures.drain_runs = Number(Child(peer, "drain"), "runs");
    figures.herd_runs = Number(Child(peer, "herd"), "runs");
    figures.lateness_p99 = Number(Child(peer, "herd"), "lateness_p99");
  }
  return peers;
}

void ReportPeerDrain(const std::string& file, int runs, double per_second, BenchReport& report) {
  const std::map<std::string, double> wanted = {
      {"graphile-worker", 1}, {"pg-boss", 4}, {"quartz", 100}};
  for (const auto& [name, peer] : ReadPeers(file)) {
    if (peer.per_second == 0) continue;
    report.Figure("peer." + name + ".runs_per_second", peer.per_second, "1/s");
    report.Note(name + ", history: " + peer.history +
                (peer.drain_runs == runs
                     ? ""
                     : "; measured with " + std::to_string(static_cast<int>(peer.drain_runs)) +
                           " runs, not " + std::to_string(runs)));
    const auto goal = wanted.find(name);
    if (goal != wanted.end()) {
      report.GoalAtLeast("drain / " + name, per_second / peer.per_second, goal->second);
    }
  }
}

void ReportPeerHerd(const std::string& file, int runs, double lateness_p99, BenchReport& report) {
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [name, peer] : ReadPeers(file)) {
    if (peer.lateness_p99 == 0) continue;
    report.Figure("peer." + name + ".lateness_p99", peer.lateness_p99, "ms");
    // croner records nothing: it is the floor, no peer. Fewer runs are no comparison.
    if (name != "croner" && peer.herd_runs >= runs) best = std::min(best, peer.lateness_p99);
  }
  if (best < std::numeric_limits<double>::infinity()) {
    report.GoalAtMost("p99 of " + std::to_string(runs) + " / best peer's", lateness_p99 / best,
                      0.1);
  }
}

}  // namespace tidemark
