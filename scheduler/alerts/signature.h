// What messages are signed with.
#ifndef TIDEMARK_SCHEDULER_ALERTS_SIGNATURE_H_
#define TIDEMARK_SCHEDULER_ALERTS_SIGNATURE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark {

// 32 bytes.
std::string HmacSha256(std::string_view key, std::string_view data);
std::string Base64(std::string_view bytes);
std::string Hex(std::string_view bytes);  // lower case
// Every byte but letters, digits and -._~ as %XX.
std::string PercentEncode(std::string_view bytes);

// The query that a DingTalk robot with a secret wants after its URL: "timestamp=…&sign=…".
std::string DingTalkQuery(std::string_view secret, int64_t unix_millis);
// The `sign` of a Feishu robot with a secret.
std::string FeishuSign(std::string_view secret, int64_t unix_seconds);
// The value of the header Tidemark-Signature: "t=SECONDS,v1=HEX", HEX being the HMAC of
// "SECONDS.BODY".
std::string WebhookSignature(std::string_view secret, int64_t unix_seconds, std::string_view body);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_SIGNATURE_H_
