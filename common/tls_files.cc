#include "common/tls_files.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "common/openssl_ptr.h"
#include "common/status.h"
#include "common/text.h"

namespace tidemark {
namespace {

absl::Status Wrong(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(ToAbsl(path + ": " + what));
}

absl::StatusOr<BioPtr> Open(const std::string& path) {
  TM_ASSIGN_OR_RETURN(const std::string text, ReadTlsFile(path));
  BioPtr bio(BIO_new(BIO_s_mem()));
  BIO_write(bio.get(), text.data(), static_cast<int>(text.size()));
  return bio;
}

absl::StatusOr<CertPtr> ReadAnyCert(const std::string& path) {
  TM_ASSIGN_OR_RETURN(const BioPtr bio, Open(path));
  CertPtr cert(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (cert == nullptr) return Wrong(path, "holds no certificate (PEM)");
  return cert;
}

absl::StatusOr<CertPtr> ReadCert(const std::string& path, absl::Time now) {
  TM_ASSIGN_OR_RETURN(CertPtr cert, ReadAnyCert(path));
  time_t at = absl::ToTimeT(now);
  if (X509_cmp_time(X509_get0_notAfter(cert.get()), &at) <= 0) {
    return Wrong(path, "the certificate is expired; make another (tidemark tls init --help)");
  }
  if (X509_cmp_time(X509_get0_notBefore(cert.get()), &at) > 0) {
    return Wrong(path, "the certificate is not valid yet: is this machine's clock right?");
  }
  return cert;
}

absl::StatusOr<KeyPtr> ReadKey(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) == 0 && (info.st_mode & S_IROTH) != 0) {
    return Wrong(path, "everybody on this machine can read the key; chmod 0600 " + path);
  }
  TM_ASSIGN_OR_RETURN(const BioPtr bio, Open(path));
  // An encrypted key would ask on a terminal for its password: none is given.
  const auto none = [](char*, int, int, void*) { return 0; };
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, none, nullptr));
  if (key == nullptr) return Wrong(path, "holds no private key (PEM, not encrypted)");
  return key;
}

}  // namespace

absl::StatusOr<std::string> ReadTlsFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return Wrong(path, "cannot be read: it is missing, empty or not readable for this user");
  }
  return text.str();
}

absl::StatusOr<bool> CertificateIsFor(const std::string& cert_file, const std::string& host) {
  TM_ASSIGN_OR_RETURN(const CertPtr cert, ReadAnyCert(cert_file));
  return X509_check_host(cert.get(), host.data(), host.size(), 0, nullptr) == 1 ||
         X509_check_ip_asc(cert.get(), host.c_str(), 0) == 1;
}

absl::Status CheckTlsFiles(const TlsFiles& files, absl::Time now) {
  if (!files.ca.empty()) TM_RETURN_IF_ERROR(ReadCert(files.ca, now).status());
  if (files.cert.empty() && files.key.empty()) return absl::OkStatus();
  if (files.cert.empty() || files.key.empty()) {
    return absl::InvalidArgumentError("a certificate and its key go together: give both files");
  }
  TM_ASSIGN_OR_RETURN(const CertPtr cert, ReadCert(files.cert, now));
  TM_ASSIGN_OR_RETURN(const KeyPtr key, ReadKey(files.key));
  if (X509_check_private_key(cert.get(), key.get()) != 1) {
    return Wrong(files.key, "is not the key of the certificate in " + files.cert);
  }
  return absl::OkStatus();
}

}  // namespace tidemark
