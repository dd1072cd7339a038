// A private PostgreSQL for --dev: made and run in a directory of its own.
#ifndef TIDEMARK_SCHEDULER_DEV_DEV_POSTGRES_H_
#define TIDEMARK_SCHEDULER_DEV_DEV_POSTGRES_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"

namespace tidemark {

// Runs a PostgreSQL server with its data in DIR/postgres, reachable through a Unix socket only.
// As root the server runs as an unprivileged user. One that a killed process left running is taken
// over. Not thread-safe.
class DevPostgres {
 public:
  // Makes what is missing and starts the server. Errors name the directory or program and the
  // mend. "" for `data_dir` is the default directory.
  static absl::StatusOr<std::unique_ptr<DevPostgres>> Start(const std::string& data_dir,
                                                            Clock& clock);
  ~DevPostgres();  // stops the server

  // With the password; also in DIR/database.url (mode 0600).
  const std::string& url() const { return url_; }
  const std::string& dir() const { return dir_; }
  // Stops the server and waits for its end.
  void Stop();

 private:
  explicit DevPostgres(Clock& clock) : clock_(clock) {}

  Clock& clock_;
  std::string dir_;
  std::string url_;
  pid_t pid_ = 0;  // of the postmaster; 0: stopped
  bool child_ = false;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_DEV_DEV_POSTGRES_H_
