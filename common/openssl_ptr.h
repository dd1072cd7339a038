// Owning pointers to what OpenSSL makes.
#ifndef TIDEMARK_COMMON_OPENSSL_PTR_H_
#define TIDEMARK_COMMON_OPENSSL_PTR_H_

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>

namespace tidemark {

template <auto Free>
struct OpensslFree {
  template <typename T>
  void operator()(T* p) const {
    Free(p);
  }
};

using BioPtr = std::unique_ptr<BIO, OpensslFree<BIO_free_all>>;
using CertPtr = std::unique_ptr<X509, OpensslFree<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_OPENSSL_PTR_H_
