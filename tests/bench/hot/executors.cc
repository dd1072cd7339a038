// executors: what thousands of idle streams cost, and whether dispatch beside them stays quick.
#include <string>
#include <vector>

#include "tests/bench/hot/bench_clock.h"
#include "tests/bench/hot/bench_jobs.h"
#include "tests/bench/hot/bench_world.h"
#include "tests/bench/hot/flood.h"
#include "tests/bench/hot/scenario.h"

namespace tidemark {
namespace {

struct FleetCost {
  double bytes_per_stream = 0;
  double cpu_share = 0;  // of one core, the scheduler's
  std::vector<double> lateness_ms;
};

void StartFleet(BenchWorld& world, int streams) {
  Process& fleet = world.StartProgram(
      "fleet", {"bench-fleet", "--scheduler", world.address(), "--count", std::to_string(streams)});
  const std::string log = world.Path("fleet.log");
  const auto connected = [&] { return ReadFile(log).find("connected") != std::string::npos; };
  WaitFor([&] { return connected() || !fleet.Running(); }, absl::Seconds(120 + streams / 50));
  if (!connected() || !fleet.Running()) world.Die("fleet: " + ReadFile(log));
}

// Ten fires a second.
void ApplyBusy(const BenchWorld& world) {
  std::vector<JobSpec> specs;
  for (int i = 0; i < 10; ++i) {
    specs.push_back(IntervalJob("busy", absl::UnixEpoch(), absl::Seconds(1)));
    specs.back().name = "busy-" + std::to_string(i);
  }
  ApplyJobs(specs, world.address());
}

FleetCost MeasureFleet(const BenchOptions& options, BenchPostgres& postgres, int streams,
                       double seconds) {
  const std::string url = postgres.MakeDatabase("executors");
  FleetCost cost;
  {
    BenchWorld world(options, postgres, url);
    world.StartScheduler();
    world.StartExecutors("busy", 1, 64);
    const double before = static_cast<double>(world.SchedulerBytes());
    StartFleet(world, streams);
    cost.bytes_per_stream = (static_cast<double>(world.SchedulerBytes()) - before) / streams;
    // Idle: nothing but heartbeats.
    const CpuUse idle = world.Cpu();
    BenchWait(seconds);
    cost.cpu_share = world.Cpu().Since(idle).scheduler / seconds;
    ApplyBusy(world);
    BenchWait(seconds);
    cost.lateness_ms = LatenessMillis(world.StopExecutors("busy"));
    world.KillScheduler();
  }
  postgres.DropDatabase("executors");
  return cost;
}

}  // namespace

BenchReport RunExecutors(const BenchOptions& options, BenchPostgres& postgres) {
  BenchReport report("executors");
  const double seconds = options.Seconds(20, 6);
  report.Setting("seconds", seconds);
  report.Setting("beat", "5 s");
  double few = 0;
  double many = 0;
  for (const int full : {10, 1000, 10000}) {
    const int streams = full == 10 ? 10 : options.Sized(full, full / 100);
    const FleetCost cost = MeasureFleet(options, postgres, streams, seconds);
    const std::string name = std::to_string(streams);
    report.Figure(name + ".bytes_per_stream", cost.bytes_per_stream, "B");
    report.Figure(name + ".idle_cpu", cost.cpu_share, "cores");
    ReportLateness(cost.lateness_ms, name, report);
    if (full == 10) few = Percentile(cost.lateness_ms, 0.99);
    many = Percentile(cost.lateness_ms, 0.99);
  }
  report.GoalAtMost("dispatch p99, most / fewest streams", many / few, 2);
  return report;
}

}  // namespace tidemark
