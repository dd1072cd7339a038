#include "common/yaml_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"

namespace tidemark {

YamlReader::YamlReader(const YAML::Node& node, std::string file, std::string place)
    : node_(node), file_(std::move(file)), place_(std::move(place)) {
  if (!node_.IsMap()) {
    FailAt(node_.Mark().line, "expected a mapping (key: value)");
    return;
  }
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    if (!entry.first.IsScalar()) {
      FailAt(entry.first.Mark().line, "a key must be text");
    } else if (!seen.insert(entry.first.Scalar()).second) {
      FailAt(entry.first.Mark().line, "key \"" + entry.first.Scalar() + "\" is there twice");
    }
  }
}

void YamlReader::FailAt(int line, const std::string& what) {
  if (!status_.ok()) return;
  std::string text = file_ + ":" + std::to_string(line + 1) + ": ";
  if (!place_.empty()) text += place_ + ": ";
  status_ = absl::InvalidArgumentError(text + what);
}

void YamlReader::Fail(const std::string& key, const std::string& what) {
  const YAML::Node node = status_.ok() ? Find(key) : YAML::Node();
  FailAt(node.IsDefined() && !node.IsNull() ? node.Mark().line : node_.Mark().line,
         key + ": " + what);
}

YAML::Node YamlReader::Find(const std::string& key) {
  known_.push_back(key);
  if (status_.ok()) {
    for (const auto& entry : node_) {
      if (entry.first.Scalar() == key) return entry.second;
    }
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

bool YamlReader::Has(const std::string& key) { return Find(key).IsDefined(); }

void YamlReader::Require(const std::string& key) {
  if (!Has(key)) missing_.push_back(key);
}

bool YamlReader::Scalar(const YAML::Node& node, const std::string& key, std::string* out) {
  if (!node.IsScalar()) {
    FailAt(node.Mark().line, key + ": expected text");
    return false;
  }
  if (!IsCleanUtf8(node.Scalar())) {
    FailAt(node.Mark().line, key + ": is not UTF-8 text without NUL");
    return false;
  }
  *out = node.Scalar();
  return true;
}

void YamlReader::Text(const std::string& key, std::string* out) {
  const YAML::Node node = Find(key);
  if (node.IsDefined()) Scalar(node, key, out);
}

bool YamlReader::Integer(const YAML::Node& node, const std::string& key, int64_t least,
                         int64_t most, int64_t* out) {
  std::string text;
  if (!Scalar(node, key, &text)) return false;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    FailAt(node.Mark().line, key + ": expected a whole number from " + std::to_string(least) +
                                 " to " + std::to_string(most) + ", not \"" + EscapeControl(text) +
                                 "\"");
    return false;
  }
  *out = value;
  return true;
}

void YamlReader::Number(const std::string& key, int64_t least, int64_t most, int64_t* out) {
  const YAML::Node node = Find(key);
  if (node.IsDefined()) Integer(node, key, least, most, out);
}

void YamlReader::Duration(const std::string& key, absl::Duration* out) {
  const YAML::Node node = Find(key);
  std::string text;
  if (!node.IsDefined() || !Scalar(node, key, &text)) return;
  const absl::StatusOr<absl::Duration> value = ParseDuration(text);
  if (value.ok()) {
    *out = *value;
  } else {
    FailAt(node.Mark().line, key + ": " + Message(value.status()));
  }
}

void YamlReader::Texts(const std::string& key, std::vector<std::string>* out) {
  const YAML::Node node = Find(key);
  if (!node.IsDefined()) return;
  if (!node.IsSequence()) {
    FailAt(node.Mark().line, key + ": expected a list of texts, such as [a, b]");
    return;
  }
  out->clear();
  for (const YAML::Node& item : node) {
    std::string text;
    if (!Scalar(item, key, &text)) return;
    out->push_back(std::move(text));
  }
}

void YamlReader::TextOrTexts(const std::string& key, std::vector<std::string>* out) {
  const YAML::Node node = Find(key);
  if (!node.IsDefined() || !node.IsScalar()) {
    Texts(key, out);
    return;
  }
  std::string text;
  if (Scalar(node, key, &text)) *out = {text};
}

void YamlReader::Numbers(const std::string& key, int64_t least, int64_t most, std::set<int>* out) {
  const YAML::Node node = Find(key);
  if (!node.IsDefined()) return;
  if (!node.IsSequence()) {
    FailAt(node.Mark().line, key + ": expected a list of numbers, such as [2, 75]");
    return;
  }
  for (const YAML::Node& item : node) {
    int64_t value = 0;
    if (!Integer(item, key, least, most, &value)) return;
    out->insert(static_cast<int>(value));
  }
}

void YamlReader::TextMap(const std::string& key, std::map<std::string, std::string>* out) {
  const YAML::Node node = Find(key);
  if (!node.IsDefined()) return;
  if (!node.IsMap()) {
    FailAt(node.Mark().line, key + ": expected a mapping, such as {a: b}");
    return;
  }
  for (const auto& entry : node) {
    std::string name;
    std::string value;
    if (!Scalar(entry.first, key, &name) || !Scalar(entry.second, key + "." + name, &value)) {
      return;
    }
    if (!out->emplace(name, value).second) {
      FailAt(entry.first.Mark().line, key + ": \"" + name + "\" is there twice");
    }
  }
}

std::optional<YAML::Node> YamlReader::Item(const std::string& key) {
  const YAML::Node node = Find(key);
  if (!node.IsDefined()) return std::nullopt;
  if (!node.IsMap()) {
    FailAt(node.Mark().line, key + ": expected a mapping, such as {a: b}");
    return std::nullopt;
  }
  return node;
}

std::vector<YAML::Node> YamlReader::Items(const std::string& key) {
  const YAML::Node node = Find(key);
  if (!node.IsDefined()) return {};
  if (!node.IsSequence()) {
    FailAt(node.Mark().line, key + ": expected a list");
    return {};
  }
  return {node.begin(), node.end()};
}

absl::Status YamlReader::Done() {
  if (!status_.ok()) return status_;
  for (const auto& entry : node_) {
    const std::string& key = entry.first.Scalar();
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    const std::string meant = Nearest(key, known_);
    FailAt(entry.first.Mark().line, "unknown key \"" + EscapeControl(key) + "\"" +
                                        (meant.empty() ? "" : "; did you mean \"" + meant + "\"?"));
  }
  // After the unknown keys: a misspelt one says more than that the right one is missing.
  if (!missing_.empty()) {
    FailAt(node_.Mark().line, "key \"" + missing_.front() + "\" is missing");
  }
  return status_;
}

}  // namespace tidemark
