#include "scheduler/config_limits.h"

#include <string>

namespace tidemark {
namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;
constexpr size_t kGiB = 1024 * kMiB;

std::string VariableOf(std::string name) {
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return "TIDEMARK_" + name;
}

// Sizes may be written as 16MiB, 16mb (the same), or in bytes.
void AddSize(CLI::App& app, const std::string& name, size_t& value, size_t least, size_t most,
             const std::string& what) {
  app.add_option("--" + name, value, what)
      ->envname(VariableOf(name))
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(least, most))
      ->capture_default_str();
}

template <typename Number>
void AddNumber(CLI::App& app, const std::string& name, Number& value, Number least, Number most,
               const std::string& what) {
  app.add_option("--" + name, value, what)
      ->envname(VariableOf(name))
      ->check(CLI::Range(least, most))
      ->capture_default_str();
}

}  // namespace

void AddLimitOptions(CLI::App& app, SchedulerConfig& config) {
  RpcLimits& limits = config.limits;
  AddSize(app, "max-message", limits.max_message, 64 * kKiB, 256 * kMiB,
          "One gRPC message, either way; sizes are bytes, or 16MiB");
  AddSize(
      app, "max-inbox", limits.max_inbox, 64 * kKiB, kGiB,
      "Messages of one executor that wait to be handled: beyond half of it the executor is told "
      "to hold, beyond it its stream is not read");
  AddSize(app, "max-inboxes", limits.max_inboxes, kMiB, 64 * kGiB, "… of all executors together");
  AddNumber(app, "max-streams", limits.max_streams, 1, 1'000'000,
            "Executors' streams of this node");
  AddNumber(app, "max-streams-per-credential", limits.max_streams_per_credential, 1, 1'000'000,
            "… with one token, or without from one address");
  AddNumber(app, "requests-per-second", limits.requests_per_second, 0, 1'000'000,
            "Requests of operators a second with one token, or without from one address; twice as "
            "many at once; 0: any number");
  AddNumber<size_t>(app, "max-waiting-requests", limits.max_waiting_requests, 1, 100'000,
                    "Requests of operators that wait for the database, a service");
  AddNumber<int64_t>(app, "max-jobs-per-app", limits.max_jobs_per_app, 1, 10'000'000,
                     "Jobs of one app; more are refused when they are applied");
  AddSize(app, "http-max-body", config.http_max_body, kKiB, 256 * kMiB, "Body of one HTTP request");
  AddNumber(app, "http-max-connections", config.http_max_connections, 1, 100'000,
            "HTTP connections: beyond it the one that keeps us waiting longest gives way");
}

}  // namespace tidemark
