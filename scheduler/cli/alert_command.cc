// tidemark alert …
#include <iostream>
#include <memory>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/cli/cli.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

using Stub = Cli::Stub;
using AlertStub = Cli::AlertStub;

struct AlertOptions {
  std::string job;
  std::string kind;
  std::string name_space;
  std::string alert;
  std::string channel;
  std::string silence;
  std::string duration;
  std::string text;  // note or reason
  bool all = false;
  bool dead = false;
  uint32_t limit = 100;
};

// Adds a verb whose options `shape` declares; `carry_out` is called once they are read.
void Verb(CLI::App* noun, Cli& cli, const std::string& name, const std::string& description,
          const std::string& examples, const std::function<void(CLI::App*, AlertOptions&)>& shape,
          int (*carry_out)(Cli&, const AlertOptions&)) {
  auto options = std::make_shared<AlertOptions>();
  CLI::App* verb = AddVerb(noun, name, description, examples);
  shape(verb, *options);
  verb->callback([&cli, options, carry_out] {
    cli.run = [&cli, options, carry_out] { return carry_out(cli, *options); };
  });
}

// ---------------------------------------------------------------- list, ack

int ListDeliveries(Cli& cli, const AlertOptions& options) {
  v1::ListDeliveriesRequest request;
  request.set_dead(options.dead);
  request.set_alert_id(options.alert);
  request.set_channel(options.channel);
  request.set_limit(options.limit);
  v1::ListDeliveriesResponse response;
  if (const int code = cli.Call(&AlertStub::ListDeliveries, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  if (response.deliveries().empty()) {
    cli.out() << (options.dead ? "no message was given up\n" : "no message waits\n");
    return kExitDone;
  }
  Table table({"ALERT", "CHANNEL", "PHASE", "STATE", "TRIES", "SINCE", "NEXT TRY", "LAST ERROR",
               "SUMMARY"});
  for (const v1::Delivery& d : response.deliveries()) {
    table.Add({d.alert_id(), d.channel(), d.phase(), d.state(), std::to_string(d.tries()),
               TimeText(d.created_at()), d.has_next_try_at() ? TimeText(d.next_try_at()) : "-",
               OrDash(d.last_error()), Shorten(d.summary(), 60)});
  }
  table.Print(cli.out());
  return kExitDone;
}

// What else is known of it: "  (acknowledged by ann)".
std::string StandingOf(const v1::Alert& alert) {
  std::string text;
  if (alert.has_resolved_at()) text += "  (resolved)";
  if (alert.has_acked_at()) text += "  (acknowledged by " + SafeText(alert.acked_by()) + ")";
  if (alert.has_silenced_until()) {
    text += "  (silenced until " + TimeText(alert.silenced_until()) + ")";
  }
  return text;
}

int ListAlerts(Cli& cli, const AlertOptions& options) {
  if (options.dead) return ListDeliveries(cli, options);
  v1::ListAlertsRequest request;
  request.set_job(options.job);
  request.set_all(options.all);
  request.set_limit(options.limit);
  v1::ListAlertsResponse response;
  if (const int code = cli.Call(&Stub::ListAlerts, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  if (response.alerts().empty()) {
    cli.out() << (options.all ? "no alerts\n" : "no open alerts\n");
    return kExitDone;
  }
  for (const v1::Alert& a : response.alerts()) {
    cli.out() << TimeText(a.raised_at()) << "  " << SafeText(a.severity()) << "  "
              << SafeText(a.kind()) << "  " << SafeText(a.alert_id()) << StandingOf(a) << "\n    "
              << SafeText(a.summary()) << "\n";
    if (!a.detail().empty()) cli.out() << "    " << SafeText(a.detail()) << "\n";
  }
  return kExitDone;
}

int Ack(Cli& cli, const AlertOptions& options) {
  v1::AckAlertRequest request;
  request.set_alert_id(options.alert);
  request.set_note(options.text);
  request.set_actor(cli.actor());
  v1::AckAlertResponse response;
  if (const int code = cli.Call(&AlertStub::AckAlert, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  cli.out() << (response.existing() ? "was acknowledged before, by " : "acknowledged by ")
            << SafeText(response.acked_by()) << ": " << SafeText(response.summary()) << "\n";
  return kExitDone;
}

// ---------------------------------------------------------------- silence

int PrintSilence(Cli& cli, const v1::Silence& silence, const std::string& what) {
  if (cli.json()) {
    cli.PrintJson(silence);
  } else {
    cli.out() << "silence " << SafeText(silence.silence_id()) << " " << what << "\n";
  }
  return kExitDone;
}

int AddSilence(Cli& cli, const AlertOptions& options) {
  const absl::StatusOr<absl::Duration> duration = ParseDuration(options.duration);
  if (!duration.ok()) {
    return cli.Fail(kExitUsage, "--for: " + Message(duration.status()), "as --for 2h or --for 1d");
  }
  v1::SilenceAlertsRequest request;
  request.set_job(options.job);
  request.set_kind(options.kind);
  request.set_namespace_(options.name_space);
  request.mutable_duration()->set_seconds(absl::ToInt64Seconds(*duration));
  request.set_reason(options.text);
  request.set_actor(cli.actor());
  v1::Silence response;
  if (const int code = cli.Call(&AlertStub::SilenceAlerts, request, &response)) return code;
  return PrintSilence(cli, response,
                      "until " + TimeText(response.until()) +
                          "; what is still open then is told then. To end it: tidemark alert "
                          "silence delete " +
                          SafeText(response.silence_id()));
}

int ListSilences(Cli& cli, const AlertOptions& options) {
  v1::ListSilencesRequest request;
  request.set_all(options.all);
  v1::ListSilencesResponse response;
  if (const int code = cli.Call(&AlertStub::ListSilences, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  if (response.silences().empty()) {
    cli.out() << "no silences\n";
    return kExitDone;
  }
  Table table({"SILENCE", "JOB", "KIND", "NAMESPACE", "UNTIL", "KEPT BACK", "BY", "REASON"});
  for (const v1::Silence& s : response.silences()) {
    table.Add({s.silence_id(), OrDash(s.job()), OrDash(s.kind()), OrDash(s.namespace_()),
               TimeText(s.until()), std::to_string(s.kept_back()), s.actor(), s.reason()});
  }
  table.Print(cli.out());
  return kExitDone;
}

int DeleteSilence(Cli& cli, const AlertOptions& options) {
  v1::DeleteSilenceRequest request;
  request.set_silence_id(options.silence);
  request.set_actor(cli.actor());
  v1::Silence response;
  if (const int code = cli.Call(&AlertStub::DeleteSilence, request, &response)) return code;
  return PrintSilence(cli, response,
                      "ended; " + std::to_string(response.kept_back()) +
                          " open alerts that it kept back are told now");
}

// ---------------------------------------------------------------- channels

int ListChannels(Cli& cli, const AlertOptions&) {
  v1::ListChannelsResponse response;
  if (const int code = cli.Call(&AlertStub::ListChannels, v1::ListChannelsRequest(), &response)) {
    return code;
  }
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  if (response.channels().empty()) {
    cli.out() << "no alert channel but the log: configure one below alerts.channels in the "
                 "scheduler's --config file\n";
    return kExitDone;
  }
  Table table(
      {"CHANNEL", "TYPE", "STATE", "WAITING", "GIVEN UP", "LAST OK", "NEXT TRY", "LAST ERROR"});
  for (const v1::Channel& c : response.channels()) {
    table.Add({c.name(), c.type().empty() ? "(not in this node's file)" : c.type(),
               c.has_failing_since() ? "FAILING since " + TimeText(c.failing_since()) : "OK",
               std::to_string(c.pending()), std::to_string(c.dead()),
               c.has_last_ok_at() ? TimeText(c.last_ok_at()) : "-",
               c.has_next_try_at() ? TimeText(c.next_try_at()) : "-", OrDash(c.last_error())});
  }
  table.Print(cli.out());
  return kExitDone;
}

int Test(Cli& cli, const AlertOptions& options) {
  v1::TestChannelRequest request;
  request.set_channel(options.channel);
  request.set_actor(cli.actor());
  v1::TestChannelResponse response;
  if (const int code = cli.Call(&AlertStub::TestChannel, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  const absl::Duration took =
      absl::Seconds(response.took().seconds()) + absl::Nanoseconds(response.took().nanos());
  cli.out() << "sent in " << DurationText(took)
            << "; the receiver answered: " << SafeText(response.answer()) << "\n";
  return kExitDone;
}

int Retry(Cli& cli, const AlertOptions& options) {
  v1::RetryDeliveriesRequest request;
  request.set_alert_id(options.alert);
  request.set_channel(options.channel);
  request.set_actor(cli.actor());
  v1::RetryDeliveriesResponse response;
  if (const int code = cli.Call(&AlertStub::RetryDeliveries, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  cli.out() << response.count() << " messages are tried again now (tidemark alert channels)\n";
  return kExitDone;
}

// ---------------------------------------------------------------- the noun

void AddListAndAck(CLI::App* noun, Cli& cli) {
  Verb(
      noun, cli, "list", "List open alerts, the newest first",
      "  tidemark alert list --job recon --all -o json\n"
      "  tidemark alert list --dead            messages that no channel took",
      [](CLI::App* verb, AlertOptions& o) {
        verb->add_option("--job", o.job, "Only those of this job");
        verb->add_flag("--all", o.all, "Resolved ones, too");
        verb->add_flag("--dead", o.dead, "Instead: messages that were given up, with the error");
        verb->add_option("--limit", o.limit, "At most so many")
            ->check(CLI::Range(1, 1000))
            ->capture_default_str();
      },
      ListAlerts);
  Verb(
      noun, cli, "ack", "You take care of it: it is not told again, but its end is",
      "  tidemark alert ack 0198e7a2 --note \"called the bank\"",
      [](CLI::App* verb, AlertOptions& o) {
        verb->add_option("ALERT", o.alert, "Its id, or at least the first 8 characters")
            ->required();
        verb->add_option("--note", o.text, "For the record");
      },
      Ack);
}

void AddSilence(CLI::App* noun, Cli& cli) {
  const std::string examples =
      "  tidemark alert silence --job recon --for 2h --reason \"bank holiday\"\n"
      "  tidemark alert silence list\n"
      "  tidemark alert silence delete 0198e7a2-…";
  auto options = std::make_shared<AlertOptions>();
  CLI::App* verb = AddVerb(noun, "silence", "Keep alerts back for a while", examples);
  verb->require_subcommand(0, 1);
  verb->fallthrough();
  verb->add_option("--job", options->job, "Those of this job");
  verb->add_option("--kind", options->kind, "Those of this kind, as run_long");
  verb->add_option("--namespace", options->name_space, "Those of this namespace");
  verb->add_option("--for", options->duration, "How long, as 2h; at most 30d");
  verb->add_option("--reason", options->text, "For those who come later");
  // Also called when a verb below was given, and before that one's.
  verb->callback([&cli, options, verb] {
    if (!verb->get_subcommands().empty()) return;
    cli.run = [&cli, options] { return AddSilence(cli, *options); };
  });
  Verb(
      verb, cli, "list", "List the silences in force", examples,
      [](CLI::App* list, AlertOptions& o) {
        list->add_flag("--all", o.all, "Those that are over, too");
      },
      ListSilences);
  Verb(
      verb, cli, "delete", "End a silence: what it kept back is told", examples,
      [](CLI::App* remove, AlertOptions& o) {
        remove->add_option("SILENCE", o.silence, "Its id")->required();
      },
      DeleteSilence);
}

void AddChannelVerbs(CLI::App* noun, Cli& cli) {
  Verb(
      noun, cli, "channels", "How the channels fare, and what waits for them",
      "  tidemark alert channels", [](CLI::App*, AlertOptions&) {}, ListChannels);
  Verb(
      noun, cli, "test", "Send a test message now; says what the receiver answered",
      "  tidemark alert test ops",
      [](CLI::App* verb, AlertOptions& o) {
        verb->add_option("CHANNEL", o.channel, "Its name in the scheduler's file")->required();
      },
      Test);
  Verb(
      noun, cli, "deliveries", "Messages that wait, or all of one alert",
      "  tidemark alert deliveries\n  tidemark alert deliveries --alert ALERT_ID",
      [](CLI::App* verb, AlertOptions& o) {
        verb->add_option("--alert", o.alert, "Only those of this alert, delivered ones too");
        verb->add_option("--channel", o.channel, "Only those to this channel");
        verb->add_option("--limit", o.limit, "At most so many")
            ->check(CLI::Range(1, 1000))
            ->capture_default_str();
      },
      ListDeliveries);
  Verb(
      noun, cli, "retry", "Try again at once what waits or was given up",
      "  tidemark alert retry\n  tidemark alert retry --channel ops",
      [](CLI::App* verb, AlertOptions& o) {
        verb->add_option("--alert", o.alert, "Only of this alert");
        verb->add_option("--channel", o.channel, "Only to this channel");
      },
      Retry);
}

}  // namespace

void AddAlertCommands(CLI::App& app, Cli& cli) {
  CLI::App* noun = app.add_subcommand("alert", "What a person should know, and how it is told");
  noun->require_subcommand(1);
  noun->fallthrough();
  noun->footer(
      "Examples:\n"
      "  tidemark alert list\n"
      "  tidemark alert ack 0198e7a2\n"
      "  tidemark alert silence --job recon --for 2h --reason \"bank holiday\"\n"
      "  tidemark alert test ops");
  AddListAndAck(noun, cli);
  AddSilence(noun, cli);
  AddChannelVerbs(noun, cli);
}

}  // namespace tidemark
