#include "scheduler/store/input_batch.h"

#include <cassert>
#include <utility>

#include "common/text.h"
#include "scheduler/store/batch.h"

namespace tidemark {
namespace {

void AppendElement(std::string* text, const std::optional<std::string>& element) {
  if (!text->empty()) *text += ',';
  *text += element.has_value() ? *element : "NULL";
}

// What an element of an array's literal stands for.
std::string Unquoted(std::string_view element) {
  if (element.empty() || element.front() != '"') return std::string(element);
  std::string text;
  text.reserve(element.size());
  for (size_t i = 1; i + 1 < element.size(); ++i) {
    if (element[i] == '\\') ++i;
    text += element[i];
  }
  return text;
}

void Append(std::string* list, std::string_view separator, std::string_view text) {
  if (!list->empty()) *list += separator;
  *list += text;
}

}  // namespace

InputBatch::InputBatch(const std::vector<InputColumn>& columns)
    : names_(columns), columns_(columns.size()) {}

void InputBatch::Spread(Column& column) const {
  column.uniform = false;
  const size_t width = column.first.has_value() ? column.first->size() : 4;
  column.text.reserve((rows_ + 64) * (width + 1));
  for (size_t i = 0; i < rows_; ++i) AppendElement(&column.text, column.first);
}

InputBatch& InputBatch::Add(const std::string_view* element) {
  Column& column = columns_[next_];
  const bool same = rows_ > 0 && column.uniform &&
                    (element == nullptr ? !column.first.has_value()
                                        : column.first.has_value() && *column.first == *element);
  if (rows_ == 0) {
    if (element != nullptr) column.first.emplace(*element);
  } else if (!same) {
    if (column.uniform) Spread(column);
    column.text += ',';
    column.text += element == nullptr ? std::string_view("NULL") : *element;
  }
  if (++next_ == columns_.size()) {
    next_ = 0;
    ++rows_;
  }
  return *this;
}

InputBatch& InputBatch::Clean(std::string_view text, size_t limit) {
  std::string clean;
  if (text.size() > limit || !IsCleanUtf8(text)) {
    clean = CleanText(text, limit);
    text = clean;
  }
  scratch_.assign(1, '"');
  for (size_t at = 0; at < text.size();) {
    size_t special = text.find_first_of("\"\\", at);
    if (special == std::string_view::npos) special = text.size();
    scratch_.append(text.substr(at, special - at));
    at = special;
    if (at == text.size()) break;
    scratch_ += '\\';
    scratch_ += text[at++];
  }
  scratch_ += '"';
  const std::string_view element = scratch_;
  return Add(&element);
}

InputBatch& InputBatch::Exact(std::string_view text) { return Clean(text, kNeverCut); }
InputBatch& InputBatch::Word(std::string_view text) { return Clean(text, kWordLimit); }
InputBatch& InputBatch::Message(std::string_view text) { return Clean(text, kMessageLimit); }
InputBatch& InputBatch::Body(std::string_view text) { return Clean(text, kBodyLimit); }

InputBatch& InputBatch::OrNull(std::string_view text) {
  return text.empty() ? Null() : Exact(text);
}

InputBatch& InputBatch::Put(std::string_view plain) { return Add(&plain); }

InputBatch& InputBatch::Put(int64_t value) { return Put(std::string_view(*ToParam(value))); }
InputBatch& InputBatch::Put(double value) { return Put(std::string_view(*ToParam(value))); }
InputBatch& InputBatch::Put(absl::Time time) { return Put(std::string_view(*ToParam(time))); }
InputBatch& InputBatch::Put(absl::CivilSecond c) { return Put(std::string_view(*ToParam(c))); }
InputBatch& InputBatch::Put(absl::CivilDay day) { return Put(std::string_view(*ToParam(day))); }

std::string InputBatch::Take(std::string_view name, std::vector<SqlParam>* params) && {
  assert(next_ == 0 && rows_ > 0);
  if (rows_ > 1 && columns_.front().uniform) Spread(columns_.front());
  std::string select;
  std::string arrays;
  std::string varying;
  for (size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    const std::string as = names_[i].name;
    if (column.uniform && names_[i].key && rows_ > 1) Spread(column);
    std::string param = "$" + std::to_string(params->size() + 1) + "::" + names_[i].type;
    if (column.uniform) {
      params->push_back(column.first.has_value() ? SqlParam(Unquoted(*column.first)) : SqlParam());
      Append(&select, ", ", param + " AS " + as);
      continue;
    }
    params->emplace_back("{" + std::move(column.text) + "}");
    Append(&select, ", ", "i." + as);
    Append(&arrays, ", ", param + "[]");
    Append(&varying, ", ", as);
  }
  std::string text = std::string(name) + " AS NOT MATERIALIZED (SELECT " + select + " FROM go";
  if (!arrays.empty()) text += ", unnest(" + arrays + ") AS i (" + varying + ")";
  return text + ")";
}

}  // namespace tidemark
