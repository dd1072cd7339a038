#include "scheduler/engine/definitions.h"

#include <utility>
#include <vector>

#include "common/status.h"
#include "scheduler/core/job_timeline.h"

namespace tidemark {
namespace {

constexpr size_t kRemembered = 1024;

// What of the row decides its definition, but the name; "": it is not worth remembering. A lone
// version reaches back for ever, whenever it was made.
std::string KeyOf(const JobRow& row) {
  if (row.versions.size() != 1 || row.calendars != nullptr) return "";
  if (row.versions.front().like != nullptr) return row.versions.front().like->substr(1);
  const std::string& spec = row.versions.front().spec;
  // As the store's JSON begins. A name that needs escapes is not found, and so not shared.
  const std::string name = "{\"name\":\"" + row.name + "\",";
  return spec.starts_with(name) ? spec.substr(name.size()) : "";
}

}  // namespace

const std::shared_ptr<const Definition>& Definition::Empty() {
  static const auto* empty =
      new std::shared_ptr<const Definition>(std::make_shared<const Definition>());
  return *empty;
}

absl::Status Definitions::Compile(const JobRow& row,
                                  std::shared_ptr<const Definition>* definition) {
  // Whatever the name, one text is one definition.
  std::shared_ptr<const std::string> like;
  if (row.versions.size() == 1 && row.calendars == nullptr) like = row.versions.front().like;
  if (const auto found = read_.find(like); like != nullptr && found != read_.end()) {
    *definition = found->second;
    return absl::OkStatus();
  }
  TM_RETURN_IF_ERROR(CompileText(row, definition));
  if (like == nullptr) return absl::OkStatus();
  if (read_.size() >= kRemembered) read_.clear();
  read_.emplace(std::move(like), *definition);
  return absl::OkStatus();
}

absl::Status Definitions::CompileText(const JobRow& row,
                                      std::shared_ptr<const Definition>* definition) {
  const std::string key = KeyOf(row);
  if (const auto found = known_.find(key); !key.empty() && found != known_.end()) {
    *definition = found->second;
    return absl::OkStatus();
  }
  TM_ASSIGN_OR_RETURN(std::shared_ptr<Definition> made, Make(row, definition));
  *definition = made;
  if (key.empty()) return absl::OkStatus();
  made->spec.name.clear();
  if (known_.size() >= kRemembered) known_.clear();
  known_.emplace(key, std::move(made));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Definition>> Definitions::Make(
    const JobRow& row, std::shared_ptr<const Definition>* definition) const {
  auto made = std::make_shared<Definition>();
  made->timeline = (*definition)->timeline;
  *definition = made;
  std::vector<DefinitionVersion> versions;
  for (const JobRow::Version& version : row.versions) {
    absl::StatusOr<JobSpec> spec = decoders_.spec(version.TextOf(row.name));
    if (!spec.ok()) {
      // An old one that nobody can read any more must not stop the one that mended it.
      if (&version == &row.versions.back()) return spec.status();
      continue;
    }
    versions.push_back({version.valid_from, spec->schedule});
    made->spec = *std::move(spec);
  }
  TM_ASSIGN_OR_RETURN(made->timeline, BuildTimeline(versions, row.calendars.get()));
  return made;
}

}  // namespace tidemark
