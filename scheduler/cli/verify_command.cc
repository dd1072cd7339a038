#include "scheduler/cli/verify_command.h"

#include <iostream>
#include <memory>

#include "common/text.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

using Stub = Cli::Stub;

struct VerifyOptions {
  std::string job;
  std::string from;
  std::string to;
};

void PrintFindings(Cli& cli, const v1::VerifyJobsResponse& all) {
  if (!all.findings().empty()) {
    Table table({"JOB", "DATE OR FIRE", "FINDING", "RUNS", "WHAT"});
    for (const v1::VerifyFinding& finding : all.findings()) {
      const std::string when =
          finding.has_fire_time() ? TimeText(finding.fire_time()) : finding.biz_date();
      table.Add({finding.job(), when.empty() ? "-" : when, finding.kind(),
                 finding.run_ids().empty()
                     ? "-"
                     : Join({finding.run_ids().begin(), finding.run_ids().end()}, " "),
                 finding.text()});
    }
    table.Print(cli.out());
  }
  for (const std::string& note : all.notes()) cli.out() << "note: " << SafeText(note) << "\n";
  cli.out() << all.findings_size() << (all.findings_size() == 1 ? " finding" : " findings")
            << " in " << all.judged() << " due dates and fires of " << all.jobs()
            << (all.jobs() == 1 ? " job\n" : " jobs\n");
}

// Page by page, so that no answer takes long however many jobs there are.
int Verify(Cli& cli, const VerifyOptions& options) {
  v1::VerifyJobsRequest request;
  request.set_job(options.job);
  request.set_from(options.from);
  request.set_to(options.to);
  v1::VerifyJobsResponse all;
  for (bool more = true; more;) {
    v1::VerifyJobsResponse page;
    if (const int code = cli.Call(&Stub::VerifyJobs, request, &page)) return code;
    more = page.more();
    request.set_after_name(page.last_name());
    all.mutable_findings()->MergeFrom(page.findings());
    all.mutable_notes()->MergeFrom(page.notes());
    all.set_jobs(all.jobs() + page.jobs());
    all.set_judged(all.judged() + page.judged());
  }
  if (cli.json()) {
    cli.PrintJson(all);
  } else {
    PrintFindings(cli, all);
  }
  return all.findings().empty() ? kExitDone : kExitFailed;
}

}  // namespace

void AddVerify(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* verb = AddVerb(
      noun, "verify",
      "Replay what is kept of a job (or of all) against its schedule and say what does not fit:\n"
      "missed, duplicate, overlapping, out_of_order, unexplained. Exit code 0: nothing; 1: "
      "findings",
      "  tidemark job verify\n"
      "  tidemark job verify recon --from 2026-11-01 --to 2026-11-30 -o json");
  verb->add_option("JOB", options->job, "Its name; without one, all jobs");
  verb->add_option(
      "--from", options->from,
      "First business date, of interval jobs first local day (YYYY-MM-DD); 90 days back");
  verb->add_option("--to", options->to, "Last one; today");
  verb->callback([&cli, options] { cli.run = [&cli, options] { return Verify(cli, *options); }; });
}

}  // namespace tidemark
