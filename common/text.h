// Text: the one converter between Abseil's string_view and std's, limits, escapes.
#ifndef TIDEMARK_COMMON_TEXT_H_
#define TIDEMARK_COMMON_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"

namespace tidemark {

// Debian 12's Abseil is built as C++14, so its string_view is a type of its own.
inline absl::string_view ToAbsl(std::string_view s) { return {s.data(), s.size()}; }
inline std::string ToStd(absl::string_view s) { return std::string(s.data(), s.size()); }

// Makes any bytes storable as text: invalid UTF-8 and NUL become U+FFFD, and what is longer than
// `limit` bytes is cut on a character boundary and ends in "…[cut]". The result has at most
// `limit` bytes (limit ≥ 16).
std::string CleanText(std::string_view bytes, size_t limit);

// True when `s` is valid UTF-8 without NUL.
bool IsCleanUtf8(std::string_view s);

// Escapes CR, LF, other control characters (C0 but TAB, DEL, C1) as \n, \r, \xNN a byte: for logs
// and terminals.
std::string EscapeControl(std::string_view s);

// Checks a name of a job, app, handler, executor…: 1–64 bytes of UTF-8 without control characters
// and without blanks at the ends. Returns what is wrong, or "" when nothing is.
std::string NameProblem(std::string_view name);

// `values` joined by `separator`.
std::string Join(const std::vector<std::string>& values, std::string_view separator);

// The candidate nearest to `word` (edit distance ≤ 2), or "" when none is near.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_TEXT_H_
