#include "scheduler/alerts/redact.h"

#include <algorithm>

namespace tidemark {
namespace {

// What is shorter would take words out of plain text.
constexpr size_t kLeast = 6;

}  // namespace

void Redactor::AddSecret(std::string_view secret) {
  if (secret.size() < kLeast) return;
  secrets_.emplace_back(secret);
  std::sort(secrets_.begin(), secrets_.end(),
            [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

void Redactor::AddUrl(std::string_view url) {
  const size_t scheme = url.find("//");
  if (scheme == std::string_view::npos) return;
  const size_t path = std::min(url.find_first_of("/?", scheme + 2), url.size());
  const std::string_view authority = url.substr(scheme + 2, path - scheme - 2);
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    AddSecret(authority.substr(0, at));
    AddSecret(authority.substr(std::min(authority.find(':'), at) + 1,
                               at - std::min(authority.find(':'), at) - 1));
  }
  const std::string_view rest = url.substr(path);
  AddSecret(rest);
  for (size_t begin = 0; begin < rest.size();) {
    const size_t end = std::min(rest.find_first_of("/?&=#", begin), rest.size());
    // Short words of paths, as "robot" or "webhook", are no secrets.
    if (end - begin >= 12) AddSecret(rest.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::string Redactor::Clean(std::string text) const {
  for (const std::string& secret : secrets_) {
    for (size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + 3)) {
      text.replace(at, secret.size(), "***");
    }
  }
  return text;
}

}  // namespace tidemark
