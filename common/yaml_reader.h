// Reads a YAML mapping strictly: unknown and repeated keys and wrong types are errors with a line.
#ifndef TIDEMARK_COMMON_YAML_READER_H_
#define TIDEMARK_COMMON_YAML_READER_H_

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace tidemark {

// Fills variables from one mapping. The first error is kept and everything after it is skipped:
// call Done() last. A variable whose key is absent is left as it is. Not thread-safe.
class YamlReader {
 public:
  // `place` is what errors call this mapping, such as "handlers[0]"; "" for the whole file.
  YamlReader(const YAML::Node& node, std::string file, std::string place);

  // True when the key is there. Marks it as known.
  bool Has(const std::string& key);
  void Text(const std::string& key, std::string* out);
  void Number(const std::string& key, int64_t least, int64_t most, int64_t* out);
  void Duration(const std::string& key, absl::Duration* out);
  void Texts(const std::string& key, std::vector<std::string>* out);
  // A single text counts as a list of one.
  void TextOrTexts(const std::string& key, std::vector<std::string>* out);
  void Numbers(const std::string& key, int64_t least, int64_t most, std::set<int>* out);
  void TextMap(const std::string& key, std::map<std::string, std::string>* out);
  // A nested mapping, to be read by a reader of its own.
  std::optional<YAML::Node> Item(const std::string& key);
  // The items of a list of mappings; empty when absent.
  std::vector<YAML::Node> Items(const std::string& key);
  void Require(const std::string& key);
  void Fail(const std::string& key, const std::string& what);

  // The first error; unknown keys are found here.
  absl::Status Done();

 private:
  YAML::Node Find(const std::string& key);
  bool Scalar(const YAML::Node& node, const std::string& key, std::string* out);
  bool Integer(const YAML::Node& node, const std::string& key, int64_t least, int64_t most,
               int64_t* out);
  void FailAt(int line, const std::string& what);

  YAML::Node node_;
  std::string file_;
  std::string place_;
  std::vector<std::string> known_;
  std::vector<std::string> missing_;
  absl::Status status_;
};

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_YAML_READER_H_
