#include "scheduler/cli/cli.h"

#include <pwd.h>
#include <unistd.h>

#include <iostream>

#include "common/status.h"
#include "common/text.h"
#include "common/version.h"
#include "google/protobuf/util/json_util.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

std::string UserAtHost() {
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  const passwd* user = getpwuid(geteuid());
  return (user != nullptr ? std::string(user->pw_name) : std::to_string(geteuid())) + "@" + host;
}

int ExitCodeOf(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
      return kExitDone;
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::OUT_OF_RANGE:
      return kExitUsage;
    case grpc::StatusCode::NOT_FOUND:
      return kExitNotFound;
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return kExitRefused;
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return kExitUnreachable;
    default:
      return kExitFailed;
  }
}

// Splits what a server wrote: what is wrong, then what to do. The second part is the sentence that
// names a command of ours, else what follows the first "; ". Nothing in quotes is a separator.
std::pair<std::string, std::string> SplitAdvice(const std::string& message) {
  const size_t command = message.find("tidemark ");
  size_t sentence = std::string::npos;
  size_t colon = std::string::npos;
  bool quoted = false;
  for (size_t i = 0; i + 1 < message.size() && i < command; ++i) {
    if (message[i] == '\'') quoted = !quoted;
    if (quoted || message[i + 1] != ' ') continue;
    if (message[i] == ';' || message[i] == '.') sentence = i;
    if (message[i] == ':' && colon == std::string::npos) colon = i;
    if (message[i] == ';' && command == std::string::npos) break;
  }
  const size_t at = sentence != std::string::npos  ? sentence
                    : command != std::string::npos ? colon
                                                   : std::string::npos;
  if (at == std::string::npos) return {message, ""};
  return {message.substr(0, at), message.substr(at + 2)};
}

// Escapes each line on its own, so that a message of several lines keeps them.
std::string EscapeLines(const std::string& text) {
  std::string out;
  size_t begin = 0;
  for (;;) {
    const size_t end = text.find('\n', begin);
    out += SafeText(text.substr(begin, end - begin));
    if (end == std::string::npos) return out;
    out += "\n       ";
    begin = end + 1;
  }
}

// What is wrong with arguments that CLI11 refused, as it says it or better, and what to do.
std::pair<std::string, std::string> UsageProblem(const CLI::App& app,
                                                 const std::vector<std::string>& arguments,
                                                 const std::string& said) {
  const CLI::App* at = &app;
  std::string command = "tidemark";
  for (const std::string& word : arguments) {
    if (word.empty() || word[0] == '-') continue;
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const CLI::App* sub : at->get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(sub->get_name());
      if (sub->get_name() == word) next = sub;
    }
    if (names.empty()) break;
    if (next == nullptr) {
      const std::string near = Nearest(word, names);
      return {command + " has no command '" + word + "'",
              near.empty() ? "the commands are " + Join(names, ", ")
                           : "did you mean " + command + " " + near + "?"};
    }
    at = next;
    command += " " + word;
  }
  return {said, command + " --help shows the usage, with examples"};
}

}  // namespace

