// tidemark executor …
#include <iostream>
#include <memory>

#include "common/text.h"
#include "scheduler/cli/cli.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

using Stub = Cli::Stub;

struct ExecutorListOptions {
  std::string app;
  bool all = false;
};

// What the state does not say by itself, and the way back.
void PrintDrained(Cli& cli, const v1::ListExecutorsResponse& response) {
  for (const v1::Executor& e : response.executors()) {
    if (!e.drained()) continue;
    const std::string id = SafeText(e.executor_id());
    cli.out() << id << " is drained by an operator"
              << (e.running() > 0 ? ", and still has " + std::to_string(e.running()) + " runs" : "")
              << "; to use it again: tidemark executor drain " << id << " --undo\n";
  }
}

int ListExecutors(Cli& cli, const ExecutorListOptions& options) {
  v1::ListExecutorsRequest request;
  request.set_app(options.app);
  request.set_all(options.all);
  v1::ListExecutorsResponse response;
  if (const int code = cli.Call(&Stub::ListExecutors, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  Table table({"EXECUTOR", "APP", "STATE", "RUNNING", "HANDLERS", "HOST", "VERSION", "REGISTERED",
               "LAST SEEN"});
  for (const v1::Executor& e : response.executors()) {
    table.Add({e.executor_id(), e.app(), e.state(),
               std::to_string(e.running()) + "/" + std::to_string(e.capacity()),
               Join({e.handlers().begin(), e.handlers().end()}, ","), e.host(), e.version(),
               TimeText(e.registered_at()), TimeText(e.last_seen())});
  }
  table.Print(cli.out());
  PrintDrained(cli, response);
  return kExitDone;
}

struct DrainOptions {
  std::string executor_id;
  std::string reason;
  bool undo = false;
};

int DrainExecutor(Cli& cli, const DrainOptions& options) {
  v1::DrainExecutorRequest request;
  request.set_executor_id(options.executor_id);
  request.set_undo(options.undo);
  request.set_reason(options.reason);
  request.set_actor(cli.actor());
  v1::OrderResponse response;
  if (const int code = cli.Call(&Stub::DrainExecutor, request, &response)) return code;
  return ShowOrder(cli, response);
}

}  // namespace

void AddExecutorCommands(CLI::App& app, Cli& cli) {
  CLI::App* noun = app.add_subcommand("executor", "Processes that run jobs");
  noun->require_subcommand(1);
  noun->fallthrough();
  noun->footer("Examples:\n  tidemark executor list\n  tidemark executor drain recon-1");

  auto list = std::make_shared<ExecutorListOptions>();
  CLI::App* verb = AddVerb(
      noun, "list",
      "List executors. UP takes runs; DRAINING takes nothing new (an operator's order, or its "
      "process is leaving) and still has some; DRAINED has none left; LOST is silent; GONE said "
      "goodbye",
      "  tidemark executor list\n  tidemark executor list --app recon --all");
  verb->add_option("--app", list->app, "Only those of this app");
  verb->add_flag("--all", list->all, "Those that are gone, too");
  verb->callback([&cli, list] { cli.run = [&cli, list] { return ListExecutors(cli, *list); }; });

  auto drain = std::make_shared<DrainOptions>();
  verb = AddVerb(noun, "drain",
                 "Give an executor nothing new; what it runs goes on. Holds for its id, over "
                 "restarts of it and of the scheduler, until --undo",
                 "  tidemark executor drain recon-1 --reason \"new disk\"\n"
                 "  tidemark executor drain recon-1 --undo");
  verb->add_option("EXECUTOR", drain->executor_id, "Its id, as executor list shows it")->required();
  verb->add_flag("--undo", drain->undo, "Use it again");
  verb->add_option("--reason", drain->reason, "Why, for the audit");
  verb->callback([&cli, drain] { cli.run = [&cli, drain] { return DrainExecutor(cli, *drain); }; });
}

}  // namespace tidemark
