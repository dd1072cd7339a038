// YAML nodes into Protobuf messages, by the messages' own description.
#ifndef TIDEMARK_SCHEDULER_CLI_YAML_MESSAGE_H_
#define TIDEMARK_SCHEDULER_CLI_YAML_MESSAGE_H_

#include <string>
#include <vector>

#include "google/protobuf/message.h"
#include "yaml-cpp/yaml.h"

namespace tidemark {

// What is wrong with a file, with places. A value of one thread.
class YamlProblems {
 public:
  explicit YamlProblems(std::string file) : file_(std::move(file)) {}

  // `node`: where; `path`: of the field, "" for none.
  void Add(const YAML::Node& node, const std::string& path, const std::string& text);
  void Add(int line, const std::string& path, const std::string& text);

  bool empty() const { return lines_.empty(); }
  std::string Text() const;  // one line each; from the 20th on only their number

 private:
  std::string file_;
  std::vector<std::string> lines_;
};

// What kind of value a node is, for messages: "a list", "text", …
std::string YamlKind(const YAML::Node& node);

// Fills `message` from the map `node`. Unknown and repeated keys, and values of another type than
// the field's, become problems; the field then stays unset. `path`: of the message in the file.
void ReadYamlMessage(const YAML::Node& node, const std::string& path,
                     google::protobuf::Message* message, YamlProblems* problems);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CLI_YAML_MESSAGE_H_
