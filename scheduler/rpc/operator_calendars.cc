#include "scheduler/rpc/operator_calendars.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/core/job_timeline.h"
#include "scheduler/rpc/operator_job.h"
#include "scheduler/rpc/proto_time.h"
#include "scheduler/rpc/schedule_edit.h"

namespace tidemark {
namespace {

constexpr int kImportAttempts = 3;
constexpr int kUpcomingDays = 366;
constexpr size_t kMostDates = 20000;  // told in one answer
constexpr const char* kWeekdays[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};
constexpr uint8_t kDefaultWeekend = 0b1000001;

const char* ModeName(Calendar::Mode mode) {
  return mode == Calendar::Mode::kInclude ? "include" : "exclude";
}

absl::StatusOr<uint8_t> WeekendOf(const v1::CalendarSpec& message) {
  if (message.weekend().empty()) return kDefaultWeekend;
  if (message.weekend_size() == 1 && message.weekend(0) == "NONE") return uint8_t{0};
  uint8_t weekend = 0;
  for (const std::string& word : message.weekend()) {
    const auto day = std::find(std::begin(kWeekdays), std::end(kWeekdays), word);
    if (day == std::end(kWeekdays)) {
      return Invalid("weekend: '" + EscapeControl(word) +
                     "' is none of SUN, MON, TUE, WED, THU, FRI, SAT, or NONE alone");
    }
    weekend |= static_cast<uint8_t>(1 << (day - std::begin(kWeekdays)));
  }
  return weekend;
}

void SetWeekend(const Calendar& calendar, v1::CalendarSpec* out) {
  if (calendar.mode() == Calendar::Mode::kInclude) return;
  for (int day = 0; day < 7; ++day) {
    if ((calendar.weekend() >> day & 1) != 0) out->add_weekend(kWeekdays[day]);
  }
  if (calendar.weekend() == 0) out->add_weekend("NONE");
}

bool SameContent(const Calendar& a, const Calendar& b) {
  return a.mode() == b.mode() && a.weekend() == b.weekend() && a.dates() == b.dates();
}

// Whether nothing of earlier versions is in force for past dates.
bool StandsAlone(const CalendarHistory& history) {
  return history.size() == 1 || history.back().retroactive;
}

CalendarSet WithVersion(const OperatorJob& job, const std::string& name, CalendarHistory history,
                        const CalendarVersion& version) {
  CalendarSet set;
  if (job.calendars != nullptr) set = *job.calendars;
  history.push_back(version);
  set[name] = std::move(history);
  return set;
}

using Dates = google::protobuf::RepeatedPtrField<std::string>;

// Puts dates into an answer, and counts those it has no room for.
struct DateBudget {
  size_t left = kMostDates;

  void Put(const std::vector<absl::CivilDay>& dates, Dates* out, size_t* cut) {
    const size_t count = std::min(dates.size(), left);
    left -= count;
    *cut += dates.size() - count;
    for (size_t i = 0; i < count; ++i) *out->Add() = FormatDate(dates[i]);
  }
};

void ChangesToProto(const DueChanges& changes, const DueChanges& kept, DateBudget* budget,
                    v1::CalendarJobChange* out) {
  size_t cut = 0;
  budget->Put(changes.past_added, out->mutable_past_added(), &cut);
  budget->Put(changes.past_removed, out->mutable_past_removed(), &cut);
  budget->Put(changes.added, out->mutable_added(), &cut);
  budget->Put(changes.removed, out->mutable_removed(), &cut);
  budget->Put(changes.moved, out->mutable_moved(), &cut);
  budget->Put(kept.past_added, out->mutable_past_kept(), &cut);
  budget->Put(kept.past_removed, out->mutable_past_kept(), &cut);
  std::sort(out->mutable_past_kept()->begin(), out->mutable_past_kept()->end());
  if (cut > 0) out->set_warning(std::to_string(cut) + " more dates are not listed");
}

// "recon: due now 2026-10-01, 2026-10-02; no longer due 2026-10-08", all dates, for the audit.
std::string AuditText(const std::string& job, const DueChanges& changes) {
  const auto list = [](const std::vector<absl::CivilDay>& dates) {
    std::vector<std::string> texts;
    texts.reserve(dates.size());
    for (const absl::CivilDay date : dates) texts.push_back(FormatDate(date));
    return Join(texts, ", ");
  };
  std::string text = job + ":";
  if (!changes.past_added.empty()) text += " due now " + list(changes.past_added);
  if (!changes.past_removed.empty()) {
    text += (changes.past_added.empty() ? " " : "; ") + std::string("no longer due ") +
            list(changes.past_removed);
  }
  return text;
}

// What an import does to all jobs of its calendar.
class ImportReport {
 public:
  ImportReport(const std::string& name, const CalendarHistory& history,
               const CalendarVersion& version, absl::Time now)
      : name_(name), history_(history), version_(version), now_(now) {}

