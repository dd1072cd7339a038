// The door: how often somebody may come through it, and that asking whether one may costs nothing.
#include "scheduler/access/access_gate.h"

#include <string>

#include "common/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

constexpr char kMethod[] = "OperatorService/ListJobs";
constexpr int kPerSecond = 5;
constexpr int kBurst = 2 * kPerSecond;
const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

class AccessGateTest : public testing::Test {
 protected:
  // Returns the Authorization header of a new token.
  std::string Token(const std::string& id, Role role) {
    const std::string secret = NewToken(random_);
    TokenRecord record;
    record.token_id = id;
    record.hash = TokenHash(secret);
    record.name = id;
    record.role = role;
    record.app = role == Role::kExecutor ? "recon" : "";
    record.ns = role == Role::kExecutor ? "default" : "";
    record.expires_at = kNow + absl::Hours(1);
    records_.push_back(record);
    authenticator_.Load(records_, kNow);
    return "Bearer " + secret;
  }
  int Admitted(const std::string& authorization, const std::string& peer, int tries,
               const std::string& method = kMethod) {
    return AdmittedBy(gate_, authorization, peer, tries, method);
  }
  static int AdmittedBy(const AccessGate& gate, const std::string& authorization,
                        const std::string& peer, int tries, const std::string& method = kMethod) {
    int admitted = 0;
    for (int i = 0; i < tries; ++i) {
      const auto got = gate.Admit(method, authorization, peer);
      if (got.ok()) {
        ++admitted;
      } else {
        EXPECT_EQ(got.status().code(), absl::StatusCode::kResourceExhausted);
        EXPECT_THAT(Message(got.status()), testing::HasSubstr("requests-per-second"));
      }
    }
    return admitted;
  }

  ManualClock clock_{kNow};
  SeededRandom random_{1};
  std::vector<TokenRecord> records_;
  Authenticator authenticator_{/*insecure=*/false, clock_};
  int refused_ = 0;
  RateLimiter limiter_{kPerSecond, clock_, RateLimiter::kMostKeys, [this] { ++refused_; }};
  AccessGate gate_{authenticator_, &limiter_};
};

TEST_F(AccessGateTest, ATokenHasItsRateWhereverItIsUsedFrom) {
  const std::string ann = Token("ann", Role::kOperator);
  const std::string bob = Token("bob", Role::kViewer);
  EXPECT_EQ(Admitted(ann, "ipv4:10.0.0.1:1", 6), 6);
  EXPECT_EQ(Admitted(ann, "ipv4:10.0.0.2:1", 10), kBurst - 6);
  EXPECT_EQ(refused_, 6);
  EXPECT_EQ(Admitted(bob, "ipv4:10.0.0.1:1", 20), kBurst) << "another's rate is his own";
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(Admitted(ann, "ipv4:10.0.0.3:1", 20), kPerSecond);
}

TEST_F(AccessGateTest, WhereNobodyIsAskedAnAddressHasTheRate) {
  const Authenticator insecure(/*insecure=*/true, clock_);
  const AccessGate gate(insecure, &limiter_);
  EXPECT_EQ(AdmittedBy(gate, "", "ipv4:127.0.0.1:5", 7), 7);
  EXPECT_EQ(AdmittedBy(gate, "", "ipv4:127.0.0.1:6", 7), kBurst - 7) << "a port is no other";
  EXPECT_EQ(AdmittedBy(gate, "", "ipv4:127.0.0.2:6", 20), kBurst);
}

TEST_F(AccessGateTest, AFleetOfExecutorsMayComeAtOnce) {
  const std::string fleet = Token("fleet", Role::kExecutor);
  EXPECT_EQ(Admitted(fleet, "ipv4:10.0.0.1:1", 1000, "ExecutorService/Connect"), 1000);
}

TEST_F(AccessGateTest, ACheckSaysWhatAdmitWouldAndCountsNowhere) {
  const std::string eve = Token("eve", Role::kViewer);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(gate_.Check(kMethod, eve, "ipv4:10.0.0.1:1").ok());
  EXPECT_EQ(Admitted(eve, "ipv4:10.0.0.1:1", 20), kBurst);
  EXPECT_EQ(gate_.Check("OperatorService/PauseJob", eve, "p").code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(gate_.Check(kMethod, "Bearer tmk_x", "p").code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(gate_.Check(kMethod, "", "p").code(), absl::StatusCode::kUnauthenticated);
}

}  // namespace
}  // namespace tidemark
