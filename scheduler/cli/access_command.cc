// tidemark token …, whoami
#include <iostream>
#include <memory>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/cli/cli.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

using AccessStub = Cli::AccessStub;

struct TokenOptions {
  std::string name;
  std::string role;
  std::string ns;
  std::string app;
  std::string expires;
  std::string token_id;
  std::string reason;
  bool all = false;
};

std::string RoleText(const v1::Token& token) {
  return token.app().empty() ? token.role() : token.role() + " of " + token.app();
}

std::string NamespaceText(const v1::Token& token) {
  return token.namespace_().empty() ? "(all)" : token.namespace_();
}

int CreateToken(Cli& cli, const TokenOptions& options) {
  v1::CreateTokenRequest request;
  request.set_name(options.name);
  request.set_role(options.role);
  request.set_namespace_(options.ns);
  request.set_app(options.app);
  request.set_actor(cli.actor());
  if (options.name.empty() && options.app.empty()) {
    return cli.Fail(kExitUsage, "whose token is it?",
                    "give --name WHO (or --app APP for executors)");
  }
  if (!options.expires.empty()) {
    const absl::StatusOr<absl::Duration> valid_for = ParseDuration(options.expires);
    if (!valid_for.ok()) {
      return cli.Fail(kExitUsage, "--expires: " + Message(valid_for.status()), "as --expires 90d");
    }
    request.mutable_valid_for()->set_seconds(absl::ToInt64Seconds(*valid_for));
  }
  v1::CreateTokenResponse response;
  if (const int code = cli.Call(&AccessStub::CreateToken, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  const v1::Token& token = response.token();
  // The token alone on stdout, so that it can go straight into a file.
  cli.out() << response.secret() << "\n";
  cli.err() << "token " << SafeText(token.token_id()) << " of " << SafeText(token.name()) << ", "
            << SafeText(RoleText(token)) << ", namespace " << SafeText(NamespaceText(token))
            << ", until " << TimeText(token.expires_at())
            << ". This is the only time that it is shown; keep it in a file that its user alone "
               "can read.\n";
  return kExitDone;
}

int ListTokens(Cli& cli, const TokenOptions& options) {
  v1::ListTokensRequest request;
  request.set_all(options.all);
  v1::ListTokensResponse response;
  if (const int code = cli.Call(&AccessStub::ListTokens, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  if (response.tokens().empty()) {
    cli.out() << "no tokens\n";
    return kExitDone;
  }
  Table table({"TOKEN", "NAME", "ROLE", "NAMESPACE", "STATE", "CREATED", "BY", "EXPIRES"});
  for (const v1::Token& t : response.tokens()) {
    table.Add({t.token_id(), t.name(), RoleText(t), NamespaceText(t), t.state(),
               TimeText(t.created_at()), t.created_by(), TimeText(t.expires_at())});
  }
  table.Print(cli.out());
  return kExitDone;
}

int RevokeToken(Cli& cli, const TokenOptions& options) {
  v1::RevokeTokenRequest request;
  request.set_token_id(options.token_id);
  request.set_actor(cli.actor());
  request.set_reason(options.reason);
  v1::Token response;
  if (const int code = cli.Call(&AccessStub::RevokeToken, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  cli.out() << "token " << SafeText(response.token_id()) << " of " << SafeText(response.name())
            << " is revoked: every node refuses it within seconds, open streams included\n";
  return kExitDone;
}

int WhoAmI(Cli& cli) {
  v1::WhoAmIResponse response;
  if (const int code = cli.Call(&AccessStub::WhoAmI, v1::WhoAmIRequest(), &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  const v1::Token& token = response.token();
  if (response.authenticated()) {
    cli.out() << SafeText(token.name()) << ", " << SafeText(RoleText(token)) << ", namespace "
              << SafeText(NamespaceText(token)) << ", token " << SafeText(token.token_id()) << "\n";
  } else {
    cli.out() << "this scheduler asks nobody who he is (--insecure); orders are in the name of "
              << SafeText(cli.actor()) << "\n";
  }
  return kExitDone;
}

void AddTokenCreate(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<TokenOptions>();
  CLI::App* verb = AddVerb(
      noun, "create",
      "Make a token and print it, once. viewer looks; operator orders; admin makes tokens",
      "  tidemark token create --name ann --role operator --namespace pay --expires 90d "
      ">ann.token\n"
      "  tidemark token create --app recon >recon.token       # for executors of that app\n"
      "To replace one: make another of the same name, hand it out, then revoke the old one.");
  verb->add_option("--name", options->name, "Whose it is, as the audit shows it [the app]");
  CLI::Option* role = verb->add_option("--role", options->role, "viewer, operator or admin");
  verb->add_option("--app", options->app, "For executors of this app, instead of a role")
      ->excludes(role);
  verb->add_option("--namespace", options->ns,
                   "For this namespace alone [all; of an executor: default]");
  verb->add_option("--expires", options->expires, "How long it is valid, as 90d [365d]");
  verb->callback(
      [&cli, options] { cli.run = [&cli, options] { return CreateToken(cli, *options); }; });
}

}  // namespace

void AddAccessCommands(CLI::App& app, Cli& cli) {
  CLI::App* noun = app.add_subcommand("token", "Who may reach the scheduler, and do what");
  noun->require_subcommand(1);
  noun->fallthrough();
  noun->footer(
      "Examples:\n  tidemark token create --name ann --role viewer\n  tidemark token list");
  AddTokenCreate(noun, cli);

  auto list = std::make_shared<TokenOptions>();
  CLI::App* verb = AddVerb(noun, "list", "List tokens; never what they are",
                           "  tidemark token list\n  tidemark token list --all");
  verb->add_flag("--all", list->all, "Expired and revoked ones, too");
  verb->callback([&cli, list] { cli.run = [&cli, list] { return ListTokens(cli, *list); }; });

  auto revoke = std::make_shared<TokenOptions>();
  verb = AddVerb(noun, "revoke", "Refuse a token from now on, everywhere within seconds",
                 "  tidemark token revoke 3f9a0c21d4be --reason \"left the team\"");
  verb->add_option("TOKEN", revoke->token_id, "Its id, as token list shows it")->required();
  verb->add_option("--reason", revoke->reason, "Why, for the audit");
  verb->callback(
      [&cli, revoke] { cli.run = [&cli, revoke] { return RevokeToken(cli, *revoke); }; });

  verb = AddVerb(&app, "whoami", "Say who the scheduler takes you for", "  tidemark whoami");
  verb->callback([&cli] { cli.run = [&cli] { return WhoAmI(cli); }; });
}

}  // namespace tidemark
