#include "scheduler/store/database.h"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <pqxx/pqxx>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/status.h"
#include "scheduler/store/conninfo.h"
#include "scheduler/store/rows_impl.h"
#include "scheduler/store/sql_error.h"

namespace tidemark {
namespace {

// Settings live as long as the transaction: a transaction-pooling proxy may hand the session to
// anyone afterwards. Custom plans, because UNNEST joins on a young table get bad generic ones.
constexpr char kSettings[] =
    "SELECT set_config('search_path', $1, true), set_config('statement_timeout', $2, true),"
    " set_config('idle_in_transaction_session_timeout', $3, true),"
    " set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO, YMD', true),"
    " set_config('client_min_messages', 'warning', true), set_config('jit', 'off', true),"
    " set_config('plan_cache_mode', 'force_custom_plan', true)";

std::string QuoteIdentifier(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string Millis(absl::Duration d) { return std::to_string(absl::ToInt64Milliseconds(d)); }

// libpq's words end in a line feed, and some of the library's name what it did after the break.
std::string Words(const std::exception& e) {
  std::string text = e.what();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.find("not connected") != std::string::npos) return "the connection broke";
  return text;
}

class Receiver : public pqxx::notification_receiver {
 public:
  Receiver(pqxx::connection_base& connection, const std::string& channel)
      : notification_receiver(connection, channel) {}
  void operator()(const std::string&, int) override { received_ = true; }
  bool Take() { return std::exchange(received_, false); }

 private:
  bool received_ = false;
};

// Never a silent reconnect: it would lose BEGIN and the settings. The library has no other switch.
void ForbidReconnect(pqxx::connection& connection) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  connection.inhibit_reactivation(true);
#pragma GCC diagnostic pop
}

std::string_view RollbackState(const pqxx::transaction_rollback& e) {
  if (dynamic_cast<const pqxx::deadlock_detected*>(&e) != nullptr) return "40P01";
  if (dynamic_cast<const pqxx::serialization_failure*>(&e) != nullptr) return "40001";
  if (dynamic_cast<const pqxx::statement_completion_unknown*>(&e) != nullptr) return "40003";
  return "40000";
}

}  // namespace

struct Connection::Impl {
  std::string search_path;
  std::string statement_timeout;
  std::string idle_timeout;
  std::vector<std::string> secrets;
  std::unique_ptr<pqxx::connection> session;
  std::unique_ptr<pqxx::quiet_errorhandler> quiet;
  std::unique_ptr<Receiver> receiver;
  std::atomic<bool> broken = false;
  // A duplicate of the socket: libpq may close its own at any time, and the number be reused.
  int socket = -1;

  ~Impl() {
    receiver.reset();
    quiet.reset();
    session.reset();
    if (socket >= 0) close(socket);
  }

  // Maps the exception in flight.
  absl::Status Caught() {
    try {
      throw;
    } catch (const pqxx::broken_connection& e) {
      broken = true;
      return absl::UnavailableError(Redact(Words(e), secrets));
    } catch (const pqxx::sql_error& e) {
      const std::string message = Redact(Words(e), secrets);
      if (e.sqlstate().empty() || EndsSession(e.sqlstate()) || !session->is_open()) {
        broken = true;
        return absl::UnavailableError(message);
      }
      return FromSqlState(e.sqlstate(), message);
    } catch (const pqxx::transaction_rollback& e) {
      // No sql_error, and without its state.
      return FromSqlState(RollbackState(e), Redact(Words(e), secrets));
    } catch (const std::exception& e) {
      if (session != nullptr && session->is_open())
        return absl::InternalError(Redact(Words(e), secrets));
      broken = true;
      return absl::UnavailableError(Redact(Words(e), secrets));
    }
  }
};

struct SqlTransaction::Impl {
  Connection::Impl* connection;
  pqxx::nontransaction* work;
  bool failed = false;
};

absl::StatusOr<SqlRows> SqlTransaction::Run(std::string_view statement,
                                            const std::vector<SqlParam>& params) {
  std::vector<const char*> values;
  values.reserve(params.size());
  for (const SqlParam& p : params) values.push_back(p.has_value() ? p->c_str() : nullptr);
  try {
    auto rows = std::make_shared<SqlRows::Impl>();
    rows->result = impl_->work->exec_params(std::string(statement),
                                            pqxx::prepare::make_dynamic_params(values));
    return SqlRows(std::move(rows));
  } catch (...) {
    impl_->failed = true;
    return impl_->connection->Caught();
  }
}

