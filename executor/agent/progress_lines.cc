#include "executor/agent/progress_lines.h"

#include <algorithm>
#include <charconv>

#include "common/text.h"

namespace tidemark::agent {
namespace {

constexpr size_t kMaxLine = 8192;
constexpr int kMaxComplaints = 10;

// Takes the first word off `*rest`.
std::string_view Word(std::string_view* rest) {
  const size_t begin = rest->find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    *rest = {};
    return {};
  }
  const size_t end = std::min(rest->find_first_of(" \t", begin), rest->size());
  const std::string_view word = rest->substr(begin, end - begin);
  rest->remove_prefix(end);
  return word;
}

template <typename T>
bool Parse(std::string_view text, T* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

void ProgressLines::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (partial_.size() + piece.size() > kMaxLine) too_long_ = true;
    if (!too_long_) partial_.append(piece);
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    End();
  }
}

void ProgressLines::End() {
  if (too_long_) {
    run_.Log("[progress line of more than 8 KiB ignored]");
  } else if (!partial_.empty()) {
    Line(partial_);
  }
  partial_.clear();
  too_long_ = false;
}

void ProgressLines::Line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty() || Result(line) || Progress(line)) return;
  if (++complaints_ > kMaxComplaints) return;
  run_.Log("[progress line not understood: " + EscapeControl(CleanText(line, 256)) +
           "; expected \"PERCENT [CHECKPOINT [MESSAGE]]\", \"result_rows=N result_digest=TEXT\" or "
           "\"result=TEXT\"]");
}

bool ProgressLines::Result(std::string_view line) {
  if (line.starts_with("result=")) {
    run_.SetResult(line.substr(7));
    return true;
  }
  if (!line.starts_with("result_rows=") && !line.starts_with("result_digest=")) return false;
  int64_t rows = rows_;
  std::string digest = digest_;
  for (std::string_view word = Word(&line); !word.empty(); word = Word(&line)) {
    if (word.starts_with("result_rows=") && Parse(word.substr(12), &rows) && rows >= 0) continue;
    if (!word.starts_with("result_digest=")) return false;
    digest = word.substr(14);
  }
  rows_ = rows;
  digest_ = digest;
  run_.SetFingerprint(rows_, digest_);
  return true;
}

bool ProgressLines::Progress(std::string_view line) {
  const std::string_view first = Word(&line);
  double percent = -1;
  if (first != "-") {
    const std::string_view number =
        first.ends_with('%') ? first.substr(0, first.size() - 1) : first;
    if (!Parse(number, &percent) || !(percent >= 0)) return false;
  }
  std::string_view checkpoint = Word(&line);
  if (checkpoint == "-") checkpoint = {};
  const size_t text = line.find_first_not_of(" \t");
  run_.Progress(percent, checkpoint,
                text == std::string_view::npos ? std::string_view() : line.substr(text));
  return true;
}

}  // namespace tidemark::agent
