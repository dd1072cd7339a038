// Secrets that come from files: one line, strong enough, never shown.
#ifndef TIDEMARK_COMMON_SECRET_H_
#define TIDEMARK_COMMON_SECRET_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tidemark {

// What is wrong with a secret, or "": shorter than 16 bytes, or one that everybody knows
// (changeme, default_token, …). Never repeats the secret.
std::string SecretProblem(std::string_view secret);

// The first line of a file, without blanks at its ends. INVALID_ARGUMENT: it cannot be read, or
// SecretProblem; the message names the file and the mend, not the secret.
absl::StatusOr<std::string> ReadSecretFile(const std::string& path);

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_SECRET_H_
