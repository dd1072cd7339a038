// lone: how long a single run takes from due to its handler, beside what the hardware must do.
#include "tests/bench/hot/baseline.h"
#include "tests/bench/hot/bench_clock.h"
#include "tests/bench/hot/bench_jobs.h"
#include "tests/bench/hot/bench_sql.h"
#include "tests/bench/hot/bench_world.h"
#include "tests/bench/hot/flood.h"
#include "tests/bench/hot/scenario.h"

namespace tidemark {

BenchReport RunLone(const BenchOptions& options, BenchPostgres& postgres) {
  BenchReport report("lone");
  const double seconds = options.Seconds(60, 15);
  report.Setting("fires", seconds);
  report.Setting("executors", 1);
  const std::string url = postgres.MakeDatabase("lone");
  std::vector<double> lateness;
  double fdatasync = 0;
  double round_trip = 0;
  {
    BenchSql sql(url);
    BenchWorld world(options, postgres, url);
    world.StartScheduler();
    world.StartExecutors("lone", 1, 4);
    JobSpec spec = IntervalJob("lone", absl::UnixEpoch(), absl::Seconds(1));
    spec.name = "lone";
    ApplyJobs({spec}, world.address());
    // Half of the hardware's part before, half after: the disk is not equally fast for long.
    fdatasync = FdatasyncSeconds(postgres);
    round_trip = RoundTripSeconds();
    BenchWait(seconds);
    lateness = LatenessMillis(world.StopExecutors("lone"));
    fdatasync = (fdatasync + FdatasyncSeconds(postgres)) / 2;
    round_trip = (round_trip + RoundTripSeconds()) / 2;
    // The first ones meet cold caches and measure the machine beside them.
    if (lateness.size() > 4) lateness.erase(lateness.begin(), lateness.begin() + 3);
    world.StopSchedulers();
  }
  postgres.DropDatabase("lone");
  const double must = (fdatasync + round_trip) * 1000;
  ReportLateness(lateness, "lone", report);
  report.Figure("fdatasync", fdatasync * 1000, "ms");
  report.Figure("grpc_round_trip", round_trip * 1000, "ms");
  report.GoalAtMost("p50 / (fdatasync + round trip)", Percentile(lateness, 0.5) / must, 3);
  return report;
}

}  // namespace tidemark
