// tidemark cluster …
#include <iostream>
#include <memory>

#include "common/lifecycle.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/cli/cli.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

using Stub = Cli::Stub;

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

// "1.2s", "-250ms"; "" when it is not known.
std::string Short(bool known, const google::protobuf::Duration& d) {
  if (!known) return "";
  const absl::Duration value = absl::Seconds(d.seconds()) + absl::Nanoseconds(d.nanos());
  const absl::Duration shown = absl::Floor(absl::AbsDuration(value), absl::Milliseconds(1));
  if (shown == absl::ZeroDuration() && value != shown) return "<1ms";
  return (value < absl::ZeroDuration() && shown > absl::ZeroDuration() ? "-" : "") +
         DurationText(shown);
}

std::string LeaseLeft(const v1::Node& node, const google::protobuf::Timestamp& now) {
  const absl::Duration left = absl::Seconds(node.lease_until().seconds() - now.seconds()) +
                              absl::Nanoseconds(node.lease_until().nanos() - now.nanos());
  if (left <= absl::ZeroDuration()) return "over since " + TimeText(node.lease_until());
  return DurationText(absl::Floor(left, absl::Milliseconds(100)));
}

void PrintNodes(Cli& cli, const v1::ClusterStatusResponse& response) {
  Table table({"NODE", "ADDRESS", "VERSION", "STATE", "SHARDS", "LEASE LEFT", "LAG", "CLOCK OFFSET",
               "STARTED"});
  for (const v1::Node& node : response.nodes()) {
    std::string offset = Short(node.has_clock_offset(), node.clock_offset());
    if (node.has_clock_uncertainty()) offset += " ±" + Short(true, node.clock_uncertainty());
    table.Add({node.node_id(), node.address(), node.version(), node.state(),
               std::to_string(node.shards()), LeaseLeft(node, response.database_time()),
               Short(node.has_lag(), node.lag()), offset, TimeText(node.started_at())});
  }
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
  PrintNodes(cli, response);
  PrintWatch(cli, response);
  for (const std::string& warning : response.warnings()) {
    cli.out() << "warning: " << SafeText(warning) << "\n";
  }
  return kExitDone;
}

struct DrainOptions {
  v1::DrainNodeRequest request;
  bool wait = false;
  double timeout_minutes = 5;
};

const v1::Node* FindNode(const v1::ClusterStatusResponse& status, const std::string& node_id) {
  for (const v1::Node& node : status.nodes()) {
    if (node.node_id() == node_id) return &node;
  }
  return nullptr;
}

// Until it owns nothing any more, and all shards have an owner.
int WaitForDrained(Cli& cli, const DrainOptions& options) {
  constexpr absl::Duration kLook = absl::Milliseconds(250);
  const std::string& id = options.request.node_id();
  const absl::Duration end = cli.clock().Monotonic() + absl::Minutes(options.timeout_minutes);
  StopSignals signals;
  for (;;) {
    v1::ClusterStatusResponse status;
    const grpc::Status answer =
        cli.TryCall(&Stub::ClusterStatus, v1::ClusterStatusRequest(), &status);
    if (!answer.ok() && answer.error_code() != grpc::StatusCode::UNAVAILABLE) {
      return cli.Report(answer);
    }
    const v1::Node* node = FindNode(status, id);
    const uint32_t shards = node == nullptr ? 0 : node->shards();
    if (answer.ok() && shards == 0 && status.unowned_shards() == 0) {
      if (!cli.json()) cli.out() << "node '" << SafeText(id) << "' owns no shard any more\n";
      return kExitDone;
    }
    if (cli.clock().Monotonic() >= end) {
      return cli.Fail(kExitFailed,
                      "node '" + id + "' still has " + std::to_string(shards) + " shards, and " +
                          std::to_string(status.unowned_shards()) + " have no owner",
                      "look at the nodes with tidemark cluster status, and at their logs");
    }
    if (signals.Wait(kLook) != 0) {
      return cli.Fail(kExitFailed, "interrupted; the node goes on giving its shards away",
                      "tidemark cluster status shows how far it is");
    }
  }
}

int DrainNode(Cli& cli, DrainOptions& options) {
  if (options.wait && options.request.undo()) {
    return cli.Fail(kExitUsage, "--wait and --undo exclude each other",
                    "tidemark cluster drain NODE --undo returns at once");
  }
  options.request.set_actor(cli.actor());
  v1::OrderResponse response;
  if (const int code = cli.Call(&Stub::DrainNode, options.request, &response)) return code;
  ShowOrder(cli, response);
  return options.wait ? WaitForDrained(cli, options) : kExitDone;
}

void AddDrain(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<DrainOptions>();
  v1::DrainNodeRequest& request = options->request;
  CLI::App* verb = AddVerb(
      noun, "drain",
      "Let a node give its shards to the others and take none, before it is stopped; what runs "
      "goes on, and it goes on answering. Holds until the node is started anew, or --undo",
      "  tidemark cluster drain node-1 --wait --reason \"upgrade\"\n"
      "  tidemark cluster drain node-1 --undo");
  verb->add_option("NODE", *request.mutable_node_id(), "Its id, as cluster status shows it")
      ->required();
  verb->add_flag_callback(
      "--undo", [&request] { request.set_undo(true); }, "It takes shards again");
  verb->add_option("--reason", *request.mutable_reason(), "Why, for the audit");
  verb->add_flag("--wait", options->wait, "Return once it owns nothing any more");
  verb->add_option("--wait-minutes", options->timeout_minutes, "With --wait: for so long at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->callback(
      [&cli, options] { cli.run = [&cli, options] { return DrainNode(cli, *options); }; });
}

}  // namespace

void AddClusterCommands(CLI::App& app, Cli& cli) {
  const std::string examples = "  tidemark cluster status\n  tidemark cluster status -o json";
  CLI::App* noun = app.add_subcommand("cluster", "The scheduler's nodes");
  noun->require_subcommand(1);
  noun->fallthrough();
  noun->footer("Examples:\n" + examples + "\n  tidemark cluster drain node-1 --wait");
  CLI::App* verb = AddVerb(
      noun, "status",
      "Nodes with their shards, leases, lag and clocks; what is open; how the watch and its ping "
      "fare; and what needs a look",
      examples);
  verb->callback([&cli] { cli.run = [&cli] { return ClusterStatus(cli); }; });
  AddDrain(noun, cli);
}

}  // namespace tidemark
