// tidemark cron …: the flags of the commands that need no server.
#include <memory>

#include "scheduler/cli/cli.h"
#include "scheduler/cli/cron_command.h"

namespace tidemark {
namespace {

void AddCronVerb(CLI::App* noun, Cli& cli, const std::string& name, const std::string& description,
                 const std::string& examples,
                 int (*command)(const CronOptions&, std::ostream&, std::ostream&)) {
  auto options = std::make_shared<CronOptions>();
  CLI::App* verb = AddVerb(noun, name, description, examples);
  verb->add_option("EXPR", options->expression, "The cron expression, in quotes")->required();
  verb->add_option("--zone", options->zone, "IANA name of its zone")->capture_default_str();
  verb->add_option("--from", options->from, "After this time (RFC 3339); default: now");
  verb->add_option("-n,--count", options->count, "So many fires")->capture_default_str();
  verb->add_option("--dialect", options->dialect,
                   "quartz, spring or vixie; default: by the number of fields");
  verb->callback([&cli, options, command] {
    cli.run = [&cli, options, command] {
      options->json = cli.json();
      options->now = cli.clock().WallNow();
      return command(*options, cli.out(), cli.err());
    };
  });
}

}  // namespace

void AddCronCommands(CLI::App& app, Cli& cli) {
  CLI::App* noun = app.add_subcommand("cron", "Try cron expressions; needs no server");
  noun->require_subcommand(1);
  noun->fallthrough();
  noun->footer("Examples:\n  tidemark cron next '0 0 1 * * ?' --zone Asia/Shanghai");
  AddCronVerb(noun, cli, "next", "The next fires of an expression",
              "  tidemark cron next '0 0 1 * * ?' --zone Asia/Shanghai -n 3\n"
              "  tidemark cron next '*/5 8-18 * * mon-fri' --from 2027-03-28T00:00:00Z -o json",
              &RunCronNext);
  AddCronVerb(noun, cli, "explain", "An expression in words, with warnings",
              "  tidemark cron explain '0 0 1 L * ?' --zone Asia/Shanghai", &RunCronExplain);
}

}  // namespace tidemark
