// How a client reaches a scheduler: over TLS, with a token, and never with a token in the clear.
#ifndef TIDEMARK_CHANNEL_SECURE_CHANNEL_H_
#define TIDEMARK_CHANNEL_SECURE_CHANNEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/tls_files.h"
#include "grpcpp/grpcpp.h"

namespace tidemark {

// All optional on loopback. Files are read anew for each connection, so they may be replaced while
// a process runs.
struct ClientSecurity {
  // ca: the authority that the scheduler's certificate must come from ("system": one that this
  // machine trusts); with it, or with a certificate, the connection is over TLS. cert, key: the
  // client's own, where the scheduler asks for one.
  TlsFiles tls;
  std::string server_name;  // that the certificate must have; "": the host of the address
  std::string token_file;
  std::string token;  // instead of a file

  bool uses_tls() const { return tls.any(); }
};

// Fills what is empty from TIDEMARK_TLS_CA, TIDEMARK_TLS_CERT, TIDEMARK_TLS_KEY,
// TIDEMARK_TLS_SERVER_NAME, TIDEMARK_TOKEN_FILE and TIDEMARK_TOKEN.
ClientSecurity WithEnvironment(ClientSecurity security);

// What a connection to one address takes.
struct ChannelSecurity {
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  std::string token;  // "": none

  // Puts the token into a call's metadata.
  void Authorize(grpc::ClientContext* context) const;
};

// INVALID_ARGUMENT, with the mend: a file cannot be read or is no good; the token is weak; the
// address is not loopback and there is no TLS, or no token.
absl::StatusOr<ChannelSecurity> SecureFor(const std::string& address,
                                          const ClientSecurity& security);

// Adds to `args` what `security` asks for.
void ApplyServerName(const ClientSecurity& security, grpc::ChannelArguments* args);

}  // namespace tidemark

#endif  // TIDEMARK_CHANNEL_SECURE_CHANNEL_H_
