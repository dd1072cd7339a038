// tidemark watermark …
#include <iostream>
#include <memory>

#include "common/text.h"
#include "scheduler/cli/cli.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

using Stub = Cli::Stub;

// ---------------------------------------------------------------- list

struct WatermarkOptions {
  std::string job;
  std::string date;
  std::string from;
  std::string to;
  std::string reason;
  uint32_t limit = 400;
};

int ListWatermarks(Cli& cli, const WatermarkOptions& options) {
  v1::ListWatermarksRequest request;
  request.set_job(options.job);
  request.set_from(options.from);
  request.set_to(options.to);
  request.set_limit(options.limit);
  v1::ListWatermarksResponse response;
  if (const int code = cli.Call(&Stub::ListWatermarks, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  Table table({"BIZ DATE", "STATUS", "DUE AT", "FINISHED", "ROWS", "DIGEST", "RUN", "NOTE"});
  for (const v1::Watermark& w : response.watermarks()) {
    std::string note = w.note();
    if (!w.blocked_by().empty()) {
      // Behind a date of its own, or after one of another job.
      note = (w.blocked_by().find('@') == std::string::npos ? "behind " : "after ") +
             w.blocked_by() + (note.empty() ? "" : ": " + note);
    }
    table.Add({w.biz_date(), w.status(), TimeText(w.fire_time()),
               w.has_finished_at() ? TimeText(w.finished_at()) : "-",
               w.has_result_rows() ? std::to_string(w.result_rows()) : "-",
               OrDash(Shorten(w.result_digest(), 16)), OrDash(w.run_id()), note});
  }
  table.Print(cli.out());
  cli.out() << "high watermark: " << SafeText(OrDash(response.high_watermark())) << "\n";
  return kExitDone;
}

void AddList(CLI::App* noun, Cli& cli, const std::string& examples) {
  auto options = std::make_shared<WatermarkOptions>();
  CLI::App* verb = AddVerb(noun, "list", "Every due date with its state", examples);
  verb->add_option("JOB", options->job, "The job's name")->required();
  verb->add_option("--from", options->from, "First date (YYYY-MM-DD)");
  verb->add_option("--to", options->to, "Last date (YYYY-MM-DD)");
  verb->add_option("--limit", options->limit, "The latest so many")
      ->check(CLI::Range(1, 5000))
      ->capture_default_str();
  verb->callback(
      [&cli, options] { cli.run = [&cli, options] { return ListWatermarks(cli, *options); }; });
}

// ---------------------------------------------------------------- waive, force-done, unwaive

int ShowDates(Cli& cli, const v1::DatesResponse& response) {
  if (cli.json()) {
    cli.PrintJson(response);
  } else {
    cli.out() << SafeText(response.message()) << "\n";
  }
  return kExitDone;
}

// Waive and unwaive: one date or a range.
template <typename Request>
int OrderDates(Cli& cli, const WatermarkOptions& options,
               grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                            v1::DatesResponse*)) {
  Request request;
  request.set_job(options.job);
  request.set_biz_date(options.date);
  request.set_from(options.from);
  request.set_to(options.to);
  request.set_reason(options.reason);
  request.set_actor(cli.actor());
  v1::DatesResponse response;
  if (const int code = cli.Call(method, request, &response)) return code;
  return ShowDates(cli, response);
}

int ForceDone(Cli& cli, const WatermarkOptions& options) {
  v1::ForceDoneRequest request;
  request.set_job(options.job);
  request.set_biz_date(options.date);
  request.set_reason(options.reason);
  request.set_actor(cli.actor());
  v1::DatesResponse response;
  if (const int code = cli.Call(&Stub::ForceDone, request, &response)) return code;
  return ShowDates(cli, response);
}

void AddDates(CLI::App* verb, WatermarkOptions& options) {
  verb->add_option("JOB", options.job, "The job's name")->required();
  CLI::Option* date = verb->add_option("DATE", options.date, "Its business date (YYYY-MM-DD)");
  CLI::Option* from = verb->add_option("--from", options.from, "Instead: the first of a range");
  CLI::Option* to = verb->add_option("--to", options.to, "… and the last");
  from->needs(to)->excludes(date);
  to->needs(from)->excludes(date);
}

void AddOrders(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<WatermarkOptions>();
  CLI::App* waive =
      AddVerb(noun, "waive", "Accept that due dates will not run; what is settled stays",
              "  tidemark watermark waive recon 2026-11-26 --reason \"the bank was closed\"\n"
              "  tidemark watermark waive recon --from 2026-10-01 --to 2026-10-07 --reason \"…\"");
  AddDates(waive, *options);
  waive->add_option("--reason", options->reason, "Why; kept with each date")->required();
  waive->callback([&cli, options] {
    cli.run = [&cli, options] { return OrderDates(cli, *options, &Stub::WaiveDates); };
  });

  CLI::App* force = AddVerb(
      noun, "force-done", "Count a due date as done although no run of the scheduler did it",
      "  tidemark watermark force-done recon 2026-11-26 --reason \"done by hand, ticket 4711\"");
  force->add_option("JOB", options->job, "The job's name")->required();
  force->add_option("DATE", options->date, "Its business date (YYYY-MM-DD)")->required();
  force->add_option("--reason", options->reason, "Why; kept with the date")->required();
  force->callback(
      [&cli, options] { cli.run = [&cli, options] { return ForceDone(cli, *options); }; });

  CLI::App* unwaive =
      AddVerb(noun, "unwaive", "Take a waive or force-done back: the dates are due again",
              "  tidemark watermark unwaive recon 2026-11-26\n"
              "  tidemark watermark unwaive recon --from 2026-10-01 --to 2026-10-07");
  AddDates(unwaive, *options);
  unwaive->add_option("--reason", options->reason, "Why, for the audit");
  unwaive->callback([&cli, options] {
    cli.run = [&cli, options] { return OrderDates(cli, *options, &Stub::UnwaiveDates); };
  });
}

}  // namespace

void AddWatermarkCommands(CLI::App& app, Cli& cli) {
  const std::string examples =
      "  tidemark watermark list recon\n"
      "  tidemark watermark list recon --from 2026-11-01 --to 2026-11-30 -o json";
  CLI::App* noun = app.add_subcommand("watermark", "The ledger of a job's business dates");
  noun->require_subcommand(1);
  noun->fallthrough();
  noun->footer("Examples:\n" + examples);
  AddList(noun, cli, examples);
  AddOrders(noun, cli);
}

}  // namespace tidemark
