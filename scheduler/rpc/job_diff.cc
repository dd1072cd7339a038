// What differs between two job definitions, field by field.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "absl/strings/ascii.h"
#include "common/text.h"
#include "common/time_text.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "scheduler/rpc/job_codec.h"
#include "scheduler/rpc/proto_time.h"

namespace tidemark {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Flat = std::map<std::string, std::string>;

std::string MessageText(const Message& message) {
  if (const auto* d = dynamic_cast<const google::protobuf::Duration*>(&message)) {
    return DurationText(FromProto(*d));
  }
  if (const auto* t = dynamic_cast<const google::protobuf::Timestamp*>(&message)) {
    return FormatInstant(FromProto(*t));
  }
  if (const auto* d = dynamic_cast<const v1::Dependency*>(&message)) {
    return d->offset() == 0 ? d->job() : d->job() + " offset " + std::to_string(d->offset());
  }
  return message.ShortDebugString();
}

bool IsLeaf(const FieldDescriptor& field) {
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return true;
  const std::string& type = field.message_type()->full_name();
  return type == "google.protobuf.Duration" || type == "google.protobuf.Timestamp" ||
         type == "tidemark.v1.Dependency";
}

// The text of a singular field (index < 0) or of one element.
std::string ValueText(const Message& message, const FieldDescriptor& field, int index) {
  const auto* r = message.GetReflection();
  char buffer[32];
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return index < 0 ? r->GetString(message, &field)
                       : r->GetRepeatedString(message, &field, index);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageText(index < 0 ? r->GetMessage(message, &field)
                                   : r->GetRepeatedMessage(message, &field, index));
    case FieldDescriptor::CPPTYPE_BOOL:
      return r->GetBool(message, &field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(r->GetInt32(message, &field));
    case FieldDescriptor::CPPTYPE_UINT32:
      return std::to_string(r->GetUInt32(message, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      std::snprintf(buffer, sizeof buffer, "%.15g", r->GetDouble(message, &field));
      return buffer;
    case FieldDescriptor::CPPTYPE_ENUM:
      return absl::AsciiStrToLower(ToAbsl(r->GetEnum(message, &field)->name()));
    default:
      return "?";
  }
}

void FlattenField(const Message& message, const FieldDescriptor& field, const std::string& path,
                  Flat* out);

void Flatten(const Message& message, const std::string& prefix, Flat* out) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    FlattenField(message, *field, prefix + field->name(), out);
  }
}

void FlattenField(const Message& message, const FieldDescriptor& field, const std::string& path,
                  Flat* out) {
  const auto* reflection = message.GetReflection();
  if (field.is_map()) {
    for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
      const Message& entry = reflection->GetRepeatedMessage(message, &field, i);
      const auto* type = entry.GetDescriptor();
      (*out)[path + "." + ValueText(entry, *type->field(0), -1)] =
          ValueText(entry, *type->field(1), -1);
    }
    return;
  }
  if (field.is_repeated()) {
    std::vector<std::string> texts;
    for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
      texts.push_back(ValueText(message, field, i));
    }
    (*out)[path] = "[" + Join(texts, ", ") + "]";
    return;
  }
  if (IsLeaf(field)) {
    (*out)[path] = ValueText(message, field, -1);
  } else {
    Flatten(reflection->GetMessage(message, &field), path + ".", out);
  }
}

}  // namespace

std::vector<FieldDiff> DiffJobSpecs(const v1::JobSpec& before, const v1::JobSpec& after) {
  Flat old_fields;
  Flat new_fields;
  Flatten(before, "", &old_fields);
  Flatten(after, "", &new_fields);
  std::vector<FieldDiff> out;
  for (const auto& [path, text] : old_fields) {
    const auto found = new_fields.find(path);
    if (found == new_fields.end()) {
      out.push_back({path, text, ""});
    } else if (found->second != text) {
      out.push_back({path, text, found->second});
    }
  }
  for (const auto& [path, text] : new_fields) {
    if (old_fields.count(path) == 0) out.push_back({path, "", text});
  }
  std::sort(out.begin(), out.end(),
            [](const FieldDiff& a, const FieldDiff& b) { return a.path < b.path; });
  return out;
}

}  // namespace tidemark
