// The certificates of the HTTP listener: the same files as those of gRPC.
#ifndef TIDEMARK_SCHEDULER_HTTP_TLS_H_
#define TIDEMARK_SCHEDULER_HTTP_TLS_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/state_log.h"
#include "common/tls_files.h"
#include "scheduler/http/http_server.h"

namespace tidemark {

// Reads the files again at most once a second. Thread-safe. The clock must outlive it.
class HttpTls {
 public:
  // INVALID_ARGUMENT or NOT_FOUND: a file cannot be read.
  static absl::StatusOr<std::shared_ptr<HttpTls>> Open(const TlsFiles& files, Clock& clock);

  // While files cannot be read, what was read last.
  std::shared_ptr<const HttpTlsFiles> Get();

 private:
  HttpTls(const TlsFiles& files, Clock& clock) : files_(files), clock_(clock) {}
  absl::StatusOr<HttpTlsFiles> Read() const;

  const TlsFiles files_;
  Clock& clock_;
  Mutex mutex_;
  std::shared_ptr<const HttpTlsFiles> current_ ABSL_GUARDED_BY(mutex_);
  absl::Duration next_ ABSL_GUARDED_BY(mutex_) = absl::ZeroDuration();  // monotonic
  StateLog log_ ABSL_GUARDED_BY(mutex_){"reading the certificates of HTTP"};
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_HTTP_TLS_H_
