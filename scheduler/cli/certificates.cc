#include "scheduler/cli/certificates.h"

#include <arpa/inet.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "common/openssl_ptr.h"
#include "common/status.h"
#include "common/text.h"

namespace tidemark {
namespace {

constexpr int kSerialBits = 127;
constexpr long kVersion3 = 2;

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

PemPair ToPem(X509* cert, EVP_PKEY* key) {
  const BioPtr cert_text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(cert_text.get(), cert);
  const BioPtr key_text(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(key_text.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return {TextOf(cert_text.get()), TextOf(key_text.get())};
}

// With a name, a random serial number, its times and its key.
CertPtr NewCert(const std::string& name, EVP_PKEY* key, absl::Time from, absl::Time to) {
  CertPtr cert(X509_new());
  X509_set_version(cert.get(), kVersion3);
  BIGNUM* serial = BN_new();
  BN_rand(serial, kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY);
  BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(cert.get()));
  BN_free(serial);
  ASN1_TIME_set(X509_getm_notBefore(cert.get()), absl::ToTimeT(from));
  ASN1_TIME_set(X509_getm_notAfter(cert.get()), absl::ToTimeT(to));
  X509_NAME* subject = X509_get_subject_name(cert.get());
  X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>("Tidemark"), -1, -1, 0);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.data()),
                             static_cast<int>(name.size()), -1, 0);
  X509_set_pubkey(cert.get(), key);
  return cert;
}

bool AddExtension(X509* cert, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  if (extension == nullptr) return false;
  X509_add_ext(cert, extension, -1);
  X509_EXTENSION_free(extension);
  return true;
}

bool IsDnsName(const std::string& host) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.*";
  return !host.empty() && host.size() <= 253 &&
         host.find_first_not_of(kAllowed) == std::string::npos;
}

// "DNS:a.example,IP:10.0.0.1".
absl::StatusOr<std::string> AltNames(const std::vector<std::string>& hosts) {
  std::string names;
  for (const std::string& host : hosts) {
    unsigned char bytes[16];
    const bool ip = inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
                    inet_pton(AF_INET6, host.c_str(), bytes) == 1;
    if (!ip && !IsDnsName(host)) {
      return Invalid("--host '" + EscapeControl(host) + "' is neither a name nor an IP address");
    }
    names += (names.empty() ? "" : ",") + std::string(ip ? "IP:" : "DNS:") + host;
  }
  return names;
}

}  // namespace

absl::StatusOr<PemPair> MakeAuthority(const std::string& name, absl::Time from, absl::Time to) {
  const KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return absl::InternalError("no key could be made");
  const CertPtr cert = NewCert(name, key.get(), from, to);
  X509_set_issuer_name(cert.get(), X509_get_subject_name(cert.get()));
  const bool extended =
      AddExtension(cert.get(), cert.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
      AddExtension(cert.get(), cert.get(), NID_key_usage, "critical,keyCertSign,cRLSign") &&
      AddExtension(cert.get(), cert.get(), NID_subject_key_identifier, "hash");
  if (!extended || X509_sign(cert.get(), key.get(), EVP_sha256()) == 0) {
    return absl::InternalError("the certificate could not be signed");
  }
  return ToPem(cert.get(), key.get());
}

absl::StatusOr<PemPair> MakeCertificate(const PemPair& authority, const std::string& name,
                                        const std::vector<std::string>& hosts, absl::Time from,
                                        absl::Time to) {
  const BioPtr cert_text(
      BIO_new_mem_buf(authority.cert.data(), static_cast<int>(authority.cert.size())));
  const CertPtr issuer(PEM_read_bio_X509(cert_text.get(), nullptr, nullptr, nullptr));
  const BioPtr key_text(
      BIO_new_mem_buf(authority.key.data(), static_cast<int>(authority.key.size())));
  const KeyPtr issuer_key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  if (issuer == nullptr || issuer_key == nullptr ||
      X509_check_private_key(issuer.get(), issuer_key.get()) != 1) {
    return Invalid("ca.crt and ca.key are not a certificate and its key");
  }
  TM_ASSIGN_OR_RETURN(const std::string names, AltNames(hosts));
  const KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return absl::InternalError("no key could be made");
  const CertPtr cert = NewCert(name, key.get(), from, to);
  X509_set_issuer_name(cert.get(), X509_get_subject_name(issuer.get()));
  bool extended =
      AddExtension(cert.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE") &&
      AddExtension(cert.get(), issuer.get(), NID_key_usage, "critical,digitalSignature") &&
      AddExtension(cert.get(), issuer.get(), NID_ext_key_usage,
                   names.empty() ? "clientAuth" : "serverAuth,clientAuth") &&
      AddExtension(cert.get(), issuer.get(), NID_authority_key_identifier, "keyid");
  if (!names.empty()) {
    extended = extended && AddExtension(cert.get(), issuer.get(), NID_subject_alt_name, names);
  }
  if (!extended || X509_sign(cert.get(), issuer_key.get(), EVP_sha256()) == 0) {
    return absl::InternalError("the certificate could not be signed");
  }
  return ToPem(cert.get(), key.get());
}

}  // namespace tidemark
