// A connection to PostgreSQL, with errors as absl::Status. libpqxx and exceptions stay behind it.
#ifndef TIDEMARK_SCHEDULER_STORE_DATABASE_H_
#define TIDEMARK_SCHEDULER_STORE_DATABASE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace tidemark {

struct DatabaseOptions {
  // Any libpq form: "postgresql://user:password@host1,host2/name" or "host=… dbname=…". Never
  // logged. What it sets itself (connect_timeout, …) wins over the defaults below.
  std::string url;
  std::string schema = "tidemark";
  std::string application_name = "tidemark";
  // A host, of several. Whole seconds, ≥ 2 s (libpq); so short that a lease outlasts a dead one.
  absl::Duration connect_timeout = absl::Seconds(3);
  absl::Duration tcp_user_timeout = absl::Seconds(8);    // a cut link is noticed after this
  absl::Duration statement_timeout = absl::Seconds(10);  // per statement, also while it waits
  absl::Duration idle_in_transaction_timeout = absl::Seconds(8);
  // The planner's price of a page that an index leads to, one of a scan being 1; "": the server's.
  std::string random_page_cost;
};

// Host, database and schema of `options` for logs and errors: never a password.
std::string DescribeDatabase(const DatabaseOptions& options);

// A bound parameter in PostgreSQL's text form; nullopt is NULL. NUL bytes end it: clean text first
// (CleanText).
using SqlParam = std::optional<std::string>;

SqlParam ToParam(absl::Time time);  // infinite times: 'infinity', '-infinity'
SqlParam ToParam(absl::CivilDay day);
SqlParam ToParam(absl::CivilSecond civil);
SqlParam ToParam(bool value);
SqlParam ToParam(int64_t value);
SqlParam ToParam(int value);
SqlParam ToParam(double value);
template <typename T>
SqlParam ToParam(const std::optional<T>& value) {
  return value.has_value() ? ToParam(*value) : SqlParam();
}
// "" becomes NULL: for optional uuid columns and such.
SqlParam NullIfEmpty(std::string_view text);

// The rows of a result. Copies share them; they outlive the connection. The typed readers take
// NULL as the type's default (0, false, "", epoch), and a value of another type likewise.
// Timestamps are read as the transaction prints them (Transact sets ISO and UTC).
class SqlRows {
 public:
  SqlRows();
  ~SqlRows();
  SqlRows(const SqlRows&);
  SqlRows(SqlRows&&) noexcept;
  SqlRows& operator=(const SqlRows&);
  SqlRows& operator=(SqlRows&&) noexcept;

  int size() const;  // rows
  int columns() const;
  bool empty() const { return size() == 0; }
  int affected() const;  // rows that a statement without RETURNING changed
  bool IsNull(int row, int column) const;
  // Valid while these rows, or a copy, live.
  std::string_view View(int row, int column) const;
  std::string Text(int row, int column) const { return std::string(View(row, column)); }
  int64_t Int(int row, int column) const;
  double Double(int row, int column) const;
  bool Bool(int row, int column) const;
  absl::Time Time(int row, int column) const;
  std::optional<absl::Time> OptTime(int row, int column) const;
  std::optional<int64_t> OptInt(int row, int column) const;
  std::optional<absl::CivilDay> OptDate(int row, int column) const;
  std::optional<absl::CivilSecond> OptCivil(int row, int column) const;

 private:
  friend class SqlTransaction;
  struct Impl;
  explicit SqlRows(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

// An open transaction, only inside Connection::Transact. search_path is the configured schema, so
// tables need no prefix.
class SqlTransaction {
 public:
  // One statement with bound parameters ($1, …).
  absl::StatusOr<SqlRows> Run(std::string_view statement, const std::vector<SqlParam>& params = {});
  // Several statements without parameters, for migrations alone.
  absl::Status RunScript(std::string_view script);

 private:
  friend class Connection;
  struct Impl;
  explicit SqlTransaction(Impl* impl) : impl_(impl) {}
  Impl* impl_;
};

enum class Isolation { kReadCommitted, kRepeatableReadOnly };

struct Notification {
  std::string channel;
  std::string payload;
};

// One session. It does not reconnect: after UNAVAILABLE or an in-doubt commit open another. Used
// by one thread at a time, but for Abort.
//
// Codes of errors, everywhere in the store:
//   UNAVAILABLE          no connection, or it broke; nothing was committed
//   UNKNOWN              the connection broke during COMMIT: may be committed (IsInDoubt)
//   ABORTED              40001, 40P01, 55P03: run the whole transaction again
//   DEADLINE_EXCEEDED    57014: statement_timeout
//   ALREADY_EXISTS       23505
//   INVALID_ARGUMENT     other class 22 and 23: the data is at fault (IsDataError)
//   FAILED_PRECONDITION  no such table or function: the schema is not migrated; no such database
//   UNAUTHENTICATED, PERMISSION_DENIED, RESOURCE_EXHAUSTED (class 53), INTERNAL: as they say
class Connection {
 public:
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const DatabaseOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // BEGIN, settings by SET LOCAL (so a transaction-pooling proxy is fine), `body`, COMMIT; ROLLBACK
  // when `body` returns an error, which is returned. Never runs `body` twice.
  absl::Status Transact(const std::function<absl::Status(SqlTransaction&)>& body,
                        Isolation isolation = Isolation::kReadCommitted);

  // One statement as a transaction of its own.
  absl::StatusOr<SqlRows> RunOne(std::string_view statement,
                                 const std::vector<SqlParam>& params = {});

  // LISTEN on this session, which must reach the server directly. `channel`: a plain identifier;
  // several are possible.
  absl::Status Listen(std::string_view channel);
  // Waits at most `timeout` (not cut short by Abort's caller alone: Abort breaks the session).
  // What came, by channel, each payload once.
  absl::StatusOr<std::vector<Notification>> AwaitNotification(absl::Duration timeout);

  bool broken() const;  // open another
  // Breaks the session from any thread: a call in progress ends with UNAVAILABLE or in doubt.
  void Abort();

 private:
  friend class SqlTransaction;
  struct Impl;
  explicit Connection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// SQLSTATE that an error of this store carries, or "".
std::string SqlState(const absl::Status& status);
bool IsInDoubt(const absl::Status& status);
bool IsDataError(const absl::Status& status);  // class 22 or 23

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_DATABASE_H_
