// tidemark backfill …
#include <iostream>
#include <memory>

#include "common/lifecycle.h"
#include "common/time_text.h"
#include "scheduler/cli/cli.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

using Stub = Cli::Stub;

constexpr absl::Duration kLook = absl::Milliseconds(500);
// A scheduler that restarts is no reason to stop watching.
constexpr int kMaxMisses = 60;

// "[########............] 8 of 20: 6 done, 1 failed, 1 settled by others, 1 running"
std::string ProgressLine(const v1::Backfill& backfill) {
  constexpr uint32_t kWidth = 20;
  const uint32_t over = backfill.done() + backfill.failed() + backfill.settled();
  const uint32_t filled =
      backfill.total() == 0 ? kWidth : kWidth * std::min(over, backfill.total()) / backfill.total();
  std::string line = "[" + std::string(filled, '#') + std::string(kWidth - filled, '.') + "] " +
                     std::to_string(over) + " of " + std::to_string(backfill.total()) + ": " +
                     std::to_string(backfill.done()) + " done, " +
                     std::to_string(backfill.failed()) + " failed";
  if (backfill.settled() > 0) {
    line += ", " + std::to_string(backfill.settled()) + " settled by others";
  }
  return line + ", " + std::to_string(backfill.running()) + " running";
}

std::string StateLine(const v1::Backfill& backfill) {
  std::string line = backfill.state();
  if (!backfill.state_reason().empty()) line += " (" + backfill.state_reason() + ")";
  if (!backfill.waits_for().empty()) line += ", waits: " + backfill.waits_for();
  return line;
}

// ---------------------------------------------------------------- create

struct CreateOptions {
  v1::CreateBackfillRequest request;
};

void PrintDryRun(Cli& cli, const v1::CreateBackfillResponse& response) {
  Table table({"ORDER", "BIZ DATE"});
  for (int i = 0; i < response.dates_size(); ++i) {
    table.Add({std::to_string(i + 1), response.dates(i)});
  }
  if (!table.empty()) table.Print(cli.out());
  for (const v1::BackfillDate& left : response.left_alone()) {
    cli.out() << "left alone: " << SafeText(left.biz_date()) << " (" << SafeText(left.reason())
              << ")\n";
  }
  cli.out() << response.date_count() << " dates; ";
  if (response.has_expected_duration()) {
    const absl::Duration expected = absl::Seconds(response.expected_duration().seconds()) +
                                    absl::Nanoseconds(response.expected_duration().nanos());
    cli.out() << "expected to take " << DurationText(expected) << " (median of the last "
              << response.runs_measured() << " completed runs)\n";
  } else {
    cli.out() << "the job has no completed run yet: how long it takes is not known\n";
  }
  cli.out() << "nothing was done: without --dry-run it is\n";
}

