// Writing JSON.
#ifndef TIDEMARK_SCHEDULER_ALERTS_JSON_H_
#define TIDEMARK_SCHEDULER_ALERTS_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark {

// Any bytes as a JSON string, quotes included: what is no UTF-8 becomes U+FFFD, and the result has
// no control characters.
std::string JsonString(std::string_view bytes);

// Builds an object or a list, its members in the order in which they are added. A value.
class JsonObject {
 public:
  JsonObject& Text(std::string_view key, std::string_view value) {
    return Raw(key, JsonString(value));
  }
  JsonObject& Number(std::string_view key, int64_t value) {
    return Raw(key, std::to_string(value));
  }
  // `json` must be valid.
  JsonObject& Raw(std::string_view key, std::string_view json);
  std::string Take() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

class JsonList {
 public:
  JsonList& Raw(std::string_view json);
  std::string Take() const { return "[" + items_ + "]"; }

 private:
  std::string items_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_JSON_H_
