#include "scheduler/store/array.h"

#include <utility>

namespace tidemark {

namespace {

// Whether the element may stand in the literal as it is: numbers, times, ids and most names.
bool Plain(const std::string& element) {
  if (element.empty() || element.size() > 64) return false;
  bool digit = false;  // a word alone could be NULL
  for (const char c : element) {
    digit = digit || (c >= '0' && c <= '9');
    const bool fine = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '-' || c == ':' || c == '.' || c == '+' || c == '_';
    if (!fine) return false;
  }
  return digit || element.size() != 4;
}

}  // namespace

void SqlArray::Add(const SqlParam& element) {
  if (text_.size() > 1) text_ += ',';
  if (!element.has_value()) {
    text_ += "NULL";
    return;
  }
  if (Plain(*element)) {
    text_ += *element;
    return;
  }
  text_ += '"';
  for (const char c : *element) {
    if (c == '"' || c == '\\') text_ += '\\';
    text_ += c;
  }
  text_ += '"';
}

std::string SqlArray::Take() && {
  text_ += '}';
  return std::move(text_);
}

std::string ToArray(const std::vector<std::string>& elements) {
  SqlArray array;
  for (const std::string& element : elements) array.Add(element);
  return std::move(array).Take();
}

}  // namespace tidemark
