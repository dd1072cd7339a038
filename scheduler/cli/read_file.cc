#include "scheduler/cli/read_file.h"

#include <fstream>
#include <iterator>
#include <sstream>

#include "common/text.h"

namespace tidemark {

absl::StatusOr<std::string> ReadFile(std::istream& in, const std::string& name) {
  if (name == "-") return std::string(std::istreambuf_iterator<char>(in), {});
  std::ifstream file(name, std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) {
    return absl::NotFoundError(ToAbsl("cannot read '" + name + "'"));
  }
  return text.str();
}

}  // namespace tidemark
