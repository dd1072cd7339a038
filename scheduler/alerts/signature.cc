#include "scheduler/alerts/signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "absl/strings/escaping.h"
#include "common/text.h"

namespace tidemark {

std::string HmacSha256(std::string_view key, std::string_view data) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(data.data()), data.size(), digest, &size);
  return {reinterpret_cast<const char*>(digest), size};
}

std::string Base64(std::string_view bytes) { return absl::Base64Escape(ToAbsl(bytes)); }

std::string Hex(std::string_view bytes) { return absl::BytesToHexString(ToAbsl(bytes)); }

std::string PercentEncode(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : bytes) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kDigits[static_cast<unsigned char>(c) >> 4];
      out += kDigits[static_cast<unsigned char>(c) & 15];
    }
  }
  return out;
}

std::string DingTalkQuery(std::string_view secret, int64_t unix_millis) {
  const std::string time = std::to_string(unix_millis);
  const std::string text = time + "\n" + std::string(secret);
  return "timestamp=" + time + "&sign=" + PercentEncode(Base64(HmacSha256(secret, text)));
}

std::string FeishuSign(std::string_view secret, int64_t unix_seconds) {
  // Feishu's way: the text is the key, and nothing is signed.
  return Base64(HmacSha256(std::to_string(unix_seconds) + "\n" + std::string(secret), ""));
}

std::string WebhookSignature(std::string_view secret, int64_t unix_seconds, std::string_view body) {
  const std::string time = std::to_string(unix_seconds);
  return "t=" + time + ",v1=" + Hex(HmacSha256(secret, time + "." + std::string(body)));
}

}  // namespace tidemark
