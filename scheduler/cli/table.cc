#include "scheduler/cli/table.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "common/safe_text.h"
#include "common/time_text.h"

namespace tidemark {
namespace {

size_t CharacterWidth(uint32_t c) {
  if ((c >= 0x300 && c <= 0x36F) || (c >= 0x200B && c <= 0x200F) || c == 0xFEFF) return 0;
  const bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) ||
                    (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
                    (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
                    (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1FAFF) ||
                    (c >= 0x20000 && c <= 0x3FFFD);
  return wide ? 2 : 1;
}

}  // namespace

size_t DisplayWidth(const std::string& text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size();) width += CharacterWidth(TakeCharacter(text, &i));
  return width;
}

std::string Shorten(const std::string& text, size_t width) {
  if (DisplayWidth(text) <= width) return text;
  size_t used = 0;
  size_t end = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t next = CharacterWidth(TakeCharacter(text, &i));
    if (used + next + 1 > width) break;
    used += next;
    end = i;
  }
  return text.substr(0, end) + "…";
}

std::string TimeText(const google::protobuf::Timestamp& time) {
  return FormatInstant(absl::FromUnixSeconds(time.seconds()));
}

Table::Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

void Table::Add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = SafeText(cell);
  rows_.push_back(std::move(row));
}

void Table::Print(std::ostream& out) const {
  std::vector<size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size() && c < widths.size(); ++c) {
      widths[c] = std::max(widths[c], DisplayWidth(row[c]));
    }
  }
  for (const auto& row : rows_) {
    std::string line;
    for (size_t c = 0; c < row.size() && c < widths.size(); ++c) {
      if (c > 0) line += "  ";
      line += row[c] + std::string(widths[c] - DisplayWidth(row[c]), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << "\n";
  }
}

void Card::Add(const std::string& name, const std::string& value) {
  if (!value.empty()) lines_.emplace_back(name, SafeText(value));
}

void Card::Print(std::ostream& out) const {
  size_t width = 0;
  for (const auto& [name, value] : lines_) width = std::max(width, name.size());
  for (const auto& [name, value] : lines_) {
    out << name << ":" << std::string(width - name.size() + 1, ' ') << value << "\n";
  }
}

}  // namespace tidemark
