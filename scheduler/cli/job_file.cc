#include "scheduler/cli/job_file.h"

#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "scheduler/cli/yaml_message.h"
#include "yaml-cpp/yaml.h"

namespace tidemark {
namespace {

constexpr size_t kMaxBytes = size_t{8} * 1024 * 1024;

// The four things that every job must say, told with the place of the job.
void CheckRequired(const YAML::Node& node, const std::string& path, const v1::JobSpec& job,
                   YamlProblems* problems) {
  const auto require = [&](const char* key, bool given) {
    if (!given && !node[key].IsDefined())
      problems->Add(node, path, std::string(key) + " is required");
  };
  require("name", !job.name().empty());
  require("app", !job.app().empty());
  require("handler", !job.handler().empty());
  require("schedule", job.has_schedule());
}

void ReadDocument(const YAML::Node& document, std::vector<v1::JobSpec>* jobs,
                  YamlProblems* problems) {
  if (!document.IsMap()) {
    problems->Add(document, "", "expected a map with the key 'jobs', found " + YamlKind(document));
    return;
  }
  for (const auto& entry : document) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (key == "jobs") continue;
    const bool is_job = v1::JobSpec::descriptor()->FindFieldByName(key) != nullptr;
    problems->Add(entry.first, EscapeControl(key),
                  is_job ? "unknown key at the top; jobs are elements of a list: jobs: [{name: …}]"
                         : "unknown key at the top; known is jobs");
  }
  const YAML::Node list = document["jobs"];
  if (!list.IsDefined()) return;
  if (!list.IsSequence()) {
    problems->Add(list, "jobs", "expected a list of jobs, found " + YamlKind(list));
    return;
  }
  for (size_t i = 0; i < list.size(); ++i) {
    const YAML::Node node = list[i];
    if (!node.IsMap()) {
      problems->Add(node, "jobs", "expected a job (a map), found " + YamlKind(node));
      continue;
    }
    // Problems are easier to find by the job's name than by its number.
    const YAML::Node name = node["name"];
    const std::string path = name.IsDefined() && name.IsScalar() && !name.Scalar().empty()
                                 ? EscapeControl(CleanText(name.Scalar(), 64))
                                 : "jobs[" + std::to_string(i) + "]";
    v1::JobSpec job;
    ReadYamlMessage(node, path, &job, problems);
    CheckRequired(node, path, job, problems);
    jobs->push_back(std::move(job));
  }
}

}  // namespace

absl::StatusOr<std::vector<v1::JobSpec>> ParseJobFile(std::string_view yaml,
                                                      const std::string& name) {
  if (yaml.size() > kMaxBytes) return Invalid(name + ": is larger than 8 MiB");
  if (!IsCleanUtf8(yaml)) return Invalid(name + ": is not UTF-8 text, or has a NUL");
  std::vector<v1::JobSpec> jobs;
  YamlProblems problems(name);
  try {  // yaml-cpp tells syntax errors by exceptions
    for (const YAML::Node& document : YAML::LoadAll(std::string(yaml))) {
      if (!document.IsNull()) ReadDocument(document, &jobs, &problems);
    }
  } catch (const YAML::Exception& e) {
    problems.Add(e.mark.is_null() ? 0 : e.mark.line + 1, "", "not valid YAML: " + e.msg);
  }
  if (!problems.empty()) return Invalid(problems.Text());
  if (jobs.empty()) return Invalid(name + ": has no job; it should have jobs: [{name: …}]");
  return jobs;
}

}  // namespace tidemark
