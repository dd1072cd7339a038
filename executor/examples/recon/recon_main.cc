#include "executor/examples/recon/recon_main.h"

#include <tidemark/executor.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/status.h"
#include "common/time_text.h"
#include "executor/examples/recon/bill_generator.h"
#include "executor/examples/recon/handler.h"
#include "executor/examples/recon/journal.h"

namespace tidemark::recon {
namespace {

struct Options {
  ExecutorOptions executor;
  HandlerConfig handler;
  std::string journal;
  int64_t chunk_delay_ms = 0;
  int64_t drain_timeout_ms = 60000;
  std::string from;
  std::string to;
  int orders = 0;
};

void DescribeServe(CLI::App& app, Options& o) {
  app.add_option("--schedulers", o.executor.schedulers, "host:port of scheduler nodes")
      ->delimiter(',');
  app.add_option("--database-url", o.handler.database_url,
                 "the database of recon's own tables (schema recon), any libpq form")
      ->envname("RECON_DATABASE_URL");
  app.add_option("--bills-dir", o.handler.bills_dir, "folder of DATE/ours.csv, DATE/channel.csv");
  app.add_option("--app", o.executor.app, "group of executors that this one belongs to");
  app.add_option("--executor-id", o.executor.executor_id, "unique, stable over restarts");
  app.add_option("--capacity", o.executor.capacity, "dates at once")->check(CLI::Range(1, 1000));
  app.add_option("--spool-dir", o.executor.spool_dir, "folder of results not yet acknowledged");
  app.add_option("--drain-timeout-ms", o.drain_timeout_ms,
                 "after SIGTERM, how long running dates may take to end by themselves")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--generate-bills", o.handler.generate_bills,
               "make up the bills of a date that has none (for demonstrations)");
  app.add_option("--chunk-orders", o.handler.chunk_orders, "orders a transaction")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--chunk-delay-ms", o.chunk_delay_ms, "pause after each transaction")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--journal", o.journal, "file that gets a line for each start and end of a date");
}

CLI::App* DescribeGenerate(CLI::App& app, Options& o) {
  CLI::App* generate = app.add_subcommand("generate", "write made-up bills, the same every time");
  generate->add_option("--bills-dir", o.handler.bills_dir, "folder to write into")->required();
  generate->add_option("--from", o.from, "first date, YYYY-MM-DD")->required();
  generate->add_option("--to", o.to, "last date (default: the first)");
  generate->add_option("--orders", o.orders, "orders a date (default: 2000 to 3999, by date)")
      ->check(CLI::Range(100, 10000000));
  return generate;
}

absl::Status Generate(const Options& o) {
  TM_ASSIGN_OR_RETURN(const absl::CivilDay from, ParseDate(o.from));
  TM_ASSIGN_OR_RETURN(const absl::CivilDay to, ParseDate(o.to.empty() ? o.from : o.to));
  if (to < from) return absl::InvalidArgumentError("--to is before --from");
  for (absl::CivilDay day = from; day <= to; ++day) {
    const int orders = o.orders > 0 ? o.orders : DefaultOrders(day);
    const GeneratedBills bills = GenerateBills(day, orders);
    TM_RETURN_IF_ERROR(SaveBills(o.handler.bills_dir, day, bills.ours, bills.channel));
    int differences = 0;
    for (const auto& [kind, count] : bills.planted) differences += count;
    std::printf("%s: %zu bills of ours, %zu of the channel, %d differences\n",
                FormatDate(day).c_str(), bills.ours.size(), bills.channel.size(), differences);
  }
  return absl::OkStatus();
}

absl::Status CheckServe(const Options& o) {
  const auto missing = [](const std::string& what) {
    return absl::InvalidArgumentError(what + " is required; see --help");
  };
  if (o.executor.schedulers.empty()) return missing("--schedulers");
  if (o.handler.database_url.empty()) return missing("--database-url");
  if (o.handler.bills_dir.empty()) return missing("--bills-dir");
  if (o.executor.executor_id.empty()) return missing("--executor-id");
  return absl::OkStatus();
}

int Complain(const absl::Status& status) {
  std::fprintf(stderr, "tidemark-recon: %s\n", Message(status).c_str());
  return absl::IsInvalidArgument(status) ? 2 : 1;
}

int Serve(Options o, const Statements& statements) {
  o.handler.executor_id = o.executor.executor_id;
  o.handler.chunk_delay = std::chrono::milliseconds(o.chunk_delay_ms);
  o.executor.drain_timeout = std::chrono::milliseconds(o.drain_timeout_ms);
  Journal journal;
  if (!o.journal.empty()) {
    if (absl::Status status = journal.Open(o.journal); !status.ok()) return Complain(status);
  }
  ReconHandler handler(o.handler, statements, SystemClock(), journal);
  Executor executor(std::move(o.executor));
  // Interruptible: it looks for a cancel at each transaction, so a lost run may go on elsewhere.
  executor.Handle("recon", HandlerOptions{.interruptible = true},
                  [&handler](Context& run) { return handler(run); });
  const int code = executor.Run();
  // 3: handlers are still running and use what this function owns.
  if (code == 3) std::_Exit(code);
  return code;
}

}  // namespace

int ReconMain(int argc, char** argv, const Statements& statements) {
  CLI::App app("Reconciles our bills with the payment channel's, a date a run.", "tidemark-recon");
  Options options;
  options.executor.app = "recon";
  DescribeServe(app, options);
  CLI::App* generate = DescribeGenerate(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (generate->parsed()) {
    const absl::Status status = Generate(options);
    return status.ok() ? 0 : Complain(status);
  }
  if (absl::Status status = CheckServe(options); !status.ok()) return Complain(status);
  return Serve(std::move(options), statements);
}

}  // namespace tidemark::recon
