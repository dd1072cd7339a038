// tidemark job …
#include <iostream>
#include <memory>

#include "common/status.h"
#include "common/text.h"
#include "scheduler/cli/cli.h"
#include "scheduler/cli/job_file.h"
#include "scheduler/cli/job_listings.h"
#include "scheduler/cli/read_file.h"
#include "scheduler/cli/run_watch.h"
#include "scheduler/cli/table.h"
#include "scheduler/cli/verify_command.h"

namespace tidemark {
namespace {

using Stub = Cli::Stub;

// ---------------------------------------------------------------- apply

struct ApplyOptions {
  std::string file;
  bool dry_run = false;
  bool waive_gap = false;
  bool fill_gap = false;
};

std::string Quoted(const std::string& value) { return value.empty() ? "(default)" : value; }

void PrintDates(Cli& cli, const std::string& what,
                const google::protobuf::RepeatedPtrField<std::string>& dates) {
  if (dates.empty()) return;
  cli.out() << "  " << what << ": " << SafeText(Join({dates.begin(), dates.end()}, ", ")) << "\n";
}

void PrintApplied(Cli& cli, const v1::ApplyJobsResponse& response, bool dry_run) {
  for (const v1::AppliedJob& job : response.jobs()) {
    std::string what = job.outcome() == v1::AppliedJob::CREATED   ? "created"
                       : job.outcome() == v1::AppliedJob::UPDATED ? "updated"
                                                                  : "unchanged";
    if (dry_run && what != "unchanged") what = "would be " + what;
    cli.out() << "job " << SafeText(job.name()) << ": " << what << " (version " << job.version()
              << ")\n";
    for (const v1::FieldChange& change : job.changes()) {
      const std::string field = "  " + SafeText(change.field()) + ": ";
      if (job.outcome() == v1::AppliedJob::CREATED) {
        if (dry_run) cli.out() << field << SafeText(change.after()) << "\n";
      } else {
        cli.out() << field << SafeText(Quoted(change.before())) << " → "
                  << SafeText(Quoted(change.after())) << "\n";
      }
    }
    PrintDates(cli, "given up (WAIVED)", job.waived_dates());
    PrintDates(cli, "runs at its old time", job.filled_dates());
    PrintDates(cli, "runs once, at its old time", job.kept_dates());
    for (const std::string& warning : job.warnings()) {
      cli.out() << "  warning: " << SafeText(warning) << "\n";
    }
  }
}

int Apply(Cli& cli, const ApplyOptions& options) {
  const absl::StatusOr<std::string> text = ReadFile(cli.in(), options.file);
  if (!text.ok()) {
    return cli.Fail(kExitUsage, Message(text.status()), "give a file that exists, or - for stdin");
  }
  const absl::StatusOr<std::vector<v1::JobSpec>> jobs =
      ParseJobFile(*text, options.file == "-" ? "stdin" : options.file);
  if (!jobs.ok()) {
    return cli.Fail(kExitUsage, Message(jobs.status()),
                    "nothing was applied; mend the file and apply it again");
  }
  v1::ApplyJobsRequest request;
  *request.mutable_jobs() = {jobs->begin(), jobs->end()};
  request.set_dry_run(options.dry_run);
  request.set_waive_gap(options.waive_gap);
  request.set_fill_gap(options.fill_gap);
  request.set_actor(cli.actor());
  v1::ApplyJobsResponse response;
  if (const int code = cli.Call(&Stub::ApplyJobs, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
  } else {
    PrintApplied(cli, response, options.dry_run);
  }
  return kExitDone;
}

void AddApply(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<ApplyOptions>();
  CLI::App* verb = AddVerb(noun, "apply", "Make and change jobs as a YAML file says; idempotent",
                           "  tidemark job apply -f jobs.yaml --dry-run\n"
                           "  tidemark job apply -f jobs.yaml\n"
                           "  generate-jobs | tidemark job apply -f -");
  verb->add_option("-f,--file", options->file, "The job file; - is stdin")->required();
  verb->add_flag("--dry-run", options->dry_run, "Only print what would change");
  CLI::Option* waive =
      verb->add_flag("--waive-gap", options->waive_gap,
                     "Dates that the edit of a schedule would lose become WAIVED, with your name");
  verb->add_flag("--fill-gap", options->fill_gap, "… are run, at their old time")->excludes(waive);
  verb->callback([&cli, options] { cli.run = [&cli, options] { return Apply(cli, *options); }; });
}

// ---------------------------------------------------------------- trigger

struct TriggerOptions {
  std::string name;
  std::string biz_date;
  std::vector<std::string> params;
  std::string executor;
  std::string request_id;
  std::string reason;
  bool wait = false;
};

int Trigger(Cli& cli, const TriggerOptions& options) {
  v1::TriggerJobRequest request;
  request.set_name(options.name);
  request.set_biz_date(options.biz_date);
  for (const std::string& param : options.params) {
    const size_t equals = param.find('=');
    if (equals == std::string::npos || equals == 0) {
      return cli.Fail(kExitUsage, "--param '" + param + "' is not NAME=VALUE",
                      "as --param bills=/data/bills");
    }
    const std::string key = param.substr(0, equals);
    if (request.params().contains(key)) {
      return cli.Fail(kExitUsage, "--param '" + key + "' is given twice", "keep one");
    }
    (*request.mutable_params())[key] = param.substr(equals + 1);
  }
  request.set_executor_id(options.executor);
  request.set_request_id(options.request_id);
  request.set_reason(options.reason);
  request.set_actor(cli.actor());
  // Signals are watched from here on: before gRPC starts its threads.
  std::unique_ptr<StopSignals> signals;
  if (options.wait) signals = std::make_unique<StopSignals>();
  v1::TriggerJobResponse response;
  if (const int code = cli.Call(&Stub::TriggerJob, request, &response)) return code;
  return ShowStarted(cli, response, signals.get());
}

void AddTrigger(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<TriggerOptions>();
  CLI::App* verb =
      AddVerb(noun, "trigger", "Run a job now",
              "  tidemark job trigger recon\n"
              "  tidemark job trigger recon --biz-date 2026-11-27 --wait\n"
              "  tidemark job trigger report --param month=2026-11 --request-id ticket-7");
  verb->add_option("JOB", options->name, "Its name")->required();
  verb->add_option("--biz-date", options->biz_date, "YYYY-MM-DD; default: the latest due date");
  verb->add_option("--param", options->params, "NAME=VALUE, over the job's own, for this run")
      ->allow_extra_args(false);
  verb->add_option("--executor", options->executor, "Run it there or nowhere");
  verb->add_option("--request-id", options->request_id,
                   "The same id again answers with the same run");
  verb->add_option("--reason", options->reason, "Why, for the audit");
  verb->add_flag("--wait", options->wait, "Wait for its end; exit code 1 unless it was done");
  verb->callback([&cli, options] { cli.run = [&cli, options] { return Trigger(cli, *options); }; });
}

// ---------------------------------------------------------------- pause, resume, delete

struct OrderOptions {
  std::string name;
  std::string reason;
  bool skip_missed = false;
};

int Pause(Cli& cli, const OrderOptions& options) {
  v1::PauseJobRequest request;
  request.set_name(options.name);
  request.set_reason(options.reason);
  request.set_actor(cli.actor());
  v1::OrderResponse response;
  if (const int code = cli.Call(&Stub::PauseJob, request, &response)) return code;
  return ShowOrder(cli, response);
}

int Resume(Cli& cli, const OrderOptions& options) {
  v1::ResumeJobRequest request;
  request.set_name(options.name);
  request.set_skip_missed(options.skip_missed);
  request.set_actor(cli.actor());
  v1::OrderResponse response;
  if (const int code = cli.Call(&Stub::ResumeJob, request, &response)) return code;
  return ShowOrder(cli, response);
}

int Delete(Cli& cli, const OrderOptions& options) {
  v1::DeleteJobRequest request;
  request.set_name(options.name);
  request.set_actor(cli.actor());
  v1::OrderResponse response;
  if (const int code = cli.Call(&Stub::DeleteJob, request, &response)) return code;
  return ShowOrder(cli, response);
}

void AddOrders(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<OrderOptions>();
  CLI::App* pause = AddVerb(noun, "pause", "Stop a job from firing; what runs goes on",
                            "  tidemark job pause recon --reason \"the channel is down\"");
  pause->add_option("JOB", options->name, "Its name")->required();
  pause->add_option("--reason", options->reason, "Why")->required();
  pause->callback([&cli, options] { cli.run = [&cli, options] { return Pause(cli, *options); }; });

  CLI::App* resume = AddVerb(noun, "resume", "Let a paused job fire again",
                             "  tidemark job resume recon\n"
                             "  tidemark job resume recon --skip-missed");
  resume->add_option("JOB", options->name, "Its name")->required();
  resume->add_flag("--skip-missed", options->skip_missed,
                   "Missed dates become WAIVED instead of being caught up");
  resume->callback(
      [&cli, options] { cli.run = [&cli, options] { return Resume(cli, *options); }; });

  CLI::App* remove =
      AddVerb(noun, "delete", "Delete a job; its history is kept", "  tidemark job delete recon");
  remove->add_option("JOB", options->name, "Its name")->required();
  remove->callback(
      [&cli, options] { cli.run = [&cli, options] { return Delete(cli, *options); }; });
}

}  // namespace

void AddJobCommands(CLI::App& app, Cli& cli) {
  CLI::App* noun = app.add_subcommand("job", "Definitions of jobs");
  noun->require_subcommand(1);
  noun->fallthrough();
  noun->footer("Examples:\n  tidemark job list\n  tidemark job apply -f jobs.yaml");
  AddApply(noun, cli);
  AddJobListings(noun, cli);
  AddTrigger(noun, cli);
  AddOrders(noun, cli);
  AddVerify(noun, cli);
  AddJobUpkeepVerbs(noun, cli);
}

}  // namespace tidemark
