// tidemark cluster …
#include <iostream>
#include <memory>

#include "common/text.h"
#include "scheduler/cli/cli.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

using Stub = Cli::Stub;

CLI::App* AddNoun(CLI::App& app, const std::string& name, const std::string& description,
                  const std::string& examples) {
  CLI::App* noun = app.add_subcommand(name, description);
  noun->require_subcommand(1);
  noun->fallthrough();
  noun->footer("Examples:\n" + examples);
  return noun;
}

// ---------------------------------------------------------------- cluster

std::string WhyWithheld(const v1::NodeWatch& watch) {
  std::vector<std::string> words(watch.reasons().begin(), watch.reasons().end());
  if (!watch.look_error().empty()) words.push_back("the look failed: " + watch.look_error());
  if (!watch.ping_error().empty()) words.push_back("the ping failed: " + watch.ping_error());
  return Join(words, "; ");
}

// The watch of the daily check, and the ping that says that all is well.
void PrintWatch(Cli& cli, const v1::ClusterStatusResponse& response) {
  Table table({"WATCH OF NODE", "LAST LOOK", "JOBS", "DATES", "LAST PING", "WITHHELD SINCE",
               "UNTIL", "WHY"});
  bool any = false;
  for (const v1::Node& node : response.nodes()) {
    if (!node.has_watch()) continue;
    any = true;
    const v1::NodeWatch& w = node.watch();
    table.Add({node.node_id(), w.has_looked_at() ? TimeText(w.looked_at()) : "not yet",
               std::to_string(w.jobs()), std::to_string(w.dates()),
               w.has_pinged_at() ? TimeText(w.pinged_at())
               : w.pings()       ? "not yet"
                                 : "no URL",
               w.has_withheld_since() ? TimeText(w.withheld_since()) : "",
               w.has_withheld_until()   ? TimeText(w.withheld_until())
               : w.has_withheld_since() ? "now"
                                        : "",
               WhyWithheld(w)});
  }
  if (!any) return;
  cli.out() << "\n";
  table.Print(cli.out());
}

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
  PrintWatch(cli, response);
  for (const std::string& warning : response.warnings()) {
    cli.out() << "warning: " << SafeText(warning) << "\n";
  }
  return kExitDone;
}

void AddCluster(CLI::App& app, Cli& cli) {
  const std::string examples = "  tidemark cluster status\n  tidemark cluster status -o json";
  CLI::App* noun = AddNoun(app, "cluster", "The scheduler's nodes", examples);
  CLI::App* verb = AddVerb(
      noun, "status", "Nodes, shards, what is open, and how the watch and its ping fare", examples);
  verb->callback([&cli] { cli.run = [&cli] { return ClusterStatus(cli); }; });
}

}  // namespace

void AddListCommands(CLI::App& app, Cli& cli) { AddCluster(app, cli); }

}  // namespace tidemark