  void AddJob(OperatorJob row, v1::ImportCalendarResponse* response) {
    const CalendarSet after_set = WithVersion(row, name_, history_, version_);
    const absl::StatusOr<Timeline> after = TimelineWith(row, &after_set);
    const LoadedJob job = LoadJob(std::move(row));
    v1::CalendarJobChange change;
    change.set_job(job.row.name);
    if (!after.ok()) {
      change.set_warning("cannot be used with this calendar: " + Message(after.status()));
      *response->add_jobs() = std::move(change);
      return;
    }
    const std::optional<Occurrence> next = after->Next(now_);
    if (next.has_value()) *change.mutable_next_fire() = ToProto(next->fire_time);
    bool tell = false;
    if (!job.timeline.empty()) tell = Compare(job, *after, &change);
    if (!next.has_value() && job.spec.schedule.kind != ScheduleSpec::Kind::kManual) {
      change.set_warning("is never due again with this calendar");
      tell = true;
    }
    if (tell) *response->add_jobs() = std::move(change);
  }

  const std::string& audit() const { return audit_; }

 private:
  // Returns whether there is something to tell.
  bool Compare(const LoadedJob& job, const Timeline& after, v1::CalendarJobChange* change) {
    if (!job.dated() || !after.dated()) return job.timeline.Next(now_) != after.Next(now_);
    const absl::TimeZone zone = job.timeline.current().zone();
    const absl::CivilDay first = AccountedFrom(job, now_);
    const absl::CivilDay last = absl::ToCivilDay(now_, zone) + kUpcomingDays;
    const DueChanges changes = CompareTimelines(job.timeline, after, first, last, now_);
    DueChanges kept;
    if (!version_.retroactive && !history_.empty()) {
      CalendarVersion retroactive = version_;
      retroactive.retroactive = true;
      const CalendarSet set = WithVersion(job.row, name_, history_, retroactive);
      const absl::StatusOr<Timeline> other = TimelineWith(job.row, &set);
      if (other.ok()) kept = CompareTimelines(job.timeline, *other, first, last, now_);
    }
    ChangesToProto(changes, kept, &budget_, change);
    if (changes.past()) audit_ += "\n" + AuditText(job.row.name, changes);
    return changes.any() || kept.past();
  }

