// job_bench [JOBS]: what a registered job costs the engine alone: microseconds and bytes at the
// start of a term, for interval jobs that differ in their names and for dated jobs. Prints a table;
// gates nothing.
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "common/clock.h"
#include "common/id.h"
#include "scheduler/engine/engine.h"

namespace tidemark {
namespace {

double AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

// Resident memory of this process.
double ResidentBytes() {
  long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<double>(pages) * 4096;
}

class JobBench {
 public:
  JobBench(int jobs, bool dated) : jobs_(jobs), dated_(dated) {}

  void Run() {
    const double allocated = AllocatedBytes();
    const double resident = ResidentBytes();
    Engine engine(MakeDecoders(), random_);
    const double us = Start(engine);
    size_t questions = 0;
    for (Effects effects = engine.TakeEffects(); !effects.empty(); effects = engine.TakeEffects()) {
      questions += effects.queries.size();
      if (!effects.flush.has_value()) continue;
      FlushResult result;
      result.seq = effects.flush->seq;
      engine.Flushed(now_, result);
    }
    malloc_trim(0);
    std::printf("%-10s %10d %12.2f %14.0f %14.0f %12zu\n", dated_ ? "dated" : "interval", jobs_,
                us / jobs_, (AllocatedBytes() - allocated) / jobs_,
                (ResidentBytes() - resident) / jobs_, questions);
  }

 private:
  Decoders MakeDecoders() const {
    return {[dated = dated_](const std::string&) -> absl::StatusOr<JobSpec> {
              JobSpec spec;
              spec.app = "app";
              spec.handler = "work";
              spec.schedule.zone = "UTC";
              spec.schedule.kind = dated ? ScheduleSpec::Kind::kCron : ScheduleSpec::Kind::kEvery;
              spec.schedule.cron = "0 0 1 * * ?";
              spec.schedule.every = absl::Minutes(17);
              return spec;
            },
            [](const std::string&) { return std::map<std::string, std::string>{}; }};
  }

  // Returns microseconds.
  double Start(Engine& engine) {
    Snapshot snapshot;
    for (int shard = 0; shard < kShards; ++shard) snapshot.shards[shard] = {1, 1};
    for (int i = 1; i <= jobs_; ++i) {
      JobRow row;
      row.job_id = i;
      row.name = "steady-999-" + std::to_string(i);
      row.ns = "default";
      row.app = "app";
      row.shard = ShardOf(i);
      row.version = 1;
      row.created_at = start_;
      row.check_from = start_;
      if (dated_) row.ledger_from = absl::ToCivilDay(start_, absl::UTCTimeZone());
      if (!dated_) row.cursor = start_;
      row.versions.push_back({1, start_, "{\"name\":\"" + row.name + "\"," + kRest});
      snapshot.jobs.push_back(std::move(row));
    }
    const absl::Duration begin = SystemClock().Monotonic();
    engine.TermStarted(now_, std::move(snapshot));
    return absl::ToDoubleMicroseconds(SystemClock().Monotonic() - begin);
  }

  static constexpr char kRest[] =
      "\"app\":\"app\",\"handler\":\"work\",\"schedule\":{\"every\":\"1020s\",\"zone\":\"UTC\"}}";

  const int jobs_;
  const bool dated_;
  const absl::Time start_ = absl::FromUnixSeconds(1'900'000'020);
  SeededRandom random_{1};
  Moment now_{absl::Seconds(1000), start_, start_};
};

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  const int jobs = argc > 1 ? std::atoi(argv[1]) : 100000;
  std::printf("%-10s %10s %12s %14s %14s %12s\n", "kind", "jobs", "us a job", "bytes a job",
              "resident", "questions");
  for (const bool dated : {false, true}) tidemark::JobBench(jobs, dated).Run();
  return 0;
}
