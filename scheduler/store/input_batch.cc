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

}  // namespace

InputBatch::InputBatch(const std::vector<InputColumn>& columns) : columns_(columns.size()) {
  for (size_t i = 0; i < columns.size(); ++i) columns_[i].nullable = columns[i].nullable;
}

void InputBatch::Spread(Column& column) const {
  column.uniform = false;
  const size_t width = column.first.has_value() ? column.first->size() : 4;
  column.text.reserve((rows_ + 64) * (width + 1));
  for (size_t i = 0; i < rows_; ++i) AppendElement(&column.text, column.first);
}

InputBatch& InputBatch::Add(const std::string_view* element) {
  Column& column = columns_[next_];
  assert(element != nullptr || column.nullable);
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

void InputBatch::Take(std::vector<SqlParam>* params) && {
  assert(next_ == 0 && rows_ > 0);
  for (Column& column : columns_) {
    if (column.uniform && column.nullable && rows_ > 1 && column.first.has_value()) Spread(column);
    std::string text = "{";
    if (!column.uniform) {
      text += column.text;
    } else if (column.first.has_value()) {
      text += *column.first;
    } else if (rows_ == 1) {
      text += "NULL";
    }
    params->emplace_back(std::move(text += '}'));
  }
}

std::string InputText(std::string_view name, const std::vector<InputColumn>& columns,
                      size_t first) {
  std::string select;
  std::string arrays;
  std::string names;
  size_t number = first;
  for (const InputColumn& column : columns) {
    const std::string array = "$" + std::to_string(number++) + "::" + column.type + "[]";
    if (!select.empty()) {
      select += ", ";
      arrays += ", ";
      names += ", ";
    }
    const std::string value = "i." + std::string(column.name);
    select +=
        column.nullable ? value : "COALESCE(" + value + ", (" + array + ")[1]) AS " + column.name;
    arrays += array;
    names += column.name;
  }
  return std::string(name) + " AS MATERIALIZED (SELECT " + select + " FROM go, unnest(" + arrays +
         ") AS i (" + names + "))";
}

}  // namespace tidemark
