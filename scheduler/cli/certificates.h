// A private certificate authority, and certificates of it.
#ifndef TIDEMARK_SCHEDULER_CLI_CERTIFICATES_H_
#define TIDEMARK_SCHEDULER_CLI_CERTIFICATES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark {

// A certificate and its private key (ECDSA P-256), both PEM.
struct PemPair {
  std::string cert;
  std::string key;
};

// An authority of its own name; it can sign certificates and nothing below them.
absl::StatusOr<PemPair> MakeAuthority(const std::string& name, absl::Time from, absl::Time to);

// A certificate of that authority, for servers and clients alike. `hosts`: DNS names and IP
// addresses that a server is reached by; none: for clients alone. INVALID_ARGUMENT: the authority
// cannot be read, or a host is neither.
absl::StatusOr<PemPair> MakeCertificate(const PemPair& authority, const std::string& name,
                                        const std::vector<std::string>& hosts, absl::Time from,
                                        absl::Time to);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CLI_CERTIFICATES_H_
