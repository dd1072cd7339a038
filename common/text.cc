#include "common/text.h"

#include <algorithm>
#include <numeric>

namespace tidemark {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kCutMark = "…[cut]";

// Length of the valid UTF-8 sequence at the start of `s`, or 0 when there is none.
size_t SequenceLength(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const auto continuation = [&](size_t i) { return i < s.size() && (byte(i) & 0xC0) == 0x80; };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continuation(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!continuation(1) || !continuation(2)) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
    if (lead == 0xED && byte(1) > 0x9F) return 0;  // surrogate
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!continuation(1) || !continuation(2) || !continuation(3)) return 0;
    if (lead == 0xF0 && byte(1) < 0x90) return 0;
    if (lead == 0xF4 && byte(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

// U+0080 to U+009F: terminals take some for the start of an escape sequence, readers for a new
// line.
bool IsC1(std::string_view s) {
  return s.size() >= 2 && s[0] == '\xC2' && static_cast<unsigned char>(s[1]) >= 0x80 &&
         static_cast<unsigned char>(s[1]) <= 0x9F;
}

void AppendHex(unsigned char byte, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  out += "\\x";
  out += kHex[byte >> 4];
  out += kHex[byte & 0xF];
}

}  // namespace

std::string CleanText(std::string_view bytes, size_t limit) {
  if (bytes.size() <= limit &&
      std::all_of(bytes.begin(), bytes.end(), [](char c) { return c > 0; })) {
    return std::string(bytes);  // plain ASCII, as nearly everything is
  }
  std::string out;
  size_t cut_at = 0;  // the last boundary after which the mark still fits
  while (!bytes.empty()) {
    size_t length = SequenceLength(bytes);
    std::string_view piece = bytes.substr(0, length);
    if (length == 0 || bytes[0] == '\0') {
      piece = kReplacement;
      length = 1;
    }
    if (out.size() + piece.size() > limit) {
      out.resize(cut_at);
      return out.append(kCutMark);
    }
    out.append(piece);
    if (out.size() + kCutMark.size() <= limit) cut_at = out.size();
    bytes.remove_prefix(length);
  }
  return out;
}

bool IsCleanUtf8(std::string_view s) {
  while (!s.empty()) {
    const size_t length = SequenceLength(s);
    if (length == 0 || s[0] == '\0') return false;
    s.remove_prefix(length);
  }
  return true;
}

std::string EscapeControl(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (size_t i = 0; i < s.size(); ++i) {
    const auto byte = static_cast<unsigned char>(s[i]);
    if (s[i] == '\n') {
      out += "\\n";
    } else if (s[i] == '\r') {
      out += "\\r";
    } else if (s[i] != '\t' && (byte < 0x20 || byte == 0x7F)) {
      AppendHex(byte, out);
    } else if (IsC1(s.substr(i))) {
      AppendHex(byte, out);
      AppendHex(static_cast<unsigned char>(s[++i]), out);
    } else {
      out += s[i];
    }
  }
  return out;
}

std::string NameProblem(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > 64) return "is longer than 64 bytes";
  if (!IsCleanUtf8(name)) return "is not valid UTF-8";
  if (EscapeControl(name) != name || name.find('\t') != std::string_view::npos) {
    return "has a control character";
  }
  if (name.front() == ' ' || name.back() == ' ') return "begins or ends with a blank";
  return "";
}

std::string Join(const std::vector<std::string>& values, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out.append(separator);
    out.append(values[i]);
  }
  return out;
}

std::string Nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_distance = 3;
  for (const std::string& candidate : candidates) {
    std::vector<size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= candidate.size(); ++j) {
        const size_t above = row[j];
        const size_t change = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        row[j] = std::min({above + 1, row[j - 1] + 1, change});
        diagonal = above;
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace tidemark
