#include "scheduler/cli/cron_command.h"

#include <optional>
#include <ostream>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/status.h"
#include "common/time_text.h"
#include "scheduler/core/time/cron.h"
#include "scheduler/core/time/cron_explain.h"
#include "scheduler/core/time/zone.h"

namespace tidemark {
namespace {

constexpr int kDone = 0;
constexpr int kInvalid = 2;
constexpr int kMostFires = 10000;

struct Answer {
  Cron cron;
  absl::TimeZone zone;
  std::vector<absl::Time> fires;
  bool never = false;  // the chain ended before the count
  std::vector<std::string> warnings;
};

absl::StatusOr<Answer> Evaluate(const CronOptions& options) {
  Answer answer;
  if (options.count < 1 || options.count > kMostFires) {
    return absl::InvalidArgumentError("-n: from 1 to 10000");
  }
  TM_ASSIGN_OR_RETURN(const Dialect dialect, ParseDialect(options.dialect));
  TM_ASSIGN_OR_RETURN(answer.cron, Cron::Parse(options.expression, dialect));
  TM_ASSIGN_OR_RETURN(answer.zone, LoadZone(options.zone));
  absl::Time from = options.now;
  if (!options.from.empty()) {
    absl::StatusOr<absl::Time> given = ParseInstant(options.from);
    if (!given.ok()) return Annotate(given.status(), "--from");
    from = *given;
  }
  answer.warnings = CronWarnings(answer.cron, dialect, answer.zone, from);
  // As a job with this expression would fire: at most once a local day is a dated job.
  const Cron::Rule rule =
      answer.cron.TimesPerDay() == 1 ? Cron::Rule::kFixed : Cron::Rule::kAsWritten;
  for (int i = 0; i < options.count; ++i) {
    const std::optional<Fire> fire = answer.cron.Next(from, answer.zone, rule);
    if (!fire) {
      answer.never = true;
      break;
    }
    from = fire->instant;
    answer.fires.push_back(from);
  }
  return answer;
}

std::string JsonString(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string JsonList(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& item : items) out += (out.size() > 1 ? ", " : "") + JsonString(item);
  return out + "]";
}

void PrintJson(const Answer& answer, bool words, std::ostream& out) {
  std::vector<std::string> fires;
  fires.reserve(answer.fires.size());
  for (const absl::Time fire : answer.fires) fires.push_back(FormatInstant(fire, answer.zone));
  out << "{";
  if (words) out << "\"words\": " << JsonString(CronInWords(answer.cron)) << ", ";
  out << "\"fires\": " << JsonList(fires) << ", \"never\": " << (answer.never ? "true" : "false")
      << ", \"dialect\": " << JsonString(DialectName(answer.cron.dialect()))
      << ", \"warnings\": " << JsonList(answer.warnings) << "}\n";
}

void PrintTable(const Answer& answer, bool words, std::ostream& out) {
  out << "dialect  " << DialectName(answer.cron.dialect()) << "\n"
      << "zone     " << answer.zone.name() << "\n";
  if (words) out << "fires    " << CronInWords(answer.cron) << "\n";
  for (const absl::Time fire : answer.fires) {
    out << FormatInstant(fire, answer.zone) << "  " << absl::FormatTime("%a", fire, answer.zone)
        << "\n";
  }
  if (answer.never) out << (answer.fires.empty() ? "never\n" : "never again\n");
  for (const std::string& warning : answer.warnings) out << "warning: " << warning << "\n";
}

int Run(const CronOptions& options, bool words, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<Answer> answer = Evaluate(options);
  if (!answer.ok()) {
    err << Message(answer.status()) << "\n";
    return kInvalid;
  }
  options.json ? PrintJson(*answer, words, out) : PrintTable(*answer, words, out);
  return kDone;
}

}  // namespace

int RunCronNext(const CronOptions& options, std::ostream& out, std::ostream& err) {
  return Run(options, false, out, err);
}

int RunCronExplain(const CronOptions& options, std::ostream& out, std::ostream& err) {
  return Run(options, true, out, err);
}

}  // namespace tidemark