int Create(Cli& cli, const CreateOptions& options) {
  v1::CreateBackfillRequest request = options.request;
  request.set_actor(cli.actor());
  v1::CreateBackfillResponse response;
  if (const int code = cli.Call(&Stub::CreateBackfill, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
  } else if (request.dry_run()) {
    PrintDryRun(cli, response);
  } else {
    cli.out() << "backfill " << SafeText(response.backfill_id()) << ": "
              << SafeText(response.message()) << "\nfollow it: tidemark backfill watch "
              << SafeText(response.backfill_id()) << "\n";
  }
  return kExitDone;
}

void AddCreate(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<CreateOptions>();
  v1::CreateBackfillRequest& request = options->request;
  CLI::App* verb = AddVerb(
      noun, "create", "Run the dates of a range again",
      "  tidemark backfill create recon --from 2026-11-01 --to 2026-11-20 --dry-run\n"
      "  tidemark backfill create recon --from 2026-11-01 --to 2026-11-20 --reprocess all "
      "--reason \"new rates\"\n"
      "  tidemark backfill create report --from 2026-11-01 --to 2026-11-20 --parallel 3 --reverse");
  const auto text = [verb](const std::string& name, const std::string& help, auto set) {
    return verb->add_option_function<std::string>(name, set, help);
  };
  text("JOB", "The job's name", [&request](const std::string& v) {
    request.set_job(v);
  })->required();
  text("--from", "First date (YYYY-MM-DD)", [&request](const std::string& v) {
    request.set_from(v);
  })->required();
  text("--to", "Last date (YYYY-MM-DD)", [&request](const std::string& v) {
    request.set_to(v);
  })->required();
  text("--reprocess",
       "missing (default): dates without a verdict or EXPIRED; failed: those and FAILED; all: "
       "those and DONE, which stay DONE until a success replaces them",
       [&request](const std::string& v) { request.set_reprocess(v); })
      ->check(CLI::IsMember({"missing", "failed", "all"}));
  text("--reason", "Why, for the audit",
       [&request](const std::string& v) { request.set_reason(v); });
  verb->add_flag_callback(
      "--reverse", [&request] { request.set_reverse(true); },
      "Newest first; only for jobs with order independent");
  verb->add_flag_callback(
      "--dry-run", [&request] { request.set_dry_run(true); },
      "Show dates, order and expected duration, do nothing");
  verb->add_option_function<uint32_t>(
          "--parallel", [&request](const uint32_t& v) { request.set_parallel(v); },
          "Dates at once; more than 1 only for jobs with order independent")
      ->check(CLI::Range(1, 1000));
  verb->callback([&cli, options] { cli.run = [&cli, options] { return Create(cli, *options); }; });
}

// ---------------------------------------------------------------- list, get, watch

int List(Cli& cli, const std::string& job, uint32_t limit) {
  v1::ListBackfillsRequest request;
  request.set_job(job);
  request.set_limit(limit);
  v1::ListBackfillsResponse response;
  if (const int code = cli.Call(&Stub::ListBackfills, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  Table table({"BACKFILL", "JOB", "FROM", "TO", "REPROCESS", "STATE", "DATES", "DONE", "FAILED",
               "CREATED", "BY"});
  for (const v1::Backfill& b : response.backfills()) {
    table.Add({b.backfill_id(), b.job(), b.from(), b.to(), b.reprocess(), b.state(),
               std::to_string(b.total()), std::to_string(b.done()), std::to_string(b.failed()),
               TimeText(b.created_at()), b.actor()});
  }
  table.Print(cli.out());
  return kExitDone;
}

void PrintBackfill(Cli& cli, const v1::Backfill& backfill) {
  Card card;
  card.Add("backfill", backfill.backfill_id());
  card.Add("job", backfill.job());
  card.Add(
      "range",
      backfill.from() + " to " + backfill.to() + ", reprocess " + backfill.reprocess() +
          (backfill.reverse() ? ", newest first" : "") +
          (backfill.parallel() > 1 ? ", " + std::to_string(backfill.parallel()) + " at once" : ""));
  card.Add("state", StateLine(backfill));
  card.Add("asked by",
           backfill.actor() + (backfill.reason().empty() ? "" : ": " + backfill.reason()));
  card.Add("created", TimeText(backfill.created_at()));
  card.Add("ended", backfill.has_ended_at() ? TimeText(backfill.ended_at()) : "");
  card.Add("progress", ProgressLine(backfill));
  card.Print(cli.out());
  cli.out() << "\n";
  Table table({"BIZ DATE", "STATE", "ROWS", "DIGEST", "RUN", "REASON"});
  for (const v1::BackfillDate& date : backfill.dates()) {
    table.Add({date.biz_date(), date.state(),
               date.has_result_rows() ? std::to_string(date.result_rows()) : "-",
               OrDash(Shorten(date.result_digest(), 16)), OrDash(date.run_id()),
               Shorten(date.reason(), 80)});
  }
  table.Print(cli.out());
}

int Get(Cli& cli, const std::string& id) {
  v1::GetBackfillRequest request;
  request.set_backfill_id(id);
  v1::Backfill backfill;
  if (const int code = cli.Call(&Stub::GetBackfill, request, &backfill)) return code;
  if (cli.json()) {
    cli.PrintJson(backfill);
  } else {
    PrintBackfill(cli, backfill);
  }
  return kExitDone;
}

// Until it ended or paused. Exit code 0 when it ended DONE.
int Watch(Cli& cli, const std::string& id, StopSignals& signals) {
  v1::GetBackfillRequest request;
  request.set_backfill_id(id);
  std::string shown;
  int misses = 0;
  for (;;) {
    v1::Backfill backfill;
    const grpc::Status status = cli.TryCall(&Stub::GetBackfill, request, &backfill);
    if (status.ok()) {
      misses = 0;
      const std::string line = StateLine(backfill) + "  " + ProgressLine(backfill);
      if (!cli.json() && line != shown) cli.out() << SafeText(line) << std::endl;
      shown = line;
      if (backfill.state() != "RUNNING") {
        if (cli.json()) cli.PrintJson(backfill);
        return backfill.state() == "DONE" ? kExitDone : kExitFailed;
      }
    } else if (status.error_code() != grpc::StatusCode::UNAVAILABLE || ++misses > kMaxMisses) {
      return cli.Report(status);
    }
    if (signals.Wait(kLook) != 0) {
      return cli.Fail(kExitFailed, "interrupted; the backfill goes on",
                      "tidemark backfill watch " + id +
                          " follows it again, tidemark backfill "
                          "cancel " +
                          id + " ends it");
    }
  }
}

void AddLooks(CLI::App* noun, Cli& cli) {
  auto job = std::make_shared<std::string>();
  auto limit = std::make_shared<uint32_t>(50);
  CLI::App* list = AddVerb(noun, "list", "List backfills, the newest first",
                           "  tidemark backfill list\n  tidemark backfill list recon");
  list->add_option("JOB", *job, "Only those of this job");
  list->add_option("--limit", *limit, "At most so many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  list->callback(
      [&cli, job, limit] { cli.run = [&cli, job, limit] { return List(cli, *job, *limit); }; });

  auto id = std::make_shared<std::string>();
  CLI::App* get = AddVerb(noun, "get", "Show a backfill date by date, with reasons and runs",
                          "  tidemark backfill get 019a7c3e-5b1d-7000-8000-3c2f5e0d9a41");
  get->add_option("ID", *id, "Its id, as backfill list shows it")->required();
  get->callback([&cli, id] { cli.run = [&cli, id] { return Get(cli, *id); }; });

  CLI::App* watch =
      AddVerb(noun, "watch", "Follow a backfill until it ends or pauses; exit code 1 unless DONE",
              "  tidemark backfill watch 019a7c3e-5b1d-7000-8000-3c2f5e0d9a41");
  watch->add_option("ID", *id, "Its id, as backfill list shows it")->required();
  watch->callback([&cli, id] {
    cli.run = [&cli, id] {
      StopSignals signals;
      return Watch(cli, *id, signals);
    };
  });
}

// ---------------------------------------------------------------- pause, resume, cancel

using Order = grpc::Status (Stub::*)(grpc::ClientContext*, const v1::BackfillOrderRequest&,
                                     v1::OrderResponse*);

void AddOrder(CLI::App* noun, Cli& cli, const std::string& name, const std::string& help,
              Order order) {
  auto request = std::make_shared<v1::BackfillOrderRequest>();
  CLI::App* verb = AddVerb(noun, name, help,
                           "  tidemark backfill " + name +
                               " 019a7c3e-5b1d-7000-8000-3c2f5e0d9a41 --reason \"month end\"");
  verb->add_option_function<std::string>(
          "ID", [request](const std::string& v) { request->set_backfill_id(v); },
          "Its id, as backfill list shows it")
      ->required();
  verb->add_option_function<std::string>(
      "--reason", [request](const std::string& v) { request->set_reason(v); },
      "Why, for the audit");
  verb->callback([&cli, request, order] {
    cli.run = [&cli, request, order] {
      request->set_actor(cli.actor());
      v1::OrderResponse response;
      if (const int code = cli.Call(order, *request, &response)) return code;
      if (cli.json()) {
        cli.PrintJson(response);
      } else {
        cli.out() << (response.queued() ? "queued: " : "") << SafeText(response.message()) << "\n";
      }
      return static_cast<int>(kExitDone);
    };
  });
}

}  // namespace

void AddBackfillCommands(CLI::App& app, Cli& cli) {
  CLI::App* noun = app.add_subcommand("backfill", "Ranges of dates to be run again");
  noun->require_subcommand(1);
  noun->fallthrough();
  noun->footer(
      "Examples:\n"
      "  tidemark backfill create recon --from 2026-11-01 --to 2026-11-20 --dry-run\n"
      "  tidemark backfill list recon");
  AddCreate(noun, cli);
  AddLooks(noun, cli);
  AddOrder(noun, cli, "pause", "Open no further dates; what runs goes on to its end",
           &Stub::PauseBackfill);
  AddOrder(noun, cli, "resume", "Go on; dates that failed are tried again", &Stub::ResumeBackfill);
  AddOrder(noun, cli, "cancel", "End it; what runs goes on to its end", &Stub::CancelBackfill);
}

}  // namespace tidemark
