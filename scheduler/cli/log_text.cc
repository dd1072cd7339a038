#include "scheduler/cli/log_text.h"

#include <algorithm>
#include <utility>

#include "scheduler/cli/table.h"

namespace tidemark {
namespace {

// How many bytes at the end of `text` begin a character that goes on behind it.
size_t TornBytes(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

std::string Safe(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\n\t"), text.size());
    out += SafeText(std::string(text.substr(0, end)));
    if (end < text.size()) out += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

std::string LogText::Feed(std::string_view bytes) {
  std::string text = std::exchange(torn_, {});
  text += bytes;
  const size_t whole = text.size() - TornBytes(text);
  torn_ = text.substr(whole);
  return Safe(std::string_view(text).substr(0, whole));
}

std::string LogText::End() { return Safe(std::exchange(torn_, {})); }

}  // namespace tidemark
