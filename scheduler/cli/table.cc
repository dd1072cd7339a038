#include "scheduler/cli/table.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <utility>

#include "common/text.h"
#include "common/time_text.h"

namespace tidemark {
namespace {

// Decodes the character at `i` of valid UTF-8 and moves past it.
uint32_t TakeCharacter(const std::string& text, size_t* i) {
  const auto byte = static_cast<unsigned char>(text[*i]);
  const int length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
  uint32_t value = length == 1 ? byte : byte & (0xFF >> (length + 1));
  for (int k = 1; k < length && *i + k < text.size(); ++k) {
    value = (value << 6) | (static_cast<unsigned char>(text[*i + k]) & 0x3F);
  }
  *i = std::min(text.size(), *i + length);
  return value;
}

// Beyond ASCII: C1 controls (U+009B begins an escape sequence), and what turns or hides text.
bool IsUnsafe(uint32_t c) {
  return (c >= 0x80 && c <= 0x9F) || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

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

std::string SafeText(const std::string& text) {
  // Room for each byte to become a replacement character: nothing is cut.
  const std::string clean = EscapeControl(CleanText(text, 3 * text.size() + 16));
  std::string safe;
  for (size_t i = 0; i < clean.size();) {
    const size_t begin = i;
    const uint32_t c = TakeCharacter(clean, &i);
    if (c == '\t') {
      safe += ' ';
    } else if (IsUnsafe(c)) {
      char escape[16];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      safe += escape;
    } else {
      safe.append(clean, begin, i - begin);
    }
  }
  return safe;
}

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
