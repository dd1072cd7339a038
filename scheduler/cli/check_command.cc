// tidemark check …
#include <iostream>
#include <memory>

#include "common/text.h"
#include "scheduler/cli/cli.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

using CheckStub = Cli::CheckStub;

struct CheckOptions {
  std::string job;
  std::string date;
  std::string from;
  std::string to;
  bool late = false;
  uint32_t limit = 100;
};

// "LATE, settled 2026-11-29T10:12:00Z"
std::string VerdictText(const v1::CheckedDate& date) {
  if (!date.has_settled_at()) return date.verdict();
  return date.verdict() + ", settled " + TimeText(date.settled_at());
}

// ---------------------------------------------------------------- run

void PrintChecked(Cli& cli, const v1::RunCheckResponse& all) {
  if (!all.dates().empty()) {
    Table table({"JOB", "DATE", "STATE", "VERDICT", "EXPECTED BY", "DUE SINCE", "RUN", "NOTE"});
    for (const v1::CheckedDate& d : all.dates()) {
      table.Add({d.job(), d.biz_date(), OrDash(d.state()), VerdictText(d),
                 TimeText(d.expected_at()), TimeText(d.due_at()), OrDash(d.run_id()), d.note()});
    }
    table.Print(cli.out());
  }
  for (const std::string& note : all.notes()) cli.out() << "note: " << SafeText(note) << "\n";
  cli.out() << all.late() << (all.late() == 1 ? " date is late" : " dates are late") << ", of "
            << all.jobs() << (all.jobs() == 1 ? " job\n" : " jobs\n");
}

// Page by page, so that no answer takes long however many jobs there are.
int RunCheck(Cli& cli, const CheckOptions& options) {
  v1::RunCheckRequest request;
  request.set_job(options.job);
  request.set_date(options.date);
  v1::RunCheckResponse all;
  for (bool more = true; more;) {
    v1::RunCheckResponse page;
    if (const int code = cli.Call(&CheckStub::RunCheck, request, &page)) return code;
    more = page.more();
    request.set_after_name(page.last_name());
    all.mutable_dates()->MergeFrom(page.dates());
    all.mutable_notes()->MergeFrom(page.notes());
    all.set_jobs(all.jobs() + page.jobs());
    all.set_late(all.late() + page.late());
  }
  if (cli.json()) {
    cli.PrintJson(all);
  } else {
    PrintChecked(cli, all);
  }
  return all.late() == 0 && all.notes().empty() ? kExitDone : kExitFailed;
}

// ---------------------------------------------------------------- list

int ListVerdicts(Cli& cli, const CheckOptions& options) {
  v1::ListVerdictsRequest request;
  request.set_job(options.job);
  request.set_from(options.from);
  request.set_to(options.to);
  request.set_late(options.late);
  request.set_limit(options.limit);
  v1::ListVerdictsResponse response;
  if (const int code = cli.Call(&CheckStub::ListVerdicts, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  if (response.dates().empty()) {
    cli.out() << "no verdict" << (options.late ? " LATE" : "")
              << " so far (tidemark check run looks now)\n";
    return kExitDone;
  }
  Table table({"JOB", "DATE", "STATE", "VERDICT", "EXPECTED BY", "CHECKED", "RUN", "NOTE"});
  for (const v1::CheckedDate& d : response.dates()) {
    table.Add({d.job(), d.biz_date(), d.state(), VerdictText(d), TimeText(d.expected_at()),
               TimeText(d.checked_at()), OrDash(d.run_id()), d.note()});
  }
  table.Print(cli.out());
  return kExitDone;
}

// ---------------------------------------------------------------- the noun

void AddRun(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* verb = AddVerb(
      noun, "run",
      "Look now which dates are not done by the time they were expected: of each job the last\n"
      "date expected so far, and all before it that are not settled. Changes nothing and alerts\n"
      "nobody: the scheduler does that by itself. Exit code 0: none is late; 1: some are, or a\n"
      "job is in error. Paused jobs are shown and are not late",
      "  tidemark check run\n"
      "  tidemark check run recon --date 2026-11-29");
  verb->add_option("JOB", options->job, "Its name; without one, all jobs that work on dates");
  verb->add_option("--date", options->date,
                   "The dates expected on that day in the job's zone (YYYY-MM-DD), done or not; "
                   "those still ahead are EXPECTED");
  verb->callback(
      [&cli, options] { cli.run = [&cli, options] { return RunCheck(cli, *options); }; });
}

void AddList(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* verb = AddVerb(
      noun, "list",
      "The verdicts that the scheduler gave, one a date, those expected last first: ON_TIME,\n"
      "LATE (with the time at which it was settled after all), PAUSED",
      "  tidemark check list recon\n"
      "  tidemark check list --late --from 2026-11-01");
  verb->add_option("JOB", options->job, "Its name; without one, all jobs");
  verb->add_option("--from", options->from, "First business date (YYYY-MM-DD)");
  verb->add_option("--to", options->to, "Last one");
  verb->add_flag("--late", options->late, "Only those that were late");
  verb->add_option("--limit", options->limit, "At most so many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->callback(
      [&cli, options] { cli.run = [&cli, options] { return ListVerdicts(cli, *options); }; });
}

}  // namespace

void AddCheckCommands(CLI::App& app, Cli& cli) {
  CLI::App* noun =
      app.add_subcommand("check", "Which dates are done by the time they were expected");
  noun->require_subcommand(1);
  noun->fallthrough();
  noun->footer(
      "Examples:\n"
      "  tidemark check run\n"
      "  tidemark check list --late");
  AddRun(noun, cli);
  AddList(noun, cli);
}

}  // namespace tidemark
