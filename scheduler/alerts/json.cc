#include "scheduler/alerts/json.h"

#include <cstdio>

#include "common/text.h"

namespace tidemark {

std::string JsonString(std::string_view bytes) {
  // Room for each byte to become a replacement character: nothing is cut.
  const std::string text = CleanText(bytes, 3 * bytes.size() + 16);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

JsonObject& JsonObject::Raw(std::string_view key, std::string_view json) {
  if (!members_.empty()) members_ += ',';
  members_ += JsonString(key);
  members_ += ':';
  members_ += json;
  return *this;
}

JsonList& JsonList::Raw(std::string_view json) {
  if (!items_.empty()) items_ += ',';
  items_ += json;
  return *this;
}

}  // namespace tidemark