absl::Status SqlTransaction::RunScript(std::string_view script) {
  try {
    impl_->work->exec(std::string(script));
    return absl::OkStatus();
  } catch (...) {
    impl_->failed = true;
    return impl_->connection->Caught();
  }
}

Connection::Connection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connection::~Connection() = default;

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const DatabaseOptions& options) {
  TM_ASSIGN_OR_RETURN(const ConnInfo info, MakeConnInfo(options));
  auto impl = std::make_unique<Impl>();
  impl->search_path = QuoteIdentifier(options.schema) + ", pg_temp";
  impl->statement_timeout = Millis(options.statement_timeout);
  impl->idle_timeout = Millis(options.idle_in_transaction_timeout);
  impl->secrets = info.secrets;
  try {
    impl->session = std::make_unique<pqxx::connection>(info.text);
    ForbidReconnect(*impl->session);
    impl->quiet = std::make_unique<pqxx::quiet_errorhandler>(*impl->session);
    impl->socket = dup(impl->session->sock());
  } catch (const std::exception& e) {
    return FromConnectFailure(info.where, Redact(Words(e), info.secrets));
  }
  return std::unique_ptr<Connection>(new Connection(std::move(impl)));
}

absl::Status Connection::Transact(const std::function<absl::Status(SqlTransaction&)>& body,
                                  Isolation isolation) {
  if (impl_->broken) return absl::UnavailableError("the connection to the database is broken");
  try {
    pqxx::nontransaction work(*impl_->session);
    SqlTransaction::Impl state{impl_.get(), &work};
    SqlTransaction transaction(&state);
    TM_RETURN_IF_ERROR(
        transaction.RunScript(isolation == Isolation::kReadCommitted
                                  ? "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
                                  : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
    absl::Status status =
        transaction
            .Run(kSettings, {impl_->search_path, impl_->statement_timeout, impl_->idle_timeout})
            .status();
    if (status.ok()) status = body(transaction);
    // COMMIT of a failed transaction is a silent ROLLBACK: never call that a success.
    if (status.ok() && state.failed)
      status = absl::InternalError("a statement's error was ignored");
    if (!status.ok()) {
      if (!impl_->broken) transaction.RunScript("ROLLBACK").IgnoreError();
      return status;
    }
    status = transaction.RunScript("COMMIT");
    if (status.ok() || SurelyRolledBack(SqlState(status))) return status;
    impl_->broken = true;
    return InDoubt(Message(status));
  } catch (...) {
    return impl_->Caught();
  }
}

absl::StatusOr<SqlRows> Connection::RunOne(std::string_view statement,
                                           const std::vector<SqlParam>& params) {
  SqlRows rows;
  TM_RETURN_IF_ERROR(Transact([&](SqlTransaction& transaction) -> absl::Status {
    TM_ASSIGN_OR_RETURN(rows, transaction.Run(statement, params));
    return absl::OkStatus();
  }));
  return rows;
}

absl::Status Connection::Listen(std::string_view channel) {
  try {
    impl_->receiver = std::make_unique<Receiver>(*impl_->session, std::string(channel));
    return absl::OkStatus();
  } catch (...) {
    return impl_->Caught();
  }
}

absl::StatusOr<bool> Connection::AwaitNotification(absl::Duration timeout) {
  if (impl_->broken) return absl::UnavailableError("the connection to the database is broken");
  try {
    const timespec ts = absl::ToTimespec(timeout);
    impl_->session->await_notification(ts.tv_sec, ts.tv_nsec / 1000);
    if (!impl_->session->is_open()) {
      impl_->broken = true;
      return absl::UnavailableError("the connection to the database is broken");
    }
    return impl_->receiver != nullptr && impl_->receiver->Take();
  } catch (...) {
    return impl_->Caught();
  }
}

bool Connection::broken() const { return impl_->broken; }

void Connection::Abort() {
  impl_->broken = true;
  if (impl_->socket >= 0) shutdown(impl_->socket, SHUT_RDWR);
}

}  // namespace tidemark
