// tidemark audit …, approval …
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

struct AuditOptions {
  std::string job;
  std::string actor;
  std::string action;
  std::string from;
  std::string to;
  uint32_t limit = 100;
};

// An instant, or the beginning of a day in UTC.
absl::StatusOr<absl::Time> ReadTime(const std::string& text) {
  const absl::StatusOr<absl::CivilDay> day = ParseDate(text);
  if (day.ok()) return absl::FromCivil(*day, absl::UTCTimeZone());
  return ParseInstant(text);
}

bool SetTime(const std::string& text, google::protobuf::Timestamp* out) {
  const absl::StatusOr<absl::Time> time = ReadTime(text);
  if (!time.ok()) return false;
  out->set_seconds(absl::ToUnixSeconds(*time));
  return true;
}

void AddLine(Cli& cli, const char* name, const std::string& text) {
  if (!text.empty()) cli.out() << "    " << name << ": " << SafeText(Shorten(text, 400)) << "\n";
}

void PrintEntry(Cli& cli, const v1::AuditEntry& e) {
  cli.out() << TimeText(e.at()) << "  " << SafeText(e.actor());
  if (!e.token_id().empty()) cli.out() << " (token " << SafeText(e.token_id()) << ")";
  if (!e.peer().empty()) cli.out() << " from " << SafeText(e.peer());
  cli.out() << "  " << SafeText(e.action());
  if (!e.job().empty()) cli.out() << "  " << SafeText(e.job());
  if (!e.subject().empty()) cli.out() << "  " << SafeText(e.subject());
  cli.out() << "\n";
  AddLine(cli, "before", e.before());
  AddLine(cli, "after", e.after());
  AddLine(cli, "reason", e.reason());
  AddLine(cli, "outcome", e.outcome());
  if (e.after().empty() || e.outcome().empty()) AddLine(cli, "detail", e.detail());
}

int ListAudit(Cli& cli, const AuditOptions& options) {
  v1::ListAuditRequest request;
  request.set_job(options.job);
  request.set_actor(options.actor);
  request.set_action(options.action);
  request.set_limit(options.limit);
  for (const auto& [text, field] : {std::pair(options.from, true), std::pair(options.to, false)}) {
    if (text.empty()) continue;
    if (!SetTime(text, field ? request.mutable_from() : request.mutable_to())) {
      return cli.Fail(kExitUsage, "'" + text + "' is no time",
                      "give a day (2026-11-28, UTC) or an instant (2026-11-28T17:00:00Z)");
    }
  }
  v1::ListAuditResponse response;
  if (const int code = cli.Call(&AccessStub::ListAudit, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  if (response.entries().empty()) cli.out() << "nothing\n";
  for (const v1::AuditEntry& entry : response.entries()) PrintEntry(cli, entry);
  return kExitDone;
}

// ---------------------------------------------------------------- approvals

struct ApprovalOptions {
  std::string id;
  std::string reason;
  bool all = false;
};

int ListApprovals(Cli& cli, const ApprovalOptions& options) {
  v1::ListApprovalsRequest request;
  request.set_all(options.all);
  v1::ListApprovalsResponse response;
  if (const int code = cli.Call(&AccessStub::ListApprovals, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  if (response.approvals().empty()) {
    cli.out() << (options.all ? "no orders\n" : "no order waits for approval\n");
    return kExitDone;
  }
  Table table({"ORDER", "ACTION", "SUBJECT", "ASKED BY", "REASON", "STATE", "BY", "UNTIL"});
  for (const v1::Approval& a : response.approvals()) {
    table.Add({a.approval_id(), a.action(), a.subject(), a.asked_by(), Shorten(a.reason(), 60),
               a.state(), a.decided_by().empty() ? "-" : a.decided_by(), TimeText(a.expires_at())});
  }
  table.Print(cli.out());
  return kExitDone;
}

v1::ApprovalRequest RequestOf(Cli& cli, const ApprovalOptions& options) {
  v1::ApprovalRequest request;
  request.set_approval_id(options.id);
  request.set_reason(options.reason);
  request.set_actor(cli.actor());
  return request;
}

int Approve(Cli& cli, const ApprovalOptions& options) {
  v1::ApproveOrderResponse response;
  if (const int code = cli.Call(&AccessStub::ApproveOrder, RequestOf(cli, options), &response)) {
    return code;
  }
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  cli.out() << "approved and given: " << SafeText(response.message()) << "\n";
  return kExitDone;
}

int Refuse(Cli& cli, const ApprovalOptions& options) {
  v1::Approval response;
  if (const int code = cli.Call(&AccessStub::RefuseOrder, RequestOf(cli, options), &response)) {
    return code;
  }
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  cli.out() << "refused: " << SafeText(response.action()) << " " << SafeText(response.subject())
            << ", asked for by " << SafeText(response.asked_by()) << "\n";
  return kExitDone;
}

}  // namespace

void AddAuditCommands(CLI::App& app, Cli& cli) {
  CLI::App* noun = app.add_subcommand("audit", "Who changed what, from where, and why");
  noun->require_subcommand(1);
  noun->fallthrough();
  auto options = std::make_shared<AuditOptions>();
  CLI::App* verb = AddVerb(noun, "list", "List changes, the newest first",
                           "  tidemark audit list --job recon --from 2026-11-28\n"
                           "  tidemark audit list --by ann --limit 20 -o json");
  verb->add_option("--job", options->job, "Only those of this job");
  verb->add_option("--by", options->actor, "Only those of this person");
  verb->add_option("--action", options->action, "Only these: trigger, pause, waive, job_update, …");
  verb->add_option("--from", options->from, "From this day (UTC) or instant on");
  verb->add_option("--to", options->to, "Before this day (UTC) or instant");
  verb->add_option("--limit", options->limit, "At most so many; ≤ 1000")->capture_default_str();
  verb->callback(
      [&cli, options] { cli.run = [&cli, options] { return ListAudit(cli, *options); }; });
}

void AddApprovalCommands(CLI::App& app, Cli& cli) {
  CLI::App* noun = app.add_subcommand(
      "approval", "Orders that wait for a second operator (tidemark-scheduler --require-approval)");
  noun->require_subcommand(1);
  noun->fallthrough();
  const auto add = [&](const char* name, const char* description, const char* examples,
                       int (*carry_out)(Cli&, const ApprovalOptions&)) {
    auto options = std::make_shared<ApprovalOptions>();
    CLI::App* verb = AddVerb(noun, name, description, examples);
    verb->callback([&cli, options, carry_out] {
      cli.run = [&cli, options, carry_out] { return carry_out(cli, *options); };
    });
    return std::pair(verb, options);
  };
  const auto [list, list_options] =
      add("list", "List what waits", "  tidemark approval list\n  tidemark approval list --all",
          ListApprovals);
  list->add_flag("--all", list_options->all, "Decided and expired ones, too");
  for (const bool approve : {true, false}) {
    const auto [verb, options] =
        approve ? add("approve", "Carry an order out that somebody else asked for",
                      "  tidemark approval approve 01a2288d", Approve)
                : add("refuse", "Refuse an order, or take back your own",
                      "  tidemark approval refuse 01a2288d --reason \"the bank was open\"", Refuse);
    verb->add_option("ORDER", options->id, "Its id, or its first 8 characters")->required();
    verb->add_option("--reason", options->reason, "Why, for the audit");
  }
}

}  // namespace tidemark
