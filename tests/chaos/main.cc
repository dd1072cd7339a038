// tidemark-chaos: a cluster of real processes under faults, and whether it kept its promise.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "common/clock.h"
#include "tests/chaos/chaos_base.h"
#include "tests/chaos/chaos_cluster.h"
#include "tests/chaos/chaos_jobs.h"
#include "tests/chaos/faults.h"
#include "tests/chaos/verdict.h"

namespace tidemark {
namespace {

struct Options {
  double minutes = 30;
  uint64_t seed = 1;
  bool brief = false;
  bool asynchronous = false;
  bool keep = false;
  int days = -1;
  int ticks = 12;
  double patience_minutes = 5;
  ChaosSettings settings;
};

double Seconds() { return absl::ToDoubleSeconds(SystemClock().Monotonic()); }

FaultTimes LongTimes() {
  FaultTimes times;
  times.gap[0] = 1;
  times.gap[1] = 8;
  times.stopped[0] = times.stopped[1] = 45;
  times.silent[1] = 30;
  times.long_down[1] = 30;
  times.failover_every = 90;
  times.clock_step_every = 180;
  return times;
}

bool Parse(int argc, char** argv, Options* options, int* code) {
  CLI::App app(
      "Runs schedulers, executors and a PostgreSQL with a standby, kills, stops and cuts them for "
      "some time, and judges what became of every due date. Exit code 0: all is well; 1: not.",
      "tidemark-chaos");
  app.add_option("--minutes", options->minutes, "How long faults last");
  app.add_option("--seed", options->seed, "Which faults, when, at whom");
  app.add_flag("--short", options->brief, "Shorter stops and partitions, faults in quick order");
  app.add_flag("--asynchronous", options->asynchronous,
               "The standby may lag: a fail-over may lose commits");
  app.add_flag("--keep", options->keep, "Leave the folder with logs also when all is well");
  app.add_option("--schedulers", options->settings.schedulers, "How many");
  app.add_option("--executors", options->settings.executors, "How many; the last two are agents");
  app.add_option("--days", options->days, "Dates that are due at the start, of each daily job");
  app.add_option("--ticks", options->ticks, "Jobs that are due each second");
  app.add_option("--patience", options->patience_minutes, "Minutes to settle in afterwards");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    *code = app.exit(error) == 0 ? 0 : 2;
    return false;
  }
  if (options->days < 0)
    options->days = options->brief ? 30 : static_cast<int>(options->minutes * 12);
  options->settings.bin = TIDEMARK_BIN_DIR;
  options->settings.synchronous = !options->asynchronous;
  return true;
}

void Torment(const Options& options, Faults& faults) {
  const double end = Seconds() + options.minutes * 60;
  while (Seconds() < end) {
    faults.Step(Seconds());
    (void)WaitFor([] { return false; }, absl::Milliseconds(20));
  }
  faults.Heal();
}

int Main(int argc, char** argv) {
  Options options;
  int code = 0;
  if (!Parse(argc, argv, &options, &code)) return code;
  if (chdir("/") != 0) return 3;
  ChaosSay("seed " + std::to_string(options.seed));
  ChaosCluster cluster(options.settings);
  ChaosSay("everything is in " + cluster.Path(""));
  cluster.StartAll();
  cluster.MoveTime(absl::ZeroDuration());
  const absl::CivilDay today = absl::ToCivilDay(SystemClock().WallNow(), absl::UTCTimeZone());
  cluster.Apply(ChaosJobs(today, options.days, options.ticks));
  Faults faults(cluster, options.seed, options.brief ? FaultTimes() : LongTimes());
  Torment(options, faults);
  Verdict verdict;
  Settle(cluster, absl::Minutes(options.patience_minutes), verdict);
  Judge(cluster, faults, options.asynchronous, verdict);
  Report(cluster, faults, verdict);
  const bool well = verdict.violations.empty();
  std::printf("%s\n",
              well
                  ? "all is well"
                  : ("see " + cluster.Path("") + "; seed " + std::to_string(options.seed)).c_str());
  if (well && !options.keep) cluster.RemoveFolder();
  return well ? 0 : 1;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) { return tidemark::Main(argc, argv); }
