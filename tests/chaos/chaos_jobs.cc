#include "tests/chaos/chaos_jobs.h"

#include <cstddef>

#include "common/time_text.h"

namespace tidemark {
namespace {

std::string Head(const std::string& name, const std::string& app) {
  return "  - name: " + name + "\n    app: " + app + "\n    handler: work\n" +
         "    retry: {max_attempts: 4, backoff: [0s, 1s]}\n";
}

std::string Tick(const std::string& name, const std::string& app, bool side_by_side) {
  return Head(name, app) +
         "    schedule: {every: 1s, zone: UTC}\n"
         "    misfire: {policy: fire_all, window: 7d, cap: 100}\n"
         "    params: {millis: \"30\", flaky: \"20\"}\n"
         "    blocking: " +
         (side_by_side ? "{policy: concurrent, concurrent: 10}\n"
                       : "{policy: serial, queue: 1000}\n");
}

std::string Daily(const std::string& name, const std::string& app, absl::CivilDay first,
                  const std::string& zone, const std::string& order, int millis,
                  const std::string& more = "") {
  return Head(name, app) + "    schedule: {cron: \"0 0 1 * * ?\", zone: " + zone + "}\n" +
         "    start_date: " + FormatDate(first) + "\n" + "    catch_up: {order: " + order +
         ", max_backfill_days: 2000, source_retention_days: 3000}\n" + "    params: {millis: \"" +
         std::to_string(millis) + "\", flaky: \"15\"}\n" + more;
}

}  // namespace

std::string ChaosJobs(absl::CivilDay today, int days, int ticks) {
  const std::string zones[] = {"Asia/Shanghai", "America/New_York", "Europe/Berlin", "UTC"};
  const absl::CivilDay first = today - days;
  std::string file = "jobs:\n";
  for (int i = 0; i < ticks; ++i) {
    file += Tick("tick-" + std::to_string(i), "svc", i % 2 == 1);
  }
  for (size_t i = 0; i < std::size(zones); ++i) {
    file += Daily("day-" + std::to_string(i), "svc", first, zones[i], "strict",
                  static_cast<int>(100 + 200 * i));
  }
  file += Daily("day-after", "svc", first, zones[0], "strict", 50, "    after: [{job: day-0}]\n");
  file += Daily("day-any", "svc", first, zones[1], "independent", 300);
  file += Tick("a-tick-0", "ops", false);
  file += Daily("a-day", "ops", first, zones[2], "strict", 200);
  return file;
}

}  // namespace tidemark
