#include "scheduler/http_tls.h"

#include <utility>

#include "common/status.h"

namespace tidemark {

absl::StatusOr<std::shared_ptr<HttpTls>> HttpTls::Open(const TlsFiles& files, Clock& clock) {
  std::shared_ptr<HttpTls> tls(new HttpTls(files, clock));
  TM_ASSIGN_OR_RETURN(HttpTlsFiles read, tls->Read());
  const MutexLock lock(&tls->mutex_);
  tls->current_ = std::make_shared<const HttpTlsFiles>(std::move(read));
  return tls;
}

absl::StatusOr<HttpTlsFiles> HttpTls::Read() const {
  HttpTlsFiles read;
  TM_ASSIGN_OR_RETURN(read.certificate_chain, ReadTlsFile(files_.cert));
  TM_ASSIGN_OR_RETURN(read.private_key, ReadTlsFile(files_.key));
  if (!files_.ca.empty()) {
    TM_ASSIGN_OR_RETURN(read.client_ca, ReadTlsFile(files_.ca));
    read.require_client_certificate = true;
  }
  return read;
}

std::shared_ptr<const HttpTlsFiles> HttpTls::Get() {
  const MutexLock lock(&mutex_);
  if (clock_.Monotonic() < next_) return current_;
  next_ = clock_.Monotonic() + absl::Seconds(1);
  absl::StatusOr<HttpTlsFiles> read = Read();
  log_.Report(read.status());
  if (!read.ok()) return current_;
  if (read->certificate_chain != current_->certificate_chain ||
      read->private_key != current_->private_key || read->client_ca != current_->client_ca) {
    current_ = std::make_shared<const HttpTlsFiles>(*std::move(read));
  }
  return current_;
}

}  // namespace tidemark
