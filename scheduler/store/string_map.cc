#include "scheduler/store/string_map.h"

#include <cstdint>
#include <cstdio>
#include <optional>

namespace tidemark {
namespace {

void AppendString(const std::string& text, std::string& out) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char escape[8];
          std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned char>(c));
          out += escape;
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void AppendUtf8(uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// A reader of one flat object; every method returns nullopt or false on a syntax error.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool Take(char c) {
    Blanks();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool AtEnd() {
    Blanks();
    return text_.empty();
  }

  std::optional<std::string> String() {
    if (!Take('"')) return std::nullopt;
    std::string out;
    while (!text_.empty()) {
      const char c = Next();
      if (c == '"') return out;
      if (c != '\\') {
        out += c;
      } else if (!Escape(out)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> Scalar() {
    Blanks();
    if (!text_.empty() && text_.front() == '"') return String();
    const size_t end = text_.find_first_of(",} \t\r\n");
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    const std::string word(text_.substr(0, end));
    if (word.find_first_of("{[\":") != std::string::npos) return std::nullopt;
    text_.remove_prefix(end);
    return word == "null" ? std::string() : word;
  }

 private:
  void Blanks() {
    const size_t begin = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(begin == std::string_view::npos ? text_.size() : begin);
  }
  char Next() {
    const char c = text_.front();
    text_.remove_prefix(1);
    return c;
  }
  std::optional<uint32_t> Hex4() {
    if (text_.size() < 4) return std::nullopt;
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = Next();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return std::nullopt;
      code = code * 16 + static_cast<uint32_t>(digit);
    }
    return code;
  }
  bool Unicode(std::string& out) {
    std::optional<uint32_t> code = Hex4();
    if (!code.has_value()) return false;
    if (*code >= 0xD800 && *code < 0xDC00) {
      if (text_.substr(0, 2) != "\\u") return false;
      text_.remove_prefix(2);
      const std::optional<uint32_t> low = Hex4();
      if (!low.has_value() || *low < 0xDC00 || *low > 0xDFFF) return false;
      code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
    }
    AppendUtf8(*code, out);
    return true;
  }
  bool Escape(std::string& out) {
    if (text_.empty()) return false;
    const char c = Next();
    constexpr std::string_view kFrom = "\"\\/bfnrt";
    constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
    if (c == 'u') return Unicode(out);
    const size_t at = kFrom.find(c);
    if (at == std::string_view::npos) return false;
    out += kTo[at];
    return true;
  }

  std::string_view text_;
};

}  // namespace

std::string EncodeStringMap(const std::map<std::string, std::string>& values) {
  std::string out = "{";
  for (const auto& [key, value] : values) {
    if (out.size() > 1) out += ',';
    AppendString(key, out);
    out += ':';
    AppendString(value, out);
  }
  return out + "}";
}

absl::StatusOr<std::map<std::string, std::string>> DecodeStringMap(std::string_view json) {
  const absl::Status bad = absl::InvalidArgumentError("not a flat JSON object");
  std::map<std::string, std::string> values;
  Reader reader(json);
  if (!reader.Take('{')) return bad;
  if (reader.Take('}')) {
    if (!reader.AtEnd()) return bad;
    return values;
  }
  do {
    const std::optional<std::string> key = reader.String();
    if (!key.has_value() || !reader.Take(':')) return bad;
    std::optional<std::string> value = reader.Scalar();
    if (!value.has_value()) return bad;
    values[*key] = *std::move(value);
  } while (reader.Take(','));
  if (!reader.Take('}') || !reader.AtEnd()) return bad;
  return values;
}

}  // namespace tidemark
