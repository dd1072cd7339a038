#include "scheduler/alerts/signature.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

// RFC 4231, test cases 2 and 3.
TEST(SignatureTest, HmacSha256IsThatOfTheStandard) {
  EXPECT_EQ(Hex(HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(Hex(HmacSha256(std::string(20, '\xaa'), std::string(50, '\xdd'))),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
}

// RFC 4648, section 10.
TEST(SignatureTest, Base64IsThatOfTheStandard) {
  EXPECT_EQ(Base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(Base64("\xfb\xff"), "+/8=");
  EXPECT_EQ(PercentEncode("+/8= ~-._aZ0"), "%2B%2F8%3D%20~-._aZ0");
}

// The next three were computed by Python's hmac from the words of each vendor's page: DingTalk
// signs "timestamp\nsecret" with the secret, Feishu signs nothing with "timestamp\nsecret".
TEST(SignatureTest, DingTalk) {
  EXPECT_EQ(DingTalkQuery("SEC0123456789abcdef", 1577262236757),
            "timestamp=1577262236757&sign=Pgr6tpIpjVrMPPJUPkaI9sivFPPTYOy5zIOMF2GPFMA%3D");
}

TEST(SignatureTest, Feishu) {
  EXPECT_EQ(FeishuSign("demo", 1599360473), "l1N0gAcBjdwBvGm1xMjOF0XSyaLRpR7tuO5dHfhAYc8=");
}

TEST(SignatureTest, Webhook) {
  EXPECT_EQ(WebhookSignature("whsec", 1732838400, "{\"a\":1}"),
            "t=1732838400,v1=681e6e818fe0401ef7c6d3648fc9921fc519adb47eff3b0095ff2429c8038956");
}

}  // namespace
}  // namespace tidemark
