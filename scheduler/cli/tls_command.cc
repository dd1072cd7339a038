// tidemark tls …: a private certificate authority to begin with.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>

#include "common/status.h"
#include "common/text.h"
#include "common/tls_files.h"
#include "scheduler/cli/certificates.h"
#include "scheduler/cli/cli.h"

namespace tidemark {
namespace {

constexpr int kAuthorityDays = 3650;

struct TlsOptions {
  std::string dir;
  std::string name;
  std::vector<std::string> hosts;
  int days = 397;
  bool renew = false;
};

// Writes a new file that its owner alone can read if it is a key. With `replace` instead of the one
// there is, in one step: whoever reads it sees the old or the new one.
absl::Status WriteFile(const std::string& path, const std::string& text, bool secret,
                       bool replace) {
  const std::string target = replace ? path + ".new" : path;
  if (replace) unlink(target.c_str());
  const int fd =
      open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, secret ? 0600 : 0644);
  if (fd < 0) {
    return absl::FailedPreconditionError(
        ToAbsl("cannot make " + target + ": it exists, or its folder cannot be written"));
  }
  const bool written =
      write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(fd) == 0;
  close(fd);
  if (!written || (replace && std::rename(target.c_str(), path.c_str()) != 0)) {
    return absl::FailedPreconditionError(ToAbsl("cannot write " + path));
  }
  return absl::OkStatus();
}

absl::Status WritePair(const std::string& base, const PemPair& pair, bool replace) {
  TM_RETURN_IF_ERROR(WriteFile(base + ".key", pair.key, true, replace));
  return WriteFile(base + ".crt", pair.cert, false, replace);
}

// From a bit before now: machines' clocks differ.
std::pair<absl::Time, absl::Time> Validity(Cli& cli, int days) {
  const absl::Time now = cli.clock().WallNow();
  return {now - absl::Hours(1), now + absl::Hours(24) * days};
}

absl::Status Init(Cli& cli, const TlsOptions& options) {
  for (const char* name : {"ca", "server", "client"}) {
    for (const char* suffix : {".key", ".crt"}) {
      const std::string path = options.dir + "/" + name + suffix;
      if (std::filesystem::exists(path)) {
        return absl::FailedPreconditionError(
            ToAbsl(path +
                   " exists: nothing is overwritten. For another certificate of the same "
                   "authority: tidemark tls issue --dir " +
                   options.dir + " --name NAME"));
      }
    }
  }
  std::error_code error;
  std::filesystem::create_directories(options.dir, error);
  if (error) return absl::FailedPreconditionError(ToAbsl("cannot make the folder " + options.dir));
  const auto [from, ca_to] = Validity(cli, kAuthorityDays);
  const auto [start, to] = Validity(cli, options.days);
  TM_ASSIGN_OR_RETURN(const PemPair ca, MakeAuthority("Tidemark private CA", from, ca_to));
  TM_ASSIGN_OR_RETURN(const PemPair server,
                      MakeCertificate(ca, options.hosts.front(), options.hosts, start, to));
  TM_ASSIGN_OR_RETURN(const PemPair client, MakeCertificate(ca, "client", {}, start, to));
  TM_RETURN_IF_ERROR(WritePair(options.dir + "/ca", ca, false));
  TM_RETURN_IF_ERROR(WritePair(options.dir + "/server", server, false));
  return WritePair(options.dir + "/client", client, false);
}

absl::Status Issue(Cli& cli, const TlsOptions& options) {
  PemPair ca;
  TM_ASSIGN_OR_RETURN(ca.cert, ReadTlsFile(options.dir + "/ca.crt"));
  TM_ASSIGN_OR_RETURN(ca.key, ReadTlsFile(options.dir + "/ca.key"));
  if (const std::string problem = NameProblem(options.name);
      !problem.empty() || options.name.find('/') != std::string::npos || options.name == "ca") {
    return absl::InvalidArgumentError("--name must be a plain name for the files, and not ca");
  }
  const auto [from, to] = Validity(cli, options.days);
  TM_ASSIGN_OR_RETURN(
      const PemPair pair,
      MakeCertificate(ca, options.hosts.empty() ? options.name : options.hosts.front(),
                      options.hosts, from, to));
  return WritePair(options.dir + "/" + options.name, pair, options.renew);
}

int Tell(Cli& cli, const absl::Status& status, const std::string& done) {
  if (status.ok()) {
    cli.out() << done;
    return kExitDone;
  }
  return cli.Fail(absl::IsInvalidArgument(status) ? kExitUsage : kExitRefused, Message(status), "");
}

int RunInit(Cli& cli, const TlsOptions& options) {
  const std::string& d = options.dir;
  return Tell(
      cli, Init(cli, options),
      "made in " + d +
          ":\n  ca.crt ca.key          the authority; keep ca.key elsewhere, it "
          "signs anything\n  server.crt server.key  for the scheduler\n  client.crt client.key  "
          "for executors and operators, where the scheduler has --tls-client-ca\n\n"
          "  tidemark-scheduler --listen 0.0.0.0:7400 --tls-cert " +
          d + "/server.crt --tls-key " + d + "/server.key [--tls-client-ca " + d +
          "/ca.crt] …\n  tidemark --server " + options.hosts.front() + ":7400 --tls-ca " + d +
          "/ca.crt --token-file FILE job list\n");
}

int RunIssue(Cli& cli, const TlsOptions& options) {
  const std::string base = options.dir + "/" + options.name;
  return Tell(cli, Issue(cli, options), "made " + base + ".crt and " + base + ".key\n");
}

}  // namespace

void AddTlsCommands(CLI::App& app, Cli& cli) {
  CLI::App* noun = app.add_subcommand("tls", "Certificates of a private authority, to begin with");
  noun->require_subcommand(1);
  noun->fallthrough();
  noun->footer("Examples:\n  tidemark tls init --dir /etc/tidemark/tls --host sched.example");

  const auto add = [&](const char* name, const char* description, const char* examples,
                       int (*carry_out)(Cli&, const TlsOptions&)) {
    auto options = std::make_shared<TlsOptions>();
    CLI::App* verb = AddVerb(noun, name, description, examples);
    verb->add_option("--dir", options->dir, "Folder of the files")->required();
    verb->add_option("--days", options->days, "How long the certificates are valid")
        ->check(CLI::Range(1, 3650))
        ->capture_default_str();
    verb->callback([&cli, options, carry_out] {
      cli.run = [&cli, options, carry_out] { return carry_out(cli, *options); };
    });
    return std::pair(verb, options);
  };
  const auto [init, init_options] = add(
      "init",
      "Make an authority, a certificate for schedulers and one for clients; overwrites nothing",
      "  tidemark tls init --dir /etc/tidemark/tls --host sched.example --host 10.0.0.5", RunInit);
  init->add_option("--host", init_options->hosts,
                   "Name or IP address that the scheduler is reached by; repeatable")
      ->required();
  const auto [issue, issue_options] =
      add("issue", "Make another certificate of the authority in the folder",
          "  tidemark tls issue --dir /etc/tidemark/tls --name node2 --host node2.example\n"
          "  tidemark tls issue --dir /etc/tidemark/tls --name server --host sched.example --renew",
          RunIssue);
  issue->add_option("--name", issue_options->name, "Of the files: NAME.crt and NAME.key")
      ->required();
  issue->add_option("--host", issue_options->hosts,
                    "Name or IP address of a server; none: for a client");
  issue->add_flag("--renew", issue_options->renew,
                  "Replace the files; schedulers read them again by themselves");
}

}  // namespace tidemark
