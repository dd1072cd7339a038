// tidemark calendar …
#include <algorithm>
#include <iostream>
#include <memory>

#include "absl/strings/ascii.h"
#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/cli/calendar_file.h"
#include "scheduler/cli/cli.h"
#include "scheduler/cli/read_file.h"
#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

using Stub = Cli::Stub;

constexpr int kYearsUnrolled = 10;
constexpr int kDatesShown = 12;

struct ImportOptions {
  std::string file;
  std::string name;
  bool include = false;
  bool exclude = false;
  std::string weekend;
  bool retroactive = false;
  bool dry_run = false;
};

// ---------------------------------------------------------------- import

absl::StatusOr<v1::CalendarSpec> ReadCalendar(Cli& cli, const ImportOptions& options) {
  TM_ASSIGN_OR_RETURN(const std::string text, ReadFile(cli.in(), options.file));
  const std::string file = options.file == "-" ? "stdin" : options.file;
  if (!IsICalendar(text)) return ParseCalendarFile(text, file);
  const int64_t year = absl::ToCivilYear(cli.clock().WallNow(), absl::UTCTimeZone()).year();
  return ParseICalendarFile(text, file, absl::CivilDay(year + kYearsUnrolled, 12, 31));
}

// What the flags say over what the file says.
void TakeFlags(const ImportOptions& options, v1::CalendarSpec* spec) {
  if (!options.name.empty()) spec->set_name(options.name);
  if (options.include) spec->set_mode("include");
  if (options.exclude) spec->set_mode("exclude");
  if (options.weekend.empty()) return;
  spec->clear_weekend();
  std::string word;
  for (const char c : options.weekend + ",") {
    if (c != ',') {
      word += absl::ascii_toupper(static_cast<unsigned char>(c));
    } else {
      spec->add_weekend(word);
      word.clear();
    }
  }
}

using Dates = google::protobuf::RepeatedPtrField<std::string>;

void PrintDates(Cli& cli, const std::string& what, const Dates& dates) {
  if (dates.empty()) return;
  std::string list;
  for (int i = 0; i < dates.size() && i < kDatesShown; ++i) {
    list += (i == 0 ? "" : ", ") + SafeText(dates[i]);
  }
  if (dates.size() > kDatesShown) {
    list += " and " + std::to_string(dates.size() - kDatesShown) + " more (-o json lists all)";
  }
  cli.out() << "    " << what << ": " << list << "\n";
}

void PrintChange(Cli& cli, const v1::CalendarJobChange& job) {
  cli.out() << "  job " << SafeText(job.job()) << ": next fire "
            << (job.has_next_fire() ? TimeText(job.next_fire()) : "never") << "\n";
  PrintDates(cli, "past dates that are due now, and will run", job.past_added());
  PrintDates(cli, "past dates that are no longer due (records are kept)", job.past_removed());
  PrintDates(cli, "will be due", job.added());
  PrintDates(cli, "will not be due", job.removed());
  PrintDates(cli, "will be due at another time", job.moved());
  PrintDates(cli, "past dates that stay as they were (--retroactive would change them)",
             job.past_kept());
  if (!job.warning().empty()) cli.out() << "    warning: " << SafeText(job.warning()) << "\n";
}

void PrintImported(Cli& cli, const std::string& name, const v1::ImportCalendarResponse& response,
                   bool dry_run) {
  using Response = v1::ImportCalendarResponse;
  std::string what = response.outcome() == Response::CREATED   ? "created"
                     : response.outcome() == Response::UPDATED ? "updated"
                                                               : "unchanged";
  if (dry_run && response.outcome() != Response::UNCHANGED) what = "would be " + what;
  cli.out() << "calendar " << SafeText(name) << ": " << what << " (version " << response.version()
            << ", named by " << response.jobs_with_calendar() << " jobs)\n";
  for (const v1::CalendarJobChange& job : response.jobs()) PrintChange(cli, job);
  for (const std::string& warning : response.warnings()) {
    cli.out() << "  warning: " << SafeText(warning) << "\n";
  }
}

int Import(Cli& cli, const ImportOptions& options) {
  if (options.include && options.exclude) {
    return cli.Fail(kExitUsage, "--include and --exclude contradict each other", "keep one");
  }
  absl::StatusOr<v1::CalendarSpec> spec = ReadCalendar(cli, options);
  if (!spec.ok()) {
    return cli.Fail(kExitUsage, Message(spec.status()),
                    "nothing was imported; mend the file and import it again");
  }
  TakeFlags(options, &*spec);
  if (spec->name().empty()) {
    return cli.Fail(kExitUsage, options.file + ": the calendar has no name",
                    "say --name NAME, or name: in a YAML file");
  }
  v1::ImportCalendarRequest request;
  *request.mutable_calendar() = *std::move(spec);
  request.set_retroactive(options.retroactive);
  request.set_dry_run(options.dry_run);
  request.set_actor(cli.actor());
  v1::ImportCalendarResponse response;
  if (const int code = cli.Call(&Stub::ImportCalendar, request, &response)) return code;
  if (cli.json()) {
    cli.PrintJson(response);
  } else {
    PrintImported(cli, request.calendar().name(), response, options.dry_run);
  }
  return kExitDone;
}