  const std::string& name_;
  const CalendarHistory& history_;
  const CalendarVersion& version_;
  const absl::Time now_;
  DateBudget budget_;
  std::string audit_;
};

void AddWarnings(const Calendar& calendar, absl::Time now, v1::ImportCalendarResponse* response) {
  if (calendar.mode() != Calendar::Mode::kInclude) return;
  const absl::CivilDay last = calendar.dates().back();
  const absl::CivilDay today = absl::ToCivilDay(now, absl::UTCTimeZone());
  if (last - today >= kUpcomingDays) return;
  response->add_warnings("its last date is " + FormatDate(last) +
                         ": beyond it nothing is due; import the next dates in time");
}

void Fill(const OperatorCalendar& row, v1::Calendar* out) {
  out->mutable_spec()->set_name(row.name);
  out->mutable_spec()->set_mode(ModeName(row.mode));
  out->set_version(row.version);
  out->set_date_count(row.dates);
  if (row.first.has_value()) out->set_first_date(FormatDate(*row.first));
  if (row.last.has_value()) out->set_last_date(FormatDate(*row.last));
  out->set_jobs(row.jobs);
  *out->mutable_valid_from() = ToProto(row.valid_from);
  out->set_author(row.author);
}

}  // namespace

absl::StatusOr<Calendar::Spec> CalendarSpecFromProto(const v1::CalendarSpec& message) {
  Calendar::Spec spec;
  spec.name = message.name();
  if (const std::string problem = NameProblem(message.name()); !problem.empty()) {
    return Invalid("name: " + (problem == "is empty" ? std::string("is required") : problem));
  }
  if (message.mode() == "include") {
    spec.mode = Calendar::Mode::kInclude;
  } else if (!message.mode().empty() && message.mode() != "exclude") {
    return Invalid("mode: '" + EscapeControl(message.mode()) + "' is neither include nor exclude");
  }
  TM_ASSIGN_OR_RETURN(spec.weekend, WeekendOf(message));
  if (spec.mode == Calendar::Mode::kInclude) spec.weekend = kDefaultWeekend;
  for (const std::string& text : message.dates()) {
    const absl::StatusOr<absl::CivilDay> date = ParseDate(text);
    if (!date.ok()) return Annotate(date.status(), "dates");
    spec.dates.push_back(*date);
  }
  return spec;
}

absl::StatusOr<OperatorCalendars::Stored> OperatorCalendars::Read(const std::string& name) {
  Stored stored;
  TM_ASSIGN_OR_RETURN(const std::shared_ptr<const CalendarSet> set, store_.FindCalendars({name}));
  if (set != nullptr && set->count(name) > 0) stored.history = set->at(name);
  TM_ASSIGN_OR_RETURN(stored.jobs, store_.JobsWithCalendar(name));
  TM_ASSIGN_OR_RETURN(stored.now, store_.Now());
  if (!stored.history.empty()) {
    // Even when the database's clock went back.
    stored.now = std::max(stored.now, stored.history.back().valid_from + absl::Microseconds(1));
  }
  return stored;
}

absl::Status OperatorCalendars::ImportOnce(const v1::ImportCalendarRequest& request,
                                           Calendar::Spec spec,
                                           v1::ImportCalendarResponse* response, bool* changed) {
  response->Clear();
  TM_ASSIGN_OR_RETURN(Stored stored, Read(spec.name));
  const bool exists = !stored.history.empty();
  spec.version = exists ? stored.history.back().calendar->version() + 1 : 1;
  absl::StatusOr<Calendar> made = Calendar::Make(std::move(spec));
  if (!made.ok()) return made.status();
  response->set_jobs_with_calendar(static_cast<uint32_t>(stored.jobs.size()));
  AddWarnings(*made, stored.now, response);
  if (exists && SameContent(*stored.history.back().calendar, *made) &&
      (!request.retroactive() || StandsAlone(stored.history))) {
    response->set_outcome(v1::ImportCalendarResponse::UNCHANGED);
    response->set_version(made->version() - 1);
    return absl::OkStatus();
  }
  response->set_outcome(exists ? v1::ImportCalendarResponse::UPDATED
                               : v1::ImportCalendarResponse::CREATED);
  response->set_version(made->version());
  CalendarWrite write;
  write.calendar = std::make_shared<const Calendar>(*std::move(made));
  write.valid_from = stored.now;
  write.retroactive = request.retroactive();
  const CalendarVersion version{write.valid_from, write.retroactive, write.calendar};
  ImportReport report(write.calendar->name(), stored.history, version, stored.now);
  for (OperatorJob& job : stored.jobs) {
    write.job_ids.push_back(job.job_id);
    report.AddJob(std::move(job), response);
  }
  std::sort(response->mutable_jobs()->begin(), response->mutable_jobs()->end(),
            [](const auto& a, const auto& b) { return a.job() < b.job(); });
  if (request.dry_run()) return absl::OkStatus();
  write.detail = std::string(ModeName(write.calendar->mode())) + ", " +
                 std::to_string(write.calendar->dates().size()) + " dates" +
                 (write.retroactive ? ", retroactive" : "") + report.audit();
  TM_RETURN_IF_ERROR(store_.WriteCalendar(write, request.actor()));
  *changed = true;
  return absl::OkStatus();
}

absl::Status OperatorCalendars::Import(const v1::ImportCalendarRequest& request,
                                       v1::ImportCalendarResponse* response, bool* changed) {
  *changed = false;
  TM_ASSIGN_OR_RETURN(const Calendar::Spec spec, CalendarSpecFromProto(request.calendar()));
  absl::Status status;
  for (int attempt = 0; attempt < kImportAttempts; ++attempt) {
    status = ImportOnce(request, spec, response, changed);
    if (!absl::IsAborted(status)) break;
  }
  return status;
}

absl::Status OperatorCalendars::List(const v1::ListCalendarsRequest&,
                                     v1::ListCalendarsResponse* response) {
  TM_ASSIGN_OR_RETURN(const std::vector<OperatorCalendar> rows, store_.ListCalendars());
  for (const OperatorCalendar& row : rows) Fill(row, response->add_calendars());
  return absl::OkStatus();
}

absl::Status OperatorCalendars::Get(const v1::GetCalendarRequest& request, v1::Calendar* response) {
  const std::string& name = request.name();
  if (const std::string problem = NameProblem(name); !problem.empty()) {
    return Invalid("name: " + problem);
  }
  TM_ASSIGN_OR_RETURN(const std::vector<OperatorCalendar> versions, store_.CalendarVersions(name));
  TM_ASSIGN_OR_RETURN(const std::shared_ptr<const CalendarSet> set, store_.FindCalendars({name}));
  const std::shared_ptr<const Calendar> calendar = NewestCalendar(set.get(), name);
  if (versions.empty() || calendar == nullptr) {
    std::vector<std::string> names;
    TM_ASSIGN_OR_RETURN(const std::vector<OperatorCalendar> all, store_.ListCalendars());
    names.reserve(all.size());
    for (const OperatorCalendar& row : all) names.push_back(row.name);
    const std::string near = Nearest(name, names);
    return absl::NotFoundError(ToAbsl("there is no calendar '" + EscapeControl(name) + "'" +
                                      (near.empty() ? "" : "; did you mean '" + near + "'?") +
                                      " (tidemark calendar list shows all)"));
  }
  Fill(versions.front(), response);
  for (const absl::CivilDay date : calendar->dates()) {
    response->mutable_spec()->add_dates(FormatDate(date));
  }
  SetWeekend(*calendar, response->mutable_spec());
  for (const OperatorCalendar& row : versions) {
    v1::CalendarChange* change = response->add_versions();
    change->set_version(row.version);
    *change->mutable_valid_from() = ToProto(row.valid_from);
    change->set_retroactive(row.retroactive);
    change->set_author(row.author);
    change->set_mode(ModeName(row.mode));
    change->set_date_count(row.dates);
  }
  return absl::OkStatus();
}

}  // namespace tidemark
