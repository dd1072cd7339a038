// tidemark watermark, alert, cluster …
#include <iostream>
#include <memory>

#include "common/text.h"
#include "scheduler/cli/cli.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

using Stub = Cli::Stub;

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

CLI::App* AddNoun(CLI::App& app, const std::string& name, const std::string& description,
                  const std::string& examples) {
  CLI::App* noun = app.add_subcommand(name, description);
  noun->require_subcommand(1);
  noun->fallthrough();
  noun->footer("Examples:\n" + examples);
  return noun;
}

// ---------------------------------------------------------------- watermark

struct WatermarkOptions {
  std::string job;
  std::string from;
  std::string to;
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
      note = "behind " + w.blocked_by();
      if (w.has_blocked_since()) note += " since " + TimeText(w.blocked_since());
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

void AddWatermark(CLI::App& app, Cli& cli) {
  const std::string examples =
      "  tidemark watermark list recon\n"
      "  tidemark watermark list recon --from 2026-11-01 --to 2026-11-30 -o json";
  CLI::App* noun = AddNoun(app, "watermark", "The ledger of a job's business dates", examples);
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

// ---------------------------------------------------------------- alert

struct AlertOptions {
  std::string job;
  bool all = false;
  uint32_t limit = 100;
};

int ListAlerts(Cli& cli, const AlertOptions& options) {
  v1::ListAlertsRequest request;
  request.set_job(options.job);
  request.set_all(options.all);
  request.set_limit(options.limit);
  v1::ListAlertsResponse response;
  if (const int code = cli.Call(&Stub::ListAlerts, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  if (response.alerts().empty()) {
    cli.out() << (options.all ? "no alerts\n" : "no open alerts\n");
    return kExitDone;
  }
  for (const v1::Alert& a : response.alerts()) {
    cli.out() << TimeText(a.raised_at()) << "  " << SafeText(a.severity()) << "  "
              << SafeText(a.kind()) << (a.has_resolved_at() ? "  (resolved)" : "") << "\n    "
              << SafeText(a.summary()) << "\n";
    if (!a.detail().empty()) cli.out() << "    " << SafeText(a.detail()) << "\n";
  }
  return kExitDone;
}

void AddAlert(CLI::App& app, Cli& cli) {
  const std::string examples =
      "  tidemark alert list\n"
      "  tidemark alert list --job recon --all -o json";
  CLI::App* noun = AddNoun(app, "alert", "What a person should know", examples);
  auto options = std::make_shared<AlertOptions>();
  CLI::App* verb = AddVerb(noun, "list", "List open alerts, the newest first", examples);
  verb->add_option("--job", options->job, "Only those of this job");
  verb->add_flag("--all", options->all, "Resolved ones, too");
  verb->add_option("--limit", options->limit, "At most so many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->callback(
      [&cli, options] { cli.run = [&cli, options] { return ListAlerts(cli, *options); }; });
}

// ---------------------------------------------------------------- cluster

int ClusterStatus(Cli& cli) {
  v1::ClusterStatusResponse response;
  if (const int code = cli.Call(&Stub::ClusterStatus, v1::ClusterStatusRequest(), &response)) {
    return code;
  }
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  Card card;
  card.Add("shards", std::to_string(response.shards()) + ", without an owner " +
                         std::to_string(response.unowned_shards()));
  card.Add("jobs", std::to_string(response.jobs()) + ", in error " +
                       std::to_string(response.jobs_in_error()));
  card.Add("live runs", std::to_string(response.live_runs()));
  card.Add("open alerts", std::to_string(response.open_alerts()));
  card.Add("database time", TimeText(response.database_time()));
  card.Add("schema", response.schema_version());
  card.Print(cli.out());
  cli.out() << "\n";
  Table table({"NODE", "ADDRESS", "VERSION", "SHARDS", "LEASE UNTIL", "STATE", "STARTED"});
  for (const v1::Node& node : response.nodes()) {
    const bool over = node.lease_until().seconds() < response.database_time().seconds();
    table.Add({node.node_id(), node.address(), node.version(), std::to_string(node.shards()),
               TimeText(node.lease_until()),
               node.fenced() ? "FENCED"
               : over        ? "GONE"
                             : "UP",
               TimeText(node.started_at())});
  }
  table.Print(cli.out());
  for (const std::string& warning : response.warnings()) {
    cli.out() << "warning: " << SafeText(warning) << "\n";
  }
  return kExitDone;
}

void AddCluster(CLI::App& app, Cli& cli) {
  const std::string examples = "  tidemark cluster status\n  tidemark cluster status -o json";
  CLI::App* noun = AddNoun(app, "cluster", "The scheduler's nodes", examples);
  CLI::App* verb = AddVerb(noun, "status", "Nodes, shards, and what is open", examples);
  verb->callback([&cli] { cli.run = [&cli] { return ClusterStatus(cli); }; });
}

}  // namespace

void AddListCommands(CLI::App& app, Cli& cli) {
  AddWatermark(app, cli);
  AddAlert(app, cli);
  AddCluster(app, cli);
}

}  // namespace tidemark
