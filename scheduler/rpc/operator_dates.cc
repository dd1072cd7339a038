#include "scheduler/rpc/operator_dates.h"

#include <utility>
#include <vector>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/rpc/operator_job.h"

namespace tidemark {
namespace {

constexpr size_t kMaxReason = 1024;
constexpr int kMaxDays = 3660;

absl::Status CheckReason(const std::string& reason, bool required) {
  if (required && reason.empty()) return Invalid("it needs a reason: --reason \"why\"");
  if (reason.size() > kMaxReason || !IsCleanUtf8(reason)) {
    return Invalid("reason: must be UTF-8 text of at most 1024 bytes");
  }
  return absl::OkStatus();
}

// Either one date, or both ends of a range.
absl::Status CheckDates(const std::string& date, const std::string& from, const std::string& to) {
  if (!date.empty()) {
    if (!from.empty() || !to.empty()) return Invalid("give a date, or --from and --to, not both");
    return Annotate(ParseDate(date).status(), "date");
  }
  if (from.empty() || to.empty()) {
    return Invalid("which dates? Give one date (YYYY-MM-DD), or both --from and --to");
  }
  const absl::StatusOr<absl::CivilDay> first = ParseDate(from);
  if (!first.ok()) return Annotate(first.status(), "from");
  const absl::StatusOr<absl::CivilDay> last = ParseDate(to);
  if (!last.ok()) return Annotate(last.status(), "to");
  if (*last < *first) return Invalid("to: " + to + " lies before from, " + from);
  if (*last - *first > kMaxDays) {
    return Invalid("the range has more than " + std::to_string(kMaxDays) +
                   " days; order it in parts");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CommandState> OperatorDates::Record(const std::string& job, const std::string& kind,
                                                   const std::string& actor,
                                                   std::map<std::string, std::string> args) {
  TM_ASSIGN_OR_RETURN(const LoadedJob loaded, FindJob(store_, job));
  OperatorCommand command;
  command.command_id = NewUuid(clock_.WallNow(), random_);
  command.job_id = loaded.row.job_id;
  command.shard = loaded.row.shard;
  command.kind = kind;
  command.actor = actor;
  command.job_name = loaded.row.name;
  command.args = std::move(args);
  return store_.AddCommand(command);
}

absl::StatusOr<CommandState> OperatorDates::Waive(const v1::WaiveDatesRequest& request) {
  TM_RETURN_IF_ERROR(CheckReason(request.reason(), /*required=*/true));
  TM_RETURN_IF_ERROR(CheckDates(request.biz_date(), request.from(), request.to()));
  return Record(request.job(), "waive", request.actor(),
                {{"date", request.biz_date()},
                 {"from", request.from()},
                 {"to", request.to()},
                 {"reason", request.reason()}});
}

absl::StatusOr<CommandState> OperatorDates::ForceDone(const v1::ForceDoneRequest& request) {
  TM_RETURN_IF_ERROR(CheckReason(request.reason(), /*required=*/true));
  TM_RETURN_IF_ERROR(CheckDates(request.biz_date(), "", ""));
  return Record(request.job(), "force_done", request.actor(),
                {{"date", request.biz_date()}, {"reason", request.reason()}});
}

absl::StatusOr<CommandState> OperatorDates::Unwaive(const v1::UnwaiveDatesRequest& request) {
  TM_RETURN_IF_ERROR(CheckReason(request.reason(), /*required=*/false));
  TM_RETURN_IF_ERROR(CheckDates(request.biz_date(), request.from(), request.to()));
  return Record(request.job(), "unwaive", request.actor(),
                {{"date", request.biz_date()},
                 {"from", request.from()},
                 {"to", request.to()},
                 {"reason", request.reason()}});
}

std::vector<std::string> SplitList(const std::string& list) {
  std::vector<std::string> items;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    items.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

void FillDates(const CommandState* state, const std::string& queued, v1::DatesResponse* response) {
  response->set_queued(state == nullptr);
  response->set_message(queued);
  if (state == nullptr) return;
  const auto field = [&](const char* name) {
    const auto found = state->result.find(name);
    return found == state->result.end() ? "" : found->second;
  };
  response->set_message(field("message"));
  for (std::string& date : SplitList(field("dates"))) response->add_biz_dates(std::move(date));
  for (const std::string& item : SplitList(field("skipped"))) {
    v1::SkippedDate* skipped = response->add_skipped();
    skipped->set_biz_date(item.substr(0, item.find(' ')));
    skipped->set_status(item.substr(std::min(item.size(), item.find(' ') + 1)));
  }
}

}  // namespace tidemark