void Cli::AddOptions(CLI::App& app) {
  app.add_option("--server", server_, "Scheduler's address: host:port")
      ->envname("TIDEMARK_SERVER")
      ->capture_default_str();
  app.add_option("-o,--output", output_, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  app.add_option("--timeout", timeout_seconds_, "Seconds to wait for each answer")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  app.add_option("--token-file", security_.token_file,
                 "File with your token (TIDEMARK_TOKEN_FILE, or the token itself in "
                 "TIDEMARK_TOKEN); off loopback it takes one");
  app.add_option("--tls-ca", security_.tls.ca,
                 "Authority of the scheduler's certificate (PEM; \"system\": one that this machine "
                 "trusts; TIDEMARK_TLS_CA); off loopback it takes TLS");
  app.add_option("--tls-cert", security_.tls.cert,
                 "Your own certificate (PEM; TIDEMARK_TLS_CERT), if the scheduler asks for one");
  app.add_option("--tls-key", security_.tls.key, "Its key (PEM; TIDEMARK_TLS_KEY)");
  app.add_option("--tls-server-name", security_.server_name,
                 "Name that the scheduler's certificate must have, instead of the host "
                 "(TIDEMARK_TLS_SERVER_NAME)");
  app.add_option("--actor", actor_,
                 "Who orders it, for the audit, where the scheduler takes no tokens (default: "
                 "user@host)")
      ->envname("TIDEMARK_ACTOR");
}

const std::string& Cli::actor() {
  if (actor_.empty()) actor_ = UserAtHost();
  return actor_;
}

grpc::Status Cli::Prepare(grpc::ClientContext* context) {
  if (channel_ == nullptr) {
    const ClientSecurity security = WithEnvironment(security_);
    absl::StatusOr<ChannelSecurity> secured = SecureFor(server_, security);
    if (!secured.ok()) {
      return {grpc::StatusCode::INVALID_ARGUMENT, Message(secured.status())};
    }
    secured_ = *std::move(secured);
    grpc::ChannelArguments args;
    ApplyServerName(security, &args);
    // A proxy would be somebody else who reads along.
    if (!security.uses_tls()) args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    channel_ = grpc::CreateCustomChannel(server_, secured_.credentials, args);
  }
  // A deadline that is relative: gRPC's own clock counts it, whatever the wall clock does.
  context->set_deadline(
      gpr_time_from_micros(static_cast<int64_t>(timeout_seconds_ * 1e6), GPR_TIMESPAN));
  secured_.Authorize(context);
  return grpc::Status::OK;
}

int Cli::Report(const grpc::Status& status) {
  if (status.ok()) return kExitDone;
  const int code = ExitCodeOf(status.error_code());
  const std::string& message = status.error_message();
  switch (code) {
    case kExitUnreachable:
      return Fail(code, server_ + ": " + message,
                  "is tidemark-scheduler running there? --server HOST:PORT or TIDEMARK_SERVER says "
                  "where");
    case kExitUsage:
      return Fail(code, message, "mend what is named; --help shows the usage");
    case kExitFailed:
      return Fail(code, message, "the scheduler's log says more");
    case kExitRefused:
      if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED) {
        return Fail(code, message, "tidemark whoami says who the scheduler takes you for");
      }
      [[fallthrough]];
    default: {
      const auto [what, mend] = SplitAdvice(message);
      return Fail(code, what,
                  mend.empty() ? "tidemark job list and tidemark run list show what is" : mend);
    }
  }
}

void Cli::PrintJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  (void)google::protobuf::util::MessageToJsonString(message, &json, options);
  out_ << json;
}

int Cli::Fail(int code, const std::string& what, const std::string& mend) {
  err_ << "error: " << EscapeLines(what) << "\n";
  if (!mend.empty()) err_ << "  do:  " << EscapeLines(mend) << "\n";
  return code;
}

int ShowOrder(Cli& cli, const v1::OrderResponse& response) {
  if (cli.json()) {
    cli.PrintJson(response);
  } else {
    cli.out() << SafeText(response.message()) << "\n";
  }
  return kExitDone;
}

CLI::App* AddVerb(CLI::App* noun, const std::string& name, const std::string& description,
                  const std::string& examples) {
  CLI::App* verb = noun->add_subcommand(name, description);
  verb->footer("Examples:\n" + examples);
  verb->fallthrough();
  return verb;
}

int RunCli(const std::vector<std::string>& arguments, Cli& cli) {
  CLI::App app("Tidemark: every due business date of every job is accounted for.", "tidemark");
  app.footer(
      "Examples:\n"
      "  tidemark job apply -f jobs.yaml --dry-run\n"
      "  tidemark watermark list recon\n"
      "  tidemark run list --job recon --status FAILED\n"
      "Exit codes: 0 done, 1 failed, 2 usage or invalid input, 3 not found, 4 refused, 5 "
      "unreachable.");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  cli.AddOptions(app);
  AddJobCommands(app, cli);
  AddRunCommands(app, cli);
  AddWatermarkCommands(app, cli);
  AddClusterCommands(app, cli);
  AddExecutorCommands(app, cli);
  AddAlertCommands(app, cli);
  AddCheckCommands(app, cli);
  AddCalendarCommands(app, cli);
  AddBackfillCommands(app, cli);
  AddCronCommands(app, cli);
  AddAccessCommands(app, cli);
  AddAuditCommands(app, cli);
  AddApprovalCommands(app, cli);
  AddTlsCommands(app, cli);
  try {  // CLI11 tells usage errors, and requests for help, by exceptions
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      return app.exit(e, cli.out(), cli.err());  // --help, --version
    }
    const auto [what, mend] = UsageProblem(app, arguments, e.what());
    return cli.Fail(kExitUsage, what, mend);
  }
  return cli.run ? cli.run() : kExitUsage;
}

}  // namespace tidemark
