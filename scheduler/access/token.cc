#include "scheduler/access/token.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>

namespace tidemark {
namespace {

constexpr int kTokenBytes = 32;
constexpr int kTokenIdBytes = 6;

}  // namespace

std::string NewToken(Random& random) {
  return std::string(kTokenPrefix) + RandomHex(kTokenBytes, random);
}

std::string NewTokenId(Random& random) { return RandomHex(kTokenIdBytes, random); }

std::string TokenHash(std::string_view token) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

bool LooksLikeToken(std::string_view text) {
  if (text.substr(0, kTokenPrefix.size()) != kTokenPrefix) return false;
  const std::string_view digits = text.substr(kTokenPrefix.size());
  return digits.size() == size_t{2} * kTokenBytes &&
         std::all_of(digits.begin(), digits.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool EqualSecrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace tidemark
