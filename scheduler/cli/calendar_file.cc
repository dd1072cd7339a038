#include "scheduler/cli/calendar_file.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/cli/yaml_message.h"
#include "scheduler/core/time/calendar.h"
#include "yaml-cpp/yaml.h"

namespace tidemark {
namespace {

constexpr size_t kMaxBytes = size_t{8} * 1024 * 1024;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

absl::Status CheckText(std::string_view text, const std::string& file) {
  if (text.size() > kMaxBytes) return Invalid(file + ": is larger than 8 MiB");
  if (!IsCleanUtf8(text)) return Invalid(file + ": is not UTF-8 text, or has a NUL");
  return absl::OkStatus();
}

void ReadDocument(const YAML::Node& document, v1::CalendarSpec* spec, YamlProblems* problems) {
  if (!document.IsMap()) {
    problems->Add(
        document, "",
        "expected a map with the keys name, mode, dates, weekend, found " + YamlKind(document));
    return;
  }
  ReadYamlMessage(document, "", spec, problems);
  for (const auto& date : document["dates"]) {
    if (!date.IsScalar()) continue;  // told already
    const auto day = ParseDate(date.Scalar());
    if (!day.ok()) problems->Add(date, "dates", Message(day.status()));
  }
  for (std::string& day : *spec->mutable_weekend()) {
    day = absl::AsciiStrToUpper(day);
  }
  const YAML::Node weekend = document["weekend"];
  if (weekend.IsDefined() && weekend.IsSequence() && weekend.size() == 0) {
    spec->add_weekend("NONE");
  }
}

}  // namespace

absl::StatusOr<v1::CalendarSpec> ParseCalendarFile(std::string_view yaml, const std::string& file) {
  TM_RETURN_IF_ERROR(CheckText(yaml, file));
  v1::CalendarSpec spec;
  YamlProblems problems(file);
  try {  // yaml-cpp tells syntax errors by exceptions
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(yaml));
    if (documents.size() != 1) {
      return Invalid(file + ": a calendar file has one calendar, this has " +
                     std::to_string(documents.size()) + " documents");
    }
    ReadDocument(documents.front(), &spec, &problems);
  } catch (const YAML::Exception& e) {
    problems.Add(e.mark.is_null() ? 0 : e.mark.line + 1, "", "not valid YAML: " + e.msg);
  }
  if (!problems.empty()) return Invalid(problems.Text());
  return spec;
}

absl::StatusOr<v1::CalendarSpec> ParseICalendarFile(std::string_view text, const std::string& file,
                                                    absl::CivilDay last) {
  TM_RETURN_IF_ERROR(CheckText(text, file));
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
  }
  const auto dates = DatesFromICalendar(text, last);
  if (!dates.ok()) return Annotate(dates.status(), file);
  v1::CalendarSpec spec;
  for (const absl::CivilDay date : *dates) spec.add_dates(FormatDate(date));
  return spec;
}

bool IsICalendar(std::string_view text) {
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
  }
  const size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos &&
         absl::StartsWithIgnoreCase(ToAbsl(text.substr(start)), "BEGIN:VCALENDAR");
}

}  // namespace tidemark
