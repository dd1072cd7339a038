#include "common/secret.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

#include "common/text.h"

namespace tidemark {
namespace {

constexpr size_t kLeastBytes = 16;

// What installations begin with and attackers try first. Compared without case and punctuation, and
// found at the beginning too, so that "Change-Me-Change-Me" is one.
constexpr std::array<std::string_view, 10> kKnown = {
    "changeme", "defaulttoken", "default",  "password", "passw0rd",
    "secret",   "12345678",     "tidemark", "xxxxxxxx", "admin"};

std::string Letters(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

// Whether the letters are one of the known words, once or again and again, or with a number behind.
bool Known(const std::string& letters) {
  return std::any_of(kKnown.begin(), kKnown.end(), [&](std::string_view word) {
    std::string_view rest = letters;
    while (rest.substr(0, word.size()) == word) rest.remove_prefix(word.size());
    return rest.size() < letters.size() &&
           std::all_of(rest.begin(), rest.end(), [](char c) { return c >= '0' && c <= '9'; });
  });
}

}  // namespace

std::string SecretProblem(std::string_view secret) {
  if (secret.empty()) return "is empty";
  if (Known(Letters(secret))) return "is a word that everybody knows";
  if (secret.size() < kLeastBytes) return "is shorter than 16 bytes";
  if (std::all_of(secret.begin(), secret.end(), [&](char c) { return c == secret.front(); })) {
    return "is one character again and again";
  }
  return "";
}

absl::StatusOr<std::string> ReadSecretFile(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) {
    return absl::InvalidArgumentError(
        ToAbsl("cannot read the secret in " + path +
               ": the file is missing, empty or not readable for this user"));
  }
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!line.empty() && blank(line.back())) line.pop_back();
  line.erase(line.begin(), std::find_if_not(line.begin(), line.end(), blank));
  if (const std::string problem = SecretProblem(line); !problem.empty()) {
    return absl::InvalidArgumentError(
        ToAbsl("the secret in " + path + " " + problem +
               "; write a random one there: head -c 32 /dev/urandom | base64 >" + path));
  }
  return line;
}

}  // namespace tidemark
