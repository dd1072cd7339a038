#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "scheduler/core/time/calendar.h"
#include "scheduler/core/time/recurrence.h"

namespace tidemark {
namespace {

constexpr size_t kMaxText = 8u << 20;
constexpr int kMaxEventDays = 400;
constexpr size_t kMaxDates = 100000;
constexpr int kMaxRules = 1000;  // each is tried day by day

// One unfolded content line: NAME;PARAMETERS:VALUE.
struct Line {
  size_t number;  // of its first physical line, from 1
  std::string text;
  std::string name, value;
};

absl::Status At(const Line& line, const std::string& reason) {
  return absl::InvalidArgumentError("line " + std::to_string(line.number) + ": " + reason);
}

std::string Upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

// Splits at the first colon outside quotes; parameters are dropped: the form of a value tells
// whether it is a date.
void Separate(Line& line) {
  size_t name_end = std::string::npos;
  bool quoted = false;
  for (size_t i = 0; i < line.text.size(); ++i) {
    const char c = line.text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ';' && name_end == std::string::npos) name_end = i;
    if (c != ':') continue;
    line.name = Upper(line.text.substr(0, std::min(name_end, i)));
    line.value = line.text.substr(i + 1);
    return;
  }
  line.name = Upper(line.text);
}

std::vector<Line> Unfold(std::string_view text) {
  std::vector<Line> lines;
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view physical = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (!physical.empty() && physical.back() == '\r') physical.remove_suffix(1);
    if (!physical.empty() && (physical[0] == ' ' || physical[0] == '\t') && !lines.empty()) {
      lines.back().text += physical.substr(1);
    } else if (!physical.empty()) {
      lines.push_back({number, std::string(physical), "", ""});
    }
  }
  for (Line& line : lines) Separate(line);
  return lines;
}

// "P3D", "P1W": days; empty for anything else.
std::optional<int> DurationDays(std::string_view text) {
  if (text.size() < 3 || text[0] != 'P') return std::nullopt;
  const char unit = text.back();
  int count = 0;
  for (const char c : text.substr(1, text.size() - 2)) {
    if (c < '0' || c > '9' || count > kMaxEventDays) return std::nullopt;
    count = count * 10 + (c - '0');
  }
  if (unit != 'D' && unit != 'W') return std::nullopt;
  return unit == 'W' ? count * 7 : count;
}

// Collects the days of one VEVENT. A throw-away object on the stack.
class Event {
 public:
  explicit Event(size_t line) : line_(line) {}

  absl::Status Take(const Line& line) {
    if (line.name == "DTSTART") return TakeDate(line, &start_);
    if (line.name == "DTEND") return TakeDate(line, &end_);
    if (line.name == "RDATE") return TakeDates(line, &extra_);
    if (line.name == "EXDATE") return TakeDates(line, &excluded_);
    if (line.name == "STATUS") cancelled_ = Upper(line.value) == "CANCELLED";
    if (line.name == "DURATION") {
      duration_ = DurationDays(line.value);
      if (!duration_) return At(line, "DURATION " + line.value + " is no number of days");
    }
    if (line.name == "RRULE") {
      if (rule_) return At(line, "a second RRULE in one event");
      absl::StatusOr<Recurrence> rule = Recurrence::Parse(Upper(line.value));
      if (!rule.ok()) return At(line, std::string(rule.status().message()));
      rule_ = *rule;
    }
    if (line.name == "EXRULE" || line.name == "RECURRENCE-ID") {
      return At(line, line.name + " is not understood: list the dates instead");
    }
    return absl::OkStatus();
  }