void AddImport(CLI::App* noun, Cli& cli) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* verb =
      AddVerb(noun, "import", "Make or change a calendar from a YAML or iCalendar file",
              "  tidemark calendar import holidays.yaml --dry-run\n"
              "  tidemark calendar import trading.ics --name trading --include\n"
              "  tidemark calendar import holidays.ics --name cn --retroactive\n"
              "A YAML file: {name: cn, mode: exclude, weekend: [SAT, SUN], dates: "
              "[2026-10-01]}");
  verb->add_option("FILE", options->file, "The file; - is stdin")->required();
  verb->add_option("--name", options->name, "Its name; over the file's");
  verb->add_flag("--include", options->include, "Only the dates are open (trading days)");
  verb->add_flag("--exclude", options->exclude,
                 "The dates are closed (holidays); the default of a file that says neither");
  verb->add_option("--weekend", options->weekend,
                   "Weekdays that are no business days, as SAT,SUN (default) or NONE");
  verb->add_flag("--retroactive", options->retroactive,
                 "Change past dates, too; they are listed and audited");
  verb->add_flag("--dry-run", options->dry_run, "Only print what would change");
  verb->callback([&cli, options] { cli.run = [&cli, options] { return Import(cli, *options); }; });
}

// ---------------------------------------------------------------- list, get

int ListCalendars(Cli& cli) {
  v1::ListCalendarsResponse response;
  if (const int code = cli.Call(&Stub::ListCalendars, v1::ListCalendarsRequest(), &response)) {
    return code;
  }
  if (cli.json()) {
    cli.PrintJson(response);
    return kExitDone;
  }
  Table table({"NAME", "MODE", "VERSION", "DATES", "FIRST", "LAST", "JOBS", "SINCE", "BY"});
  for (const v1::Calendar& c : response.calendars()) {
    table.Add({c.spec().name(), c.spec().mode(), std::to_string(c.version()),
               std::to_string(c.date_count()), c.first_date().empty() ? "-" : c.first_date(),
               c.last_date().empty() ? "-" : c.last_date(), std::to_string(c.jobs()),
               TimeText(c.valid_from()), c.author()});
  }
  table.Print(cli.out());
  return kExitDone;
}

int GetCalendar(Cli& cli, const std::string& name) {
  v1::GetCalendarRequest request;
  request.set_name(name);
  v1::Calendar calendar;
  if (const int code = cli.Call(&Stub::GetCalendar, request, &calendar)) return code;
  if (cli.json()) {
    cli.PrintJson(calendar);
    return kExitDone;
  }
  Card card;
  card.Add("name", calendar.spec().name());
  card.Add("mode", calendar.spec().mode());
  card.Add("weekend",
           Join({calendar.spec().weekend().begin(), calendar.spec().weekend().end()}, ", "));
  card.Add("jobs", std::to_string(calendar.jobs()));
  card.Add("dates", std::to_string(calendar.date_count()));
  card.Print(cli.out());
  for (const std::string& date : calendar.spec().dates()) {
    cli.out() << "  " << SafeText(date) << "\n";
  }
  Table table({"VERSION", "SINCE", "MODE", "DATES", "PAST DATES", "BY"});
  for (const v1::CalendarChange& change : calendar.versions()) {
    table.Add({std::to_string(change.version()), TimeText(change.valid_from()), change.mode(),
               std::to_string(change.date_count()), change.retroactive() ? "changed" : "kept",
               change.author()});
  }
  table.Print(cli.out());
  return kExitDone;
}

}  // namespace

void AddCalendarCommands(CLI::App& app, Cli& cli) {
  CLI::App* noun = app.add_subcommand("calendar", "Holidays and trading days that jobs name");
  noun->require_subcommand(1);
  noun->fallthrough();
  noun->footer(
      "Examples:\n"
      "  tidemark calendar import holidays.yaml\n"
      "  tidemark calendar list");
  AddImport(noun, cli);
  CLI::App* list = AddVerb(noun, "list", "List calendars by name", "  tidemark calendar list");
  list->callback([&cli] { cli.run = [&cli] { return ListCalendars(cli); }; });
  auto name = std::make_shared<std::string>();
  CLI::App* get = AddVerb(noun, "get", "Show a calendar's dates and versions",
                          "  tidemark calendar get cn\n"
                          "  tidemark calendar get cn -o json");
  get->add_option("CALENDAR", *name, "Its name")->required();
  get->callback([&cli, name] { cli.run = [&cli, name] { return GetCalendar(cli, *name); }; });
}

}  // namespace tidemark
