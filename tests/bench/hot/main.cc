// tidemark_bench: measures the hot path with real processes. See tests/bench/README.md.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "common/log.h"
#include "tests/bench/hot/bench_options.h"
#include "tests/bench/hot/bench_postgres.h"
#include "tests/bench/hot/bench_sql.h"
#include "tests/bench/hot/scenario.h"

namespace tidemark {

const std::vector<Scenario>& Scenarios() {
  static const std::vector<Scenario> all = {
      {"drain", "runs a second from due to durably finished, and what each costs", RunDrain},
      {"herd", "lateness when 1,000, 10,000 and 100,000 runs are due at one instant", RunHerd},
      {"lone", "due to handler entered, against one fdatasync and one round trip", RunLone},
      {"steady", "cost of a fire and memory with 1,000, 100,000 and 1,000,000 jobs", RunSteady},
      {"start", "1,000,000 jobs from start to first fire, against a raw SELECT", RunStart},
      {"history", "the same with 5,000,000 finished runs; the operator's pages", RunHistory},
      {"executors", "10, 1,000 and 10,000 idle streams: memory, CPU, dispatch", RunExecutors},
      {"overload", "twice the capacity for a minute: goodput, memory, the others", RunOverload},
      {"nodes", "the drain with 1, 2 and 3 schedulers: rate, the database's CPU a run", RunNodes},
      {"kills", "kill -9 of one of 3 schedulers under load, 20 times: take-over, losses", RunKills},
  };
  return all;
}

namespace {

double ScaleOf(const std::string& text) {
  if (text == "full") return 1;
  if (text == "quick") return 0.1;
  if (text == "tiny") return 0.01;
  try {
    if (const double scale = std::stod(text); scale > 0 && scale <= 10) return scale;
  } catch (const std::exception&) {
  }
  BenchDie("--scale: '" + text + "' is none of full, quick, tiny, or a number over 0 up to 10");
}

std::string Names() {
  std::string names = "Scenarios:\n";
  for (const Scenario& scenario : Scenarios()) {
    names +=
        "  " + scenario.name + std::string(12 - scenario.name.size(), ' ') + scenario.what + "\n";
  }
  return names + "  all         all of them, one after the other";
}

int RunWanted(const BenchOptions& options, const std::string& wanted, const std::string& json) {
  std::vector<const Scenario*> scenarios;
  for (const Scenario& scenario : Scenarios()) {
    if (wanted == "all" || wanted == scenario.name) scenarios.push_back(&scenario);
  }
  if (scenarios.empty()) BenchDie("there is no scenario '" + wanted + "'\n" + Names());
  BenchPostgres postgres;
  std::string documents;
  for (const Scenario* scenario : scenarios) {
    const BenchReport report = scenario->run(options, postgres);
    report.Print();
    documents += (documents.empty() ? "" : ",\n") + report.Json();
  }
  if (json.empty()) return 0;
  std::ofstream out(json);
  out << (wanted == "all" ? "[" + documents + "]\n" : documents + "\n");
  if (!out.flush()) BenchDie("cannot write " + json);
  return 0;
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Measures fire, durable, executor, finished, durable: a real scheduler, a private PostgreSQL "
      "with\nfsync on, real executors over gRPC. Gates nothing.",
      "tidemark_bench");
  BenchOptions options;
  std::string wanted;
  std::string json;
  std::string scale = "full";
  bool quick = false;
  app.add_option("SCENARIO", wanted, "Which; see below")->required();
  app.add_option("--json", json, "Also writes the figures to this file");
  app.add_option("--scale", scale, "Of all sizes: full, quick (a tenth), tiny, or a number");
  app.add_flag("--quick", quick, "The same as --scale quick");
  app.add_option("--executors", options.executors, "Executor processes")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--capacity", options.capacity, "Runs at once of each; 0: as the scenario has it")
      ->capture_default_str();
  app.add_option("--peers", options.peers,
                 "Shows these figures beside: of tests/bench/peers/run.sh")
      ->check(CLI::ExistingFile);
  app.add_option("--big-history", options.big_history,
                 "history: millions of finished runs instead of 5; looks at the disk first")
      ->check(CLI::Range(0, 100));
  app.add_option("--log-level", options.log_level, "Of the scheduler")->capture_default_str();
  app.footer(Names());
  CLI11_PARSE(app, argc, argv);
  options.scale = ScaleOf(quick ? "quick" : scale);
  InitLogging("tidemark_bench", "warn");
  return RunWanted(options, wanted, json);
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) { return tidemark::Main(argc, argv); }
