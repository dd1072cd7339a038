#include "scheduler/store/array.h"

#include <utility>

namespace tidemark {

void SqlArray::Add(const SqlParam& element) {
  if (text_.size() > 1) text_ += ',';
  if (!element.has_value()) {
    text_ += "NULL";
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
