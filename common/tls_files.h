// Certificates and keys in files, looked at before anybody relies on them.
#ifndef TIDEMARK_COMMON_TLS_FILES_H_
#define TIDEMARK_COMMON_TLS_FILES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark {

// A certificate with its key, and the authority that the other side's certificate must come from.
// All are names of PEM files; "": none.
struct TlsFiles {
  std::string cert;
  std::string key;
  std::string ca;

  bool any() const { return !cert.empty() || !key.empty() || !ca.empty(); }
};

// INVALID_ARGUMENT names the file and what is wrong: it cannot be read, is no PEM, the key is not
// the certificate's or others can read it, the certificate is expired at `now` (or not valid yet).
absl::Status CheckTlsFiles(const TlsFiles& files, absl::Time now);

// Whether the certificate in that file is for `host`, a name or an IP address: then who connects
// to it under that name believes it.
absl::StatusOr<bool> CertificateIsFor(const std::string& cert_file, const std::string& host);

// Whole contents of a file.
absl::StatusOr<std::string> ReadTlsFile(const std::string& path);

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_TLS_FILES_H_
