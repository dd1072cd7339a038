#include "scheduler/cli/job_listings.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

using Stub = Cli::Stub;

std::string StateOf(const v1::Job& job) {
  if (!job.error().empty()) return "ERROR";
  if (job.finished()) return "FINISHED";
  if (job.paused()) return "PAUSED";
  if (job.spec().has_enabled() && !job.spec().enabled()) return "DISABLED";
  return "ACTIVE";
}

std::string ScheduleText(const v1::ScheduleSpec& s) {
  const std::string zone = s.zone().empty() ? "" : " " + s.zone();
  if (!s.cron().empty()) return s.cron() + zone;
  if (s.has_every()) return "every " + DurationText(absl::Seconds(s.every().seconds()));
  if (s.has_at()) return "at " + TimeText(s.at());
  return "manual";
}

struct JobListOptions {
  v1::ListJobsRequest request;
  std::string app;
  std::string ns;
  std::string after;
  uint32_t limit = 100;
};

int ListJobs(Cli& cli, const JobListOptions& options) {
  v1::ListJobsRequest request;
  request.set_app(options.app);
  request.set_namespace_(options.ns);
  request.set_after_name(options.after);
  request.set_limit(options.limit);
  v1::ListJobsResponse response;
  if (const int code = cli.Call(&Stub::ListJobs, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  Table table({"NAME", "APP", "STATE", "SCHEDULE", "NEXT FIRE", "HIGH WATERMARK", "LIVE"});
  for (const v1::Job& job : response.jobs()) {
    table.Add({job.spec().name(), job.spec().app(), StateOf(job),
               ScheduleText(job.spec().schedule()),
               job.has_next_fire() ? TimeText(job.next_fire()) : "-",
               job.high_watermark().empty() ? "-" : job.high_watermark(),
               std::to_string(job.live_runs())});
  }
  table.Print(cli.out());
  if (response.more()) {
    const std::string last = response.jobs(response.jobs_size() - 1).spec().name();
    cli.out() << "more: --after '" << SafeText(last) << "'\n";
  }
  return kExitDone;
}

void AddList(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<JobListOptions>();
  CLI::App* verb = AddVerb(noun, "list", "List jobs by name",
                           "  tidemark job list\n"
                           "  tidemark job list --app recon -o json");
  verb->add_option("--app", options->app, "Only jobs of this app");
  verb->add_option("--namespace", options->ns, "Only jobs of this namespace");
  verb->add_option("--after", options->after, "Names after this one: the next page");
  verb->add_option("--limit", options->limit, "At most so many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->callback(
      [&cli, options] { cli.run = [&cli, options] { return ListJobs(cli, *options); }; });
}

// Each job one step to the right of the last that it waits for.
void PrintChain(Cli& cli, const v1::Job& job) {
  if (job.chain().empty()) return;
  cli.out() << "\nchain, upstream first:\n";
  std::map<std::string, size_t> depth;
  for (const v1::ChainLink& link : job.chain()) {
    std::vector<std::string> after;
    size_t own = 0;
    for (const v1::Dependency& d : link.after()) {
      const auto found = depth.find(d.job());
      if (found != depth.end()) own = std::max(own, found->second + 1);
      after.push_back(d.job() + (d.offset() == 0  ? ""
                                 : d.offset() > 0 ? " +" + std::to_string(d.offset()) + "d"
                                                  : " " + std::to_string(d.offset()) + "d"));
    }
    depth[link.job()] = own;
    cli.out() << "  " << std::string(3 * own, ' ') << (own == 0 ? "" : "└─ ")
              << SafeText(link.job())
              << (after.empty() ? "" : " (after " + SafeText(Join(after, ", ")) + ")") << ": "
              << (link.high_watermark().empty() ? "nothing done"
                                                : "done to " + SafeText(link.high_watermark()))
              << (link.paused() ? ", paused" : "")
              << (link.job() == job.spec().name() ? "  ← this job" : "") << "\n";
  }
}

int GetJob(Cli& cli, const std::string& name) {
  v1::GetJobRequest request;
  request.set_name(name);
  v1::Job job;
  if (const int code = cli.Call(&Stub::GetJob, request, &job)) return code;
  if (cli.json()) {
    cli.PrintJson(job);
    return kExitDone;
  }
  Card card;
  card.Add("name", job.spec().name());
  card.Add("state", StateOf(job));
  card.Add("error", job.error());
  if (job.paused()) {
    card.Add("paused", "by " + job.paused_by() + " since " + TimeText(job.paused_at()) + ": " +
                           job.pause_reason());
  }
  card.Add("app", job.spec().app());
  card.Add("handler", job.spec().handler());
  card.Add("schedule", ScheduleText(job.spec().schedule()));
  card.Add("tracked by", job.error().empty() ? (job.dated() ? "business date" : "fire time") : "");
  card.Add("next fire", job.has_next_fire() ? TimeText(job.next_fire()) : "");
  card.Add("next date", job.next_biz_date());
  card.Add("high watermark", job.high_watermark());
  card.Add("live runs", std::to_string(job.live_runs()));
  card.Add("owner", job.spec().owner());
  card.Add("description", job.spec().description());
  card.Add("version", std::to_string(job.version()) + " of " + TimeText(job.updated_at()));
  card.Print(cli.out());
  PrintChain(cli, job);
  return kExitDone;
}

struct NextOptions {
  std::string name;
  uint32_t count = 5;
  std::string from;
};

int NextFires(Cli& cli, const NextOptions& options) {
  v1::NextFiresRequest request;
  request.set_name(options.name);
  request.set_count(options.count);
  if (!options.from.empty()) {
    const absl::StatusOr<absl::Time> from = ParseInstant(options.from);
    if (!from.ok()) return cli.Fail(kExitUsage, "--from: " + Message(from.status()), "");
    request.mutable_from()->set_seconds(absl::ToUnixSeconds(*from));
  }
  v1::NextFiresResponse response;
  if (const int code = cli.Call(&Stub::NextFires, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  if (response.never()) {
    cli.out() << "never\n";
  } else {
    Table table({"FIRES AT", "BIZ DATE"});
    for (const v1::Fire& fire : response.fires()) {
      table.Add({fire.at(), fire.biz_date().empty() ? "-" : fire.biz_date()});
    }
    table.Print(cli.out());
  }
  for (const std::string& warning : response.warnings()) {
    cli.out() << "warning: " << SafeText(warning) << "\n";
  }
  return kExitDone;
}

void AddGetAndNext(CLI::App* noun, Cli& cli) {
  auto name = std::make_shared<std::string>();
  CLI::App* get = AddVerb(noun, "get", "Show one job",
                          "  tidemark job get recon\n"
                          "  tidemark job get recon -o json");
  get->add_option("JOB", *name, "Its name")->required();
  get->callback([&cli, name] { cli.run = [&cli, name] { return GetJob(cli, *name); }; });

  auto options = std::make_shared<NextOptions>();
  CLI::App* next = AddVerb(noun, "next", "Show when a job fires next",
                           "  tidemark job next recon -n 10\n"
                           "  tidemark job next recon --from 2027-03-01T00:00:00+08:00");
  next->add_option("JOB", options->name, "Its name")->required();
  next->add_option("-n,--count", options->count, "So many fires")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  next->add_option("--from", options->from, "After this time (RFC 3339); default: now");
  next->callback(
      [&cli, options] { cli.run = [&cli, options] { return NextFires(cli, *options); }; });
}

}  // namespace

void AddJobListings(CLI::App* noun, Cli& cli) {
  AddList(noun, cli);
  AddGetAndNext(noun, cli);
}

}  // namespace tidemark
