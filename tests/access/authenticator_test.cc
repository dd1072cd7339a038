// Tokens: what is let in, what is not, and until when.
#include "scheduler/access/authenticator.h"

#include <set>

#include "common/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

TokenRecord Record(const std::string& token, const std::string& id,
                   absl::Duration left = absl::Hours(1)) {
  TokenRecord record;
  record.token_id = id;
  record.hash = TokenHash(token);
  record.name = "ann";
  record.role = Role::kOperator;
  record.expires_at = kNow + left;
  return record;
}

class AuthenticatorTest : public testing::Test {
 protected:
  absl::StatusCode CodeOf(const std::string& authorization) {
    return authenticator_.Authenticate(authorization).status().code();
  }

  // Its wall clock is a year off, which must not matter.
  ManualClock clock_{kNow - absl::Hours(24 * 365)};
  SeededRandom random_{1};
  Authenticator authenticator_{/*insecure=*/false, clock_};
};

TEST_F(AuthenticatorTest, ATokenIs256RandomBitsAndOnlyItsHashIsKept) {
  std::set<std::string> tokens;
  for (int i = 0; i < 1000; ++i) tokens.insert(NewToken(random_));
  EXPECT_EQ(tokens.size(), 1000u);
  for (const std::string& token : tokens) {
    EXPECT_EQ(token.size(), 4u + 64u);
    EXPECT_TRUE(LooksLikeToken(token));
    EXPECT_EQ(TokenHash(token).size(), 64u);
    EXPECT_EQ(TokenHash(token).find(token.substr(4)), std::string::npos);
  }
  // Of the standard: SHA-256("abc").
  EXPECT_EQ(TokenHash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(AuthenticatorTest, S01MissingMalformedOrUnknownIsUnauthenticated) {
  const std::string token = NewToken(random_);
  authenticator_.Load({Record(token, "a")}, kNow);
  EXPECT_EQ(CodeOf("Bearer " + token), absl::StatusCode::kOk);
  EXPECT_EQ(CodeOf("bearer " + token), absl::StatusCode::kOk) << "the scheme has no case";
  for (const std::string& bad :
       {std::string(), std::string("Bearer "), std::string("Bearer null"), token, "bearer" + token,
        "Bearer " + token + " ", "Bearer " + token.substr(0, 67), "Bearer " + NewToken(random_),
        "Basic " + token, "Bearer  " + token, std::string("Bearer tmk_"),
        "Bearer " + TokenHash(token), "Bearer tmk_" + TokenHash(token),
        "Bearer " + token + std::string(1, '\0')}) {
    EXPECT_EQ(CodeOf(bad), absl::StatusCode::kUnauthenticated) << bad;
  }
}

TEST_F(AuthenticatorTest, S01WithoutAnyTokenNobodyIsLetIn) {
  EXPECT_EQ(authenticator_.size(), -1);
  EXPECT_EQ(CodeOf("Bearer " + NewToken(random_)), absl::StatusCode::kUnavailable);
  authenticator_.Load({}, kNow);
  EXPECT_EQ(authenticator_.size(), 0);
  EXPECT_EQ(CodeOf(""), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(CodeOf("Bearer " + NewToken(random_)), absl::StatusCode::kUnauthenticated);
  // A row without a hash lets nobody in either.
  TokenRecord empty;
  empty.expires_at = kNow + absl::Hours(1);
  authenticator_.Load({empty}, kNow);
  EXPECT_EQ(CodeOf("Bearer "), absl::StatusCode::kUnauthenticated);
}

TEST_F(AuthenticatorTest, ExpiryIsJudgedByTheDatabasesTimeThatGoesOn) {
  const std::string token = NewToken(random_);
  authenticator_.Load({Record(token, "a", absl::Minutes(10))}, kNow);
  const Identity identity = authenticator_.Authenticate("Bearer " + token).value();
  clock_.Advance(absl::Minutes(10) - absl::Milliseconds(1));
  EXPECT_EQ(CodeOf("Bearer " + token), absl::StatusCode::kOk);
  EXPECT_TRUE(authenticator_.Check(identity).ok());
  clock_.StepWall(-absl::Hours(24));
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(CodeOf("Bearer " + token), absl::StatusCode::kUnauthenticated);
  EXPECT_TRUE(absl::IsUnauthenticated(authenticator_.Check(identity)));
}

TEST_F(AuthenticatorTest, TwoTokensOfOneNameAreValidAtOnceUntilTheOldIsRevoked) {
  const std::string old_token = NewToken(random_);
  const std::string new_token = NewToken(random_);
  authenticator_.Load({Record(old_token, "old"), Record(new_token, "new")}, kNow);
  const Identity before = authenticator_.Authenticate("Bearer " + old_token).value();
  const Identity after = authenticator_.Authenticate("Bearer " + new_token).value();
  EXPECT_EQ(before.name, after.name);
  EXPECT_NE(before.token_id, after.token_id);
  authenticator_.Load({Record(new_token, "new")}, kNow);
  EXPECT_EQ(CodeOf("Bearer " + old_token), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(CodeOf("Bearer " + new_token), absl::StatusCode::kOk);
  EXPECT_TRUE(absl::IsUnauthenticated(authenticator_.Check(before)));
  EXPECT_TRUE(authenticator_.Check(after).ok());
}

TEST_F(AuthenticatorTest, InsecureAsksNobody) {
  const Authenticator insecure(true, clock_);
  const Identity identity = insecure.Authenticate("").value();
  EXPECT_FALSE(identity.authenticated);
  EXPECT_EQ(identity.role, Role::kAdmin);
  EXPECT_TRUE(insecure.Check(identity).ok());
}

TEST_F(AuthenticatorTest, RefusalsSayWhatToDo) {
  authenticator_.Load({}, kNow);
  EXPECT_THAT(Message(authenticator_.Authenticate("").status()),
              testing::HasSubstr("--token-file"));
  EXPECT_THAT(Message(authenticator_.Authenticate("Bearer x").status()),
              testing::HasSubstr("Bearer tmk_"));
  const std::string unknown = NewToken(random_);
  const std::string message = Message(authenticator_.Authenticate("Bearer " + unknown).status());
  EXPECT_THAT(message, testing::HasSubstr("tidemark token"));
  EXPECT_THAT(message, testing::Not(testing::HasSubstr(unknown.substr(4))));
}

}  // namespace
}  // namespace tidemark
