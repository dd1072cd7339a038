// Tokens: random text that says who somebody is.
//
// A token is "tmk_" and 64 hexadecimal digits: 256 random bits. Only its SHA-256 is stored. A slow
// hash (bcrypt, argon2) is for secrets that people invent and others can guess; nobody tries 2^256
// values, however fast each is.
#ifndef TIDEMARK_SCHEDULER_ACCESS_TOKEN_H_
#define TIDEMARK_SCHEDULER_ACCESS_TOKEN_H_

#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "common/id.h"
#include "scheduler/access/identity.h"

namespace tidemark {

inline constexpr std::string_view kTokenPrefix = "tmk_";
inline constexpr absl::Duration kTokenDays = absl::Hours(24 * 365);  // unless said otherwise
inline constexpr absl::Duration kMostTokenDays = absl::Hours(24 * 3660);

// One row of the table, without the token itself.
struct TokenRecord {
  std::string token_id;  // 12 hexadecimal digits; to name it, no secret
  std::string hash;      // SHA-256 of the token's text, 64 lower-case hexadecimal digits
  std::string name;      // whose it is; several tokens may have one name (rotation)
  Role role = Role::kNone;
  std::string ns;   // "": all
  std::string app;  // executors
  absl::Time created_at;
  absl::Time expires_at;
};

std::string NewToken(Random& random);
std::string NewTokenId(Random& random);
std::string TokenHash(std::string_view token);
// Whether it has the form of a token of ours.
bool LooksLikeToken(std::string_view text);
// In a time that does not depend on where they differ.
bool EqualSecrets(std::string_view a, std::string_view b);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ACCESS_TOKEN_H_
