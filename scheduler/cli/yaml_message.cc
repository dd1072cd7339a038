#include "scheduler/cli/yaml_message.h"

#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "common/text.h"
#include "common/time_text.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

namespace tidemark {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr size_t kMaxShown = 20;

std::string Shown(const std::string& text) {
  const std::string clean = EscapeControl(CleanText(text, 60));
  return "'" + clean + "'";
}

// Reads the value of one field, or one element of it.
class FieldReader {
 public:
  FieldReader(const FieldDescriptor& field, const std::string& path, Message* message,
              YamlProblems* problems)
      : field_(field), path_(path), message_(*message), problems_(*problems) {}

  void Read(const YAML::Node& node) {
    if (node.IsNull()) {
      problems_.Add(node, path_, "has no value; give one or leave the key out");
    } else if (field_.is_map()) {
      ReadMap(node);
    } else if (field_.is_repeated()) {
      ReadList(node);
    } else {
      ReadValue(node);
    }
  }

 private:
  const google::protobuf::Reflection& reflection() const { return *message_.GetReflection(); }

  void Wrong(const YAML::Node& node, const std::string& expected) {
    problems_.Add(node, path_, "expected " + expected + ", found " + YamlKind(node));
  }

  void ReadMap(const YAML::Node& node) {
    if (!node.IsMap()) return Wrong(node, "a map of names and texts");
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      const std::string path = path_ + "." + EscapeControl(key);
      if (!seen.insert(key).second) {
        problems_.Add(entry.first, path, "is given twice");
      } else if (!entry.first.IsScalar() || !entry.second.IsScalar()) {
        problems_.Add(entry.second, path,
                      "expected text, found " +
                          YamlKind(entry.first.IsScalar() ? entry.second : entry.first));
      } else {
        Message* out = reflection().AddMessage(&message_, &field_);
        const auto* type = out->GetDescriptor();
        out->GetReflection()->SetString(out, type->field(0), key);
        out->GetReflection()->SetString(out, type->field(1), entry.second.Scalar());
      }
    }
  }

  void ReadList(const YAML::Node& node) {
    if (!node.IsSequence()) return Wrong(node, "a list");
    for (const auto& element : node) {
      if (element.IsNull()) {
        problems_.Add(element, path_, "has an empty element");
      } else {
        ReadValue(element);
      }
    }
  }

  void ReadValue(const YAML::Node& node) {
    if (field_.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) return ReadMessage(node);
    if (!node.IsScalar()) return Wrong(node, Expected());
    const std::string& text = node.Scalar();
    switch (field_.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        if (field_.is_repeated()) {
          reflection().AddString(&message_, &field_, text);
        } else {
          reflection().SetString(&message_, &field_, text);
        }
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        ReadBool(node, text);
        break;
      case FieldDescriptor::CPPTYPE_INT32:
      case FieldDescriptor::CPPTYPE_UINT32:
        ReadInteger(node, text);
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        ReadDouble(node, text);
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        ReadEnum(node, text);
        break;
      default:
        problems_.Add(node, path_, "cannot be set in a file");
    }
  }

  std::string Expected() const {
    switch (field_.cpp_type()) {
      case FieldDescriptor::CPPTYPE_BOOL:
        return "true or false";
      case FieldDescriptor::CPPTYPE_INT32:
      case FieldDescriptor::CPPTYPE_UINT32:
        return "a whole number";
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return "a number";
      default:
        return "text";
    }
  }

  void ReadBool(const YAML::Node& node, const std::string& text) {
    // YAML 1.1's yes, no, on, off are what people write by mistake.
    if (text != "true" && text != "false") {
      problems_.Add(node, path_, "expected true or false, found " + Shown(text));
      return;
    }
    reflection().SetBool(&message_, &field_, text == "true");
  }

  void ReadInteger(const YAML::Node& node, const std::string& text) {
    int64_t value = 0;
    if (!absl::SimpleAtoi(text, &value)) {
      problems_.Add(node, path_, "expected a whole number, found " + Shown(text));
      return;
    }
    const bool is_signed = field_.cpp_type() == FieldDescriptor::CPPTYPE_INT32;
    const int64_t low = is_signed ? std::numeric_limits<int32_t>::min() : 0;
    if (value < low || value > std::numeric_limits<int32_t>::max()) {
      problems_.Add(node, path_, text + " is out of range");
    } else if (is_signed) {
      reflection().SetInt32(&message_, &field_, static_cast<int32_t>(value));
    } else {
      reflection().SetUInt32(&message_, &field_, static_cast<uint32_t>(value));
    }
  }

  void ReadDouble(const YAML::Node& node, const std::string& text) {
    double value = 0;
    if (!absl::SimpleAtod(text, &value) || !std::isfinite(value)) {
      problems_.Add(node, path_, "expected a number, found " + Shown(text));
      return;
    }
    reflection().SetDouble(&message_, &field_, value);
  }