  absl::Status AddDays(absl::CivilDay last, std::vector<absl::CivilDay>* out) const {
    if (cancelled_) return absl::OkStatus();
    const Line here{line_, "", "", ""};
    if (!start_) return At(here, "the event has no DTSTART");
    const int64_t length = end_ ? *end_ - *start_ : duration_.value_or(1);
    if (length < 1 && !(end_ && length == 0)) return At(here, "the event ends before it starts");
    if (length > kMaxEventDays) return At(here, "the event is longer than 400 days");
    std::vector<absl::CivilDay> starts{*start_};
    if (rule_) starts = rule_->Days(*start_, last);
    starts.insert(starts.end(), extra_.begin(), extra_.end());
    for (const absl::CivilDay start : starts) {
      if (std::find(excluded_.begin(), excluded_.end(), start) != excluded_.end()) continue;
      for (int64_t i = 0; i < std::max<int64_t>(length, 1); ++i) {
        if (start + i <= last) out->push_back(start + i);
      }
    }
    if (out->size() > kMaxDates) return At(here, "more than 100000 dates");
    return absl::OkStatus();
  }

 private:
  static absl::Status TakeDate(const Line& line, std::optional<absl::CivilDay>* out) {
    absl::StatusOr<absl::CivilDay> date = ParseICalDate(line.value);
    if (!date.ok()) return At(line, line.name + ": " + std::string(date.status().message()));
    *out = *date;
    return absl::OkStatus();
  }

  static absl::Status TakeDates(const Line& line, std::vector<absl::CivilDay>* out) {
    for (size_t begin = 0; begin <= line.value.size();) {
      const size_t end = std::min(line.value.find(',', begin), line.value.size());
      Line item = line;
      item.value = line.value.substr(begin, end - begin);
      std::optional<absl::CivilDay> date;
      if (absl::Status status = TakeDate(item, &date); !status.ok()) return status;
      out->push_back(*date);
      begin = end + 1;
    }
    return absl::OkStatus();
  }

  const size_t line_;
  std::optional<absl::CivilDay> start_, end_;
  std::optional<int> duration_;
  std::optional<Recurrence> rule_;
  std::vector<absl::CivilDay> extra_, excluded_;
  bool cancelled_ = false;
};

}  // namespace

absl::StatusOr<std::vector<absl::CivilDay>> DatesFromICalendar(std::string_view text,
                                                               absl::CivilDay last) {
  if (text.size() > kMaxText) return absl::InvalidArgumentError("longer than 8 MiB");
  const std::vector<Line> lines = Unfold(text);
  std::vector<std::string> open;  // components, outermost first
  std::optional<Event> event;
  std::vector<absl::CivilDay> dates;
  int rules = 0;
  for (const Line& line : lines) {
    if (line.name == "BEGIN") {
      open.push_back(Upper(line.value));
      if (open[0] != "VCALENDAR") return At(line, "no iCalendar: BEGIN:VCALENDAR comes first");
      if (open.size() > 16) return At(line, "components nested too deep");
      if (open.back() == "VEVENT") event.emplace(line.number);
    } else if (line.name == "END") {
      if (open.empty() || open.back() != Upper(line.value)) {
        return At(line, "END:" + line.value + " without its BEGIN");
      }
      if (open.back() == "VEVENT") {
        if (absl::Status status = event->AddDays(last, &dates); !status.ok()) return status;
      }
      open.pop_back();
    } else if (open.empty()) {
      return At(line, "no iCalendar: BEGIN:VCALENDAR comes first");
    } else if (open.back() == "VEVENT") {
      if (line.name == "RRULE" && ++rules > kMaxRules) return At(line, "more than 1000 RRULEs");
      if (absl::Status status = event->Take(line); !status.ok()) return status;
    }
  }
  if (lines.empty()) return absl::InvalidArgumentError("the file is empty");
  if (!open.empty()) return At(lines.back(), "the file ends inside " + open.back());
  std::sort(dates.begin(), dates.end());
  dates.erase(std::unique(dates.begin(), dates.end()), dates.end());
  if (dates.empty()) return absl::InvalidArgumentError("no dates: the file has no whole-day event");
  return dates;
}

}  // namespace tidemark
