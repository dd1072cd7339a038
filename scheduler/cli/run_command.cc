// tidemark run …
#include <cstdio>
#include <iostream>
#include <memory>

#include "absl/strings/ascii.h"
#include "common/text.h"
#include "scheduler/cli/cli.h"
#include "scheduler/cli/run_logs.h"
#include "scheduler/cli/run_watch.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

using Stub = Cli::Stub;

struct RunListOptions {
  std::string job;
  std::vector<std::string> statuses;
  std::string biz_date;
  std::string before;
  std::string ns;
  uint32_t limit = 50;
};

int ListRuns(Cli& cli, const RunListOptions& options) {
  v1::ListRunsRequest request;
  request.set_job(options.job);
  request.set_biz_date(options.biz_date);
  request.set_before(options.before);
  request.set_namespace_(options.ns);
  request.set_limit(options.limit);
  for (const std::string& word : options.statuses) {
    v1::RunStatus status = v1::RUN_STATUS_UNSPECIFIED;
    (void)v1::RunStatus_Parse(absl::AsciiStrToUpper(word), &status);
    request.add_statuses(status);
  }
  v1::ListRunsResponse response;
  if (const int code = cli.Call(&Stub::ListRuns, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  Table table({"RUN", "JOB", "BIZ DATE", "STATUS", "REASON", "TRIGGER", "ATTEMPT", "EXECUTOR",
               "CREATED", "ENDED"});
  for (const v1::Run& run : response.runs()) {
    table.Add({run.run_id(), run.job(), OrDash(run.biz_date()), v1::RunStatus_Name(run.status()),
               OrDash(run.reason()), v1::TriggerType_Name(run.trigger_type()),
               std::to_string(run.attempt()), OrDash(run.executor_id()), TimeText(run.created_at()),
               run.has_ended_at() ? TimeText(run.ended_at()) : "-"});
  }
  table.Print(cli.out());
  if (response.more()) {
    cli.out() << "more: --before " << SafeText(response.runs(response.runs_size() - 1).run_id())
              << "\n";
  }
  return kExitDone;
}

void AddList(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<RunListOptions>();
  CLI::App* verb = AddVerb(noun, "list", "List runs, the newest first",
                           "  tidemark run list --job recon\n"
                           "  tidemark run list --status FAILED --status CANCELLED\n"
                           "  tidemark run list --job recon --biz-date 2026-11-27 -o json");
  verb->add_option("--job", options->job, "Only runs of this job");
  verb->add_option("--status", options->statuses,
                   "PENDING, RUNNING, COMPLETED, FAILED, CANCELLED, SKIPPED or COMPENSATED; may be "
                   "repeated")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(
          {"PENDING", "RUNNING", "COMPLETED", "FAILED", "CANCELLED", "SKIPPED", "COMPENSATED"},
          CLI::ignore_case));
  verb->add_option("--biz-date", options->biz_date, "Only runs of this date (YYYY-MM-DD)");
  verb->add_option("--namespace", options->ns, "Only runs of this namespace");
  verb->add_option("--before", options->before, "Runs older than this one: the next page");
  verb->add_option("--limit", options->limit, "At most so many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->callback(
      [&cli, options] { cli.run = [&cli, options] { return ListRuns(cli, *options); }; });
}

// ---------------------------------------------------------------- get

void PrintRun(Cli& cli, const v1::Run& run) {
  Card card;
  card.Add("run", run.run_id());
  card.Add("job", run.job() + " (version " + std::to_string(run.job_version()) + ")");
  card.Add("app, handler", run.app() + ", " + run.handler());
  card.Add("biz date", run.biz_date());
  card.Add("status", v1::RunStatus_Name(run.status()) +
                         (run.reason().empty() ? "" : " (" + run.reason() + ")"));
  if (run.held()) card.Add("held", "it may still be running somewhere; nothing reopens it");
  card.Add("due at", TimeText(run.fire_time()));
  card.Add("trigger", v1::TriggerType_Name(run.trigger_type()) +
                          (run.requested_by().empty() ? "" : " by " + run.requested_by()) +
                          (run.requested_reason().empty() ? "" : ": " + run.requested_reason()));
  card.Add("rerun of", run.rerun_of());
  card.Add("executor",
           run.executor_id() + (run.executor_host().empty() ? "" : " at " + run.executor_host()));
  card.Add("created", TimeText(run.created_at()));
  card.Add("started", run.has_started_at() ? TimeText(run.started_at()) : "");
  card.Add("ended", run.has_ended_at() ? TimeText(run.ended_at()) : "");
  card.Add("retry at", run.has_retry_at() ? TimeText(run.retry_at()) : "");
  if (run.progress_percent() >= 0) {
    char percent[32];
    std::snprintf(percent, sizeof percent, "%.1f %%", run.progress_percent());
    card.Add("progress", percent);
  }
  card.Add("checkpoint", run.checkpoint());
  card.Add("message", run.message());
  card.Add("result", run.result());
  if (run.has_result_rows()) card.Add("result rows", std::to_string(run.result_rows()));
  card.Add("result digest", run.result_digest());
  for (const auto& [key, value] : run.params()) card.Add("param " + key, value);
  card.Print(cli.out());
  if (run.attempts().empty()) return;
  cli.out() << "\n";
  Table table({"ATTEMPT", "EXECUTOR", "SENT", "STARTED", "ENDED", "OUTCOME", "MESSAGE"});
  for (const v1::Attempt& a : run.attempts()) {
    table.Add({std::to_string(a.attempt()), a.executor_id(),
               a.has_sent_at() ? TimeText(a.sent_at()) : "-",
               a.has_started_at() ? TimeText(a.started_at()) : "-",
               a.has_ended_at() ? TimeText(a.ended_at()) : "-", OrDash(a.outcome()),
               Shorten(a.message(), 100)});
  }
  table.Print(cli.out());
}

int GetRun(Cli& cli, const std::string& run_id) {
  v1::GetRunRequest request;
  request.set_run_id(run_id);
  v1::Run run;
  if (const int code = cli.Call(&Stub::GetRun, request, &run)) return code;
  if (cli.json()) {
    cli.PrintJson(run);
  } else {
    PrintRun(cli, run);
  }
  return kExitDone;
}

void AddGetAndWatch(CLI::App* noun, Cli& cli) {
  auto run_id = std::make_shared<std::string>();
  CLI::App* get = AddVerb(noun, "get", "Show one run with its attempts",
                          "  tidemark run get 019a7c3e-5b1d-7000-8000-3c2f5e0d9a41");
  get->add_option("RUN", *run_id, "Its id, as run list shows it")->required();
  get->callback([&cli, run_id] { cli.run = [&cli, run_id] { return GetRun(cli, *run_id); }; });

  CLI::App* watch =
      AddVerb(noun, "watch", "Follow a run to its end; exit code 1 unless it was done",
              "  tidemark run watch 019a7c3e-5b1d-7000-8000-3c2f5e0d9a41");
  watch->add_option("RUN", *run_id, "Its id, as run list shows it")->required();
  watch->callback([&cli, run_id] {
    cli.run = [&cli, run_id] {
      StopSignals signals;
      return WatchRun(cli, *run_id, signals);
    };
  });
}

// ---------------------------------------------------------------- cancel, rerun, release

struct RunOrderOptions {
  std::string run_id;
  std::string reason;
  bool force = false;
  bool cascade = false;
  bool wait = false;
};

int CancelRun(Cli& cli, const RunOrderOptions& options) {
  v1::CancelRunRequest request;
  request.set_run_id(options.run_id);
  request.set_reason(options.reason);
  request.set_actor(cli.actor());
  v1::CancelRunResponse response;
  if (const int code = cli.Call(&Stub::CancelRun, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  const std::string state = response.was_terminal() ? "nothing to do"
                            : response.queued()     ? "queued"
                            : response.confirmed()  ? "cancelled, it does not run any more"
                                                    : "asked to stop, not confirmed yet";
  cli.out() << state << (response.message().empty() ? "" : ": " + SafeText(response.message()))
            << "\n";
  return kExitDone;
}

// What was computed from the old result, and what becomes of it.
void TellLater(Cli& cli, const v1::TriggerJobResponse& response, bool cascade) {
  const auto& later = response.later_dates();
  const auto& jobs = response.dependents();
  if (later.empty() && jobs.empty()) return;
  std::string what;
  if (!later.empty()) what = Join({later.begin(), later.end()}, ", ");
  if (!jobs.empty()) {
    what += (what.empty() ? "" : ", and ") + ("what " + Join({jobs.begin(), jobs.end()}, ", ")) +
            " did from it";
  }
  cli.out() << "computed from the old result: " << SafeText(what) << "\n"
            << (cascade ? "they are run again, oldest first, once this has succeeded\n"
                        : "they stay as they are; to run them again, too: --force --cascade\n");
}

int RerunRun(Cli& cli, const RunOrderOptions& options) {
  v1::RerunRunRequest request;
  request.set_run_id(options.run_id);
  request.set_force(options.force);
  request.set_cascade(options.cascade);
  request.set_reason(options.reason);
  request.set_actor(cli.actor());
  std::unique_ptr<StopSignals> signals;
  if (options.wait) signals = std::make_unique<StopSignals>();
  v1::TriggerJobResponse response;
  if (const int code = cli.Call(&Stub::RerunRun, request, &response)) return code;
  if (!cli.json()) TellLater(cli, response, options.cascade);
  return ShowStarted(cli, response, signals.get());
}

int ReleaseRun(Cli& cli, const RunOrderOptions& options) {
  v1::ReleaseRunRequest request;
  request.set_run_id(options.run_id);
  request.set_force(options.force);
  request.set_reason(options.reason);
  request.set_actor(cli.actor());
  v1::OrderResponse response;
  if (const int code = cli.Call(&Stub::ReleaseRun, request, &response)) return code;
  return ShowOrder(cli, response);
}

void AddRelease(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<RunOrderOptions>();
  CLI::App* verb = AddVerb(
      noun, "release",
      "Say in your name that a run no longer runs in its executor, which cannot be asked any "
      "more: its date is free for another attempt at once. If it does run all the same, the date "
      "runs twice; a run that can be reached is stopped with run cancel instead",
      "  tidemark run release 019a7c3e-5b1d-7000-8000-3c2f5e0d9a41 --force "
      "--reason \"the host burnt down\"");
  verb->add_option("RUN", options->run_id, "Its id, as run list shows it")->required();
  verb->add_flag("--force", options->force, "You vouch that it does not run any more");
  verb->add_option("--reason", options->reason, "How you know, for the audit; required");
  verb->callback(
      [&cli, options] { cli.run = [&cli, options] { return ReleaseRun(cli, *options); }; });
}

void AddOrders(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<RunOrderOptions>();
  CLI::App* cancel = AddVerb(noun, "cancel", "Stop a run; says whether that is confirmed",
                             "  tidemark run cancel 019a7c3e-5b1d-7000-8000-3c2f5e0d9a41 "
                             "--reason \"wrong bills\"");
  cancel->add_option("RUN", options->run_id, "Its id, as run list shows it")->required();
  cancel->add_option("--reason", options->reason, "Why, for the audit");
  cancel->callback(
      [&cli, options] { cli.run = [&cli, options] { return CancelRun(cli, *options); }; });

  CLI::App* rerun =
      AddVerb(noun, "rerun", "Run what a run was for once more, as a new run",
              "  tidemark run rerun 019a7c3e-5b1d-7000-8000-3c2f5e0d9a41\n"
              "  tidemark run rerun 019a7c3e-5b1d-7000-8000-3c2f5e0d9a41 --force --wait\n"
              "  tidemark run rerun 019a7c3e-5b1d-7000-8000-3c2f5e0d9a41 --force --cascade");
  rerun->add_option("RUN", options->run_id, "Its id, as run list shows it")->required();
  rerun->add_flag("--force", options->force, "Also when its date is DONE");
  rerun->add_flag("--cascade", options->cascade,
                  "With --force: also what was computed from the old result, oldest first: later "
                  "dates of a strict job, then the same dates of jobs that wait for it");
  rerun->add_option("--reason", options->reason, "Why, for the audit");
  rerun->add_flag("--wait", options->wait, "Wait for its end; exit code 1 unless it was done");
  rerun->callback(
      [&cli, options] { cli.run = [&cli, options] { return RerunRun(cli, *options); }; });
}

}  // namespace

void AddRunCommands(CLI::App& app, Cli& cli) {
  CLI::App* noun = app.add_subcommand("run", "Runs, live and ended");
  noun->require_subcommand(1);
  noun->fallthrough();
  noun->footer("Examples:\n  tidemark run list --job recon\n  tidemark run list --status RUNNING");
  AddList(noun, cli);
  AddGetAndWatch(noun, cli);
  AddRunLogs(noun, cli);
  AddOrders(noun, cli);
  AddRelease(noun, cli);
}

}  // namespace tidemark
