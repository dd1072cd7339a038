#include "common/safe_text.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "common/text.h"

namespace tidemark {
namespace {

// Beyond ASCII: C1 controls (U+009B begins an escape sequence), and what turns or hides text.
bool IsUnsafe(uint32_t c) {
  return (c >= 0x80 && c <= 0x9F) || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

}  // namespace

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

std::string ShellWord(const std::string& name) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 || c == '-' || c == '_' || c == '.' || c == '/' ||
           c == ':';
  };
  if (!name.empty() && name[0] != '-' && std::all_of(name.begin(), name.end(), is_plain)) {
    return name;
  }
  std::string quoted = "'";
  for (const char c : name) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace tidemark
