// tidemark job drill, job reset-cursor
#include <iostream>
#include <memory>

#include "common/lifecycle.h"
#include "common/time_text.h"
#include "scheduler/cli/cli.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

using Stub = Cli::Stub;

constexpr absl::Duration kLook = absl::Milliseconds(500);

struct DrillOptions {
  v1::DrillJobRequest request;
  double timeout_minutes = 60;
  bool wait = true;
};

void PrintDrill(Cli& cli, const v1::Drill& drill) {
  Table table({"BIZ DATE", "FIRST RUN", "ROWS", "DIGEST", "DRILL RUN", "STATE", "ROWS", "DIGEST",
               "VERDICT", "MESSAGE"});
  const auto rows = [](bool has, int64_t value) { return has ? std::to_string(value) : "-"; };
  for (const v1::DrillDate& d : drill.dates()) {
    table.Add({d.biz_date(), OrDash(d.first_run_id()), rows(d.has_first_rows(), d.first_rows()),
               OrDash(Shorten(d.first_digest(), 16)), OrDash(d.run_id()), d.state(),
               rows(d.has_rows(), d.rows()), OrDash(Shorten(d.digest(), 16)), d.verdict(),
               Shorten(d.message(), 60)});
  }
  table.Print(cli.out());
  cli.out() << (drill.passed() ? "passed: every date is DONE again with what its first run found"
                : drill.finished() ? "FAILED: a date is not DONE, or differs from its first run"
                                   : "not finished")
            << "\n";
}

// Prints the drill and returns its exit code.
int ShowEnd(Cli& cli, const v1::Drill& drill) {
  if (cli.json()) {
    cli.PrintJson(drill);
  } else {
    PrintDrill(cli, drill);
  }
  return drill.passed() ? kExitDone : kExitFailed;
}

int WaitForDrill(Cli& cli, const std::string& drill_id, double timeout_minutes) {
  v1::GetDrillRequest request;
  request.set_drill_id(drill_id);
  const absl::Duration end = cli.clock().Monotonic() + absl::Minutes(timeout_minutes);
  const std::string again = "tidemark job drill --id " + drill_id + " goes on waiting for it";
  StopSignals signals;
  std::string last = "it was not carried out yet";
  for (;;) {
    v1::Drill drill;
    const grpc::Status status = cli.TryCall(&Stub::GetDrill, request, &drill);
    const bool soon = status.error_code() == grpc::StatusCode::UNAVAILABLE ||
                      status.error_code() == grpc::StatusCode::NOT_FOUND;
    if (!status.ok() && !soon) return cli.Report(status);
    if (!status.ok()) last = status.error_message();
    if (status.ok() && drill.finished()) return ShowEnd(cli, drill);
    const bool over = cli.clock().Monotonic() >= end;
    if (over && status.ok()) ShowEnd(cli, drill);
    if (over) {
      return cli.Fail(
          kExitFailed,
          "the drill did not finish in time" + (status.ok() ? std::string() : ": " + last), again);
    }
    if (signals.Wait(kLook) != 0) {
      return cli.Fail(kExitFailed, "interrupted; the dates are filled all the same", again);
    }
  }
}

int Drill(Cli& cli, const DrillOptions& options, const std::string& drill_id) {
  if (!drill_id.empty()) return WaitForDrill(cli, drill_id, options.timeout_minutes);
  if (options.request.name().empty()) {
    return cli.Fail(kExitUsage, "the job's name is missing", "tidemark job drill JOB --days 3");
  }
  v1::DrillJobRequest request = options.request;
  request.set_actor(cli.actor());
  v1::DrillJobResponse response;
  if (const int code = cli.Call(&Stub::DrillJob, request, &response)) return code;
  if (!options.wait && cli.json()) cli.PrintJson(response);
  if (!cli.json()) {
    cli.out() << "drill " << SafeText(response.drill_id()) << ": the watermarks of "
              << request.days() << " dates "
              << (response.queued() ? "will be deleted (the owner has not answered yet)"
                                    : "are deleted")
              << (request.now() ? "" : "; they are filled at the job's next trigger point")
              << std::endl;
  }
  if (!options.wait) return kExitDone;
  return WaitForDrill(cli, response.drill_id(), options.timeout_minutes);
}

void AddDrill(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<DrillOptions>();
  auto drill_id = std::make_shared<std::string>();
  v1::DrillJobRequest& request = options->request;
  request.set_days(3);
  CLI::App* verb = AddVerb(
      noun, "drill",
      "Rehearse: forget the last DONE dates, let them be filled, compare the results",
      "  tidemark job drill recon --days 3 --now\n"
      "  tidemark job drill recon --days 1 --reason \"monthly rehearsal\"\n"
      "Waits for the end and prints date, first run, drill run, same or not. Exit code 1 when a "
      "date is not\nDONE again, differs, or the time is over.");
  verb->add_option_function<std::string>(
      "JOB", [&request](const std::string& v) { request.set_name(v); }, "The job's name");
  verb->add_option_function<uint32_t>(
          "--days", [&request](const uint32_t& v) { request.set_days(v); },
          "The latest so many DONE dates (default 3)")
      ->check(CLI::Range(1, 366));
  verb->add_flag_callback(
      "--now", [&request] { request.set_now(true); },
      "Fill them at once; without it, the job's next trigger point does");
  verb->add_flag_callback(
      "--allow-no-fingerprint", [&request] { request.set_allow_no_fingerprint(true); },
      "Also when a first run reported neither rows nor digest: nothing can be compared");
  verb->add_option_function<std::string>(
      "--reason", [&request](const std::string& v) { request.set_reason(v); },
      "Why, for the audit");
  verb->add_option("--wait-minutes", options->timeout_minutes, "Wait at most so long")
      ->check(CLI::Range(0.01, 100000.0))
      ->capture_default_str();
  verb->add_flag_callback(
      "--no-wait", [options] { options->wait = false; }, "Do not wait for the end");
  verb->add_option("--id", *drill_id, "Wait for this drill, begun before");
  verb->callback([&cli, options, drill_id] {
    cli.run = [&cli, options, drill_id] { return Drill(cli, *options, *drill_id); };
  });
}

void AddResetCursor(CLI::App* noun, Cli& cli) {
  auto request = std::make_shared<v1::ResetCursorRequest>();
  CLI::App* verb =
      AddVerb(noun, "reset-cursor",
              "Let an interval job fire again whose cursor a wrong clock moved ahead of now",
              "  tidemark job reset-cursor sync --reason \"the clock was a day ahead\"");
  verb->add_option_function<std::string>(
          "JOB", [request](const std::string& v) { request->set_name(v); }, "The job's name")
      ->required();
  verb->add_option_function<std::string>(
          "--reason", [request](const std::string& v) { request->set_reason(v); },
          "Why, for the audit")
      ->required();
  verb->callback([&cli, request] {
    cli.run = [&cli, request] {
      request->set_actor(cli.actor());
      v1::OrderResponse response;
      if (const int code = cli.Call(&Stub::ResetCursor, *request, &response)) return code;
      if (cli.json()) {
        cli.PrintJson(response);
      } else {
        cli.out() << (response.queued() ? "queued: " : "") << SafeText(response.message()) << "\n";
      }
      return static_cast<int>(kExitDone);
    };
  });
}

}  // namespace

void AddJobUpkeepVerbs(CLI::App* job, Cli& cli) {
  AddDrill(job, cli);
  AddResetCursor(job, cli);
}

}  // namespace tidemark