  void ReadEnum(const YAML::Node& node, const std::string& text) {
    std::vector<std::string> words;
    for (int i = 0; i < field_.enum_type()->value_count(); ++i) {
      const auto* value = field_.enum_type()->value(i);
      const std::string word = absl::AsciiStrToLower(value->name());
      if (value->number() == 0) continue;  // "not said": said by leaving the key out
      if (word == text) return reflection().SetEnum(&message_, &field_, value);
      words.push_back(word);
    }
    problems_.Add(node, path_, "expected " + Join(words, " or ") + ", found " + Shown(text));
  }

  void ReadMessage(const YAML::Node& node) {
    const std::string& type = field_.message_type()->full_name();
    if (type == "google.protobuf.Duration") return ReadDuration(node);
    if (type == "google.protobuf.Timestamp") return ReadInstant(node);
    if (!node.IsMap()) return Wrong(node, "a map");
    ReadYamlMessage(node, path_, Target(), &problems_);
  }

  void ReadDuration(const YAML::Node& node) {
    if (!node.IsScalar()) return Wrong(node, "a duration as 90s, 5m or 1h30m");
    const absl::StatusOr<absl::Duration> value = ParseDuration(node.Scalar());
    if (!value.ok()) return problems_.Add(node, path_, ToStd(value.status().message()));
    absl::Duration rest;
    auto* out = static_cast<google::protobuf::Duration*>(Target());
    out->set_seconds(absl::IDivDuration(*value, absl::Seconds(1), &rest));
    out->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
  }

  void ReadInstant(const YAML::Node& node) {
    if (!node.IsScalar()) return Wrong(node, "a time as 2026-12-01T03:00:00+08:00");
    const absl::StatusOr<absl::Time> value = ParseInstant(node.Scalar());
    if (!value.ok()) return problems_.Add(node, path_, ToStd(value.status().message()));
    const int64_t seconds = absl::ToUnixSeconds(*value);
    auto* out = static_cast<google::protobuf::Timestamp*>(Target());
    out->set_seconds(seconds);
    out->set_nanos(
        static_cast<int32_t>(absl::ToInt64Nanoseconds(*value - absl::FromUnixSeconds(seconds))));
  }

  Message* Target() {
    return field_.is_repeated() ? reflection().AddMessage(&message_, &field_)
                                : reflection().MutableMessage(&message_, &field_);
  }

  const FieldDescriptor& field_;
  const std::string& path_;
  Message& message_;
  YamlProblems& problems_;
};

std::string UnknownKey(const google::protobuf::Descriptor& type, const std::string& key) {
  std::vector<std::string> known;
  for (int i = 0; i < type.field_count(); ++i) known.push_back(type.field(i)->name());
  const std::string near = Nearest(key, known);
  return near.empty() ? "unknown key; known are " + Join(known, ", ")
                      : "unknown key; did you mean '" + near + "'?";
}

}  // namespace

void YamlProblems::Add(const YAML::Node& node, const std::string& path, const std::string& text) {
  Add(node.Mark().is_null() ? 0 : node.Mark().line + 1, path, text);
}

void YamlProblems::Add(int line, const std::string& path, const std::string& text) {
  std::string where = file_;
  if (line > 0) where += ":" + std::to_string(line);
  lines_.push_back(where + ": " + (path.empty() ? "" : path + ": ") + text);
}

std::string YamlProblems::Text() const {
  if (lines_.size() <= kMaxShown) return Join(lines_, "\n");
  return Join(std::vector<std::string>(lines_.begin(), lines_.begin() + kMaxShown), "\n") +
         "\nand " + std::to_string(lines_.size() - kMaxShown) + " more";
}

std::string YamlKind(const YAML::Node& node) {
  if (node.IsMap()) return "a map";
  if (node.IsSequence()) return "a list";
  if (node.IsScalar()) return "text";
  return "nothing";
}

void ReadYamlMessage(const YAML::Node& node, const std::string& path,
                     google::protobuf::Message* message, YamlProblems* problems) {
  const google::protobuf::Descriptor& type = *message->GetDescriptor();
  std::set<std::string> seen;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) {
      problems->Add(entry.first, path, "a key must be a word, found " + YamlKind(entry.first));
      continue;
    }
    const std::string& key = entry.first.Scalar();
    const std::string field_path = (path.empty() ? "" : path + ".") + EscapeControl(key);
    const FieldDescriptor* field = type.FindFieldByName(key);
    if (field == nullptr) {
      problems->Add(entry.first, field_path, UnknownKey(type, key));
    } else if (!seen.insert(key).second) {
      problems->Add(entry.first, field_path, "is given twice");
    } else {
      FieldReader(*field, field_path, message, problems).Read(entry.second);
    }
  }
}

}  // namespace tidemark
