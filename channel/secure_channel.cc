#include "channel/secure_channel.h"

#include <cstdlib>

#include "common/address.h"
#include "common/clock.h"
#include "common/secret.h"
#include "common/status.h"
#include "common/text.h"

namespace tidemark {
namespace {

void Fill(std::string* field, const char* variable) {
  if (!field->empty()) return;
  if (const char* value = std::getenv(variable); value != nullptr) *field = value;
}

absl::Status Refused(const std::string& address, const std::string& why) {
  return absl::InvalidArgumentError(ToAbsl(address + " is not on this machine: " + why));
}

absl::StatusOr<std::string> TokenOf(const ClientSecurity& security) {
  if (security.token.empty()) {
    return security.token_file.empty() ? std::string() : ReadSecretFile(security.token_file);
  }
  if (const std::string problem = SecretProblem(security.token); !problem.empty()) {
    return absl::InvalidArgumentError(ToAbsl("the token " + problem));
  }
  return security.token;
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsOf(
    const ClientSecurity& security) {
  if (!security.uses_tls()) return grpc::InsecureChannelCredentials();
  TlsFiles files = security.tls;
  if (files.ca == "system") files.ca.clear();
  TM_RETURN_IF_ERROR(CheckTlsFiles(files, SystemClock().WallNow()));
  grpc::SslCredentialsOptions options;
  if (!files.ca.empty()) {
    TM_ASSIGN_OR_RETURN(options.pem_root_certs, ReadTlsFile(files.ca));
  }
  if (!files.cert.empty()) {
    TM_ASSIGN_OR_RETURN(options.pem_cert_chain, ReadTlsFile(files.cert));
    TM_ASSIGN_OR_RETURN(options.pem_private_key, ReadTlsFile(files.key));
  }
  return grpc::SslCredentials(options);
}

}  // namespace

ClientSecurity WithEnvironment(ClientSecurity security) {
  Fill(&security.tls.ca, "TIDEMARK_TLS_CA");
  Fill(&security.tls.cert, "TIDEMARK_TLS_CERT");
  Fill(&security.tls.key, "TIDEMARK_TLS_KEY");
  Fill(&security.server_name, "TIDEMARK_TLS_SERVER_NAME");
  // Either form given by hand wins over both variables.
  const bool given = !security.token.empty() || !security.token_file.empty();
  if (!given) Fill(&security.token_file, "TIDEMARK_TOKEN_FILE");
  if (!given && security.token_file.empty()) Fill(&security.token, "TIDEMARK_TOKEN");
  return security;
}

void ChannelSecurity::Authorize(grpc::ClientContext* context) const {
  if (!token.empty()) context->AddMetadata("authorization", "Bearer " + token);
}

absl::StatusOr<ChannelSecurity> SecureFor(const std::string& address,
                                          const ClientSecurity& security) {
  ChannelSecurity out;
  TM_ASSIGN_OR_RETURN(out.token, TokenOf(security));
  if (!IsLoopbackAddress(address)) {
    if (!security.uses_tls()) {
      return Refused(address,
                     "nothing is sent there in the clear. Say which authority its certificate "
                     "comes from: --tls-ca FILE, or TIDEMARK_TLS_CA (\"system\" for one that this "
                     "machine trusts)");
    }
    if (out.token.empty()) {
      return Refused(address,
                     "it takes a token. An admin makes one (tidemark token create); say where it "
                     "is: --token-file FILE, or TIDEMARK_TOKEN_FILE");
    }
  }
  TM_ASSIGN_OR_RETURN(out.credentials, CredentialsOf(security));
  return out;
}

void ApplyServerName(const ClientSecurity& security, grpc::ChannelArguments* args) {
  if (!security.server_name.empty()) args->SetSslTargetNameOverride(security.server_name);
}

}  // namespace tidemark
