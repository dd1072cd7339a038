#include "scheduler/store/operator_pool.h"

#include <utility>

#include "common/status.h"
#include "common/text.h"

namespace tidemark {
namespace {

constexpr int kAttempts = 3;
constexpr absl::Duration kMaxWait = absl::Seconds(10);

}  // namespace

OperatorPool::OperatorPool(DatabaseOptions options, int size)
    : options_(std::move(options)), size_(size) {}

absl::StatusOr<std::unique_ptr<Connection>> OperatorPool::Take(bool fresh) {
  std::unique_ptr<Connection> connection;
  {
    absl::MutexLock lock(&mutex_);
    const auto free = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return out_ < size_; };
    if (!mutex_.AwaitWithTimeout(absl::Condition(&free), kMaxWait)) {
      return absl::UnavailableError(
          "the scheduler is busy with other requests to its database; try again");
    }
    ++out_;
    // After one broke, its neighbours are suspect, too.
    if (fresh) idle_.clear();
    if (!idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (connection != nullptr) return connection;
  absl::StatusOr<std::unique_ptr<Connection>> opened = Connection::Open(options_);
  if (!opened.ok()) GiveBack(nullptr);
  return opened;
}

void OperatorPool::GiveBack(std::unique_ptr<Connection> connection) {
  absl::MutexLock lock(&mutex_);
  --out_;
  if (connection != nullptr && !connection->broken()) idle_.push_back(std::move(connection));
}

absl::Status OperatorPool::Once(const std::function<absl::Status(SqlTransaction&)>& body,
                                Isolation isolation, bool fresh) {
  TM_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, Take(fresh));
  absl::Status status = connection->Transact(body, isolation);
  GiveBack(std::move(connection));
  return status;
}

absl::Status OperatorPool::Transact(const std::function<absl::Status(SqlTransaction&)>& body,
                                    Isolation isolation) {
  absl::Status status = Once(body, isolation, /*fresh=*/false);
  // Only what the database aborted; a body's own ABORTED would be the same again.
  const auto again = [&] { return absl::IsAborted(status) && !SqlState(status).empty(); };
  for (int attempt = 1; attempt < kAttempts && again(); ++attempt) {
    status = Once(body, isolation, /*fresh=*/false);
  }
  // A connection from the pool may have died long ago; only a fresh one speaks for the database.
  if (absl::IsUnavailable(status)) status = Once(body, isolation, /*fresh=*/true);
  if (absl::IsUnavailable(status)) {
    return absl::UnavailableError(ToAbsl("the scheduler's database cannot be reached now (" +
                                         Message(status) +
                                         "); nothing was changed, try again when it is back"));
  }
  // Requests are taken before the node has taken charge of its database, and made the tables.
  const std::string state = SqlState(status);
  if (state == "42P01" || state == "42883" || state == "3F000") {
    return absl::UnavailableError(
        "the scheduler has not made its tables yet: it does so when it takes charge of its "
        "database; try again, and if this lasts, its log says why");
  }
  return status;
}

}  // namespace tidemark
