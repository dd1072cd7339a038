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

void AddListCommands(CLI::App& app, Cli& cli) { AddCluster(app, cli); }

}  // namespace tidemark
