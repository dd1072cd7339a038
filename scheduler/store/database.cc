#include "scheduler/store/database.h"

#include <libpq-fe.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <pqxx/pqxx>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/status.h"
#include "scheduler/store/conninfo.h"
#include "scheduler/store/rows_impl.h"
#include "scheduler/store/sql_error.h"

namespace tidemark {
namespace {

// $4: whether they end with the transaction. Behind a transaction-pooling proxy they must, which
// may hand the session to anyone afterwards; on a session of our own they are set once. Custom
// plans, because UNNEST joins on a young table get bad generic ones.
constexpr char kSettings[] =
    "SELECT set_config('search_path', $1, $4), set_config('statement_timeout', $2, $4),"
    " set_config('idle_in_transaction_session_timeout', $3, $4),"
    " set_config('TimeZone', 'UTC', $4), set_config('DateStyle', 'ISO, YMD', $4),"
    " set_config('client_min_messages', 'warning', $4), set_config('jit', 'off', $4),"
    " set_config('plan_cache_mode', 'force_custom_plan', $4),"
    " set_config('random_page_cost', COALESCE($5, current_setting('random_page_cost')), $4)";

constexpr size_t kUntilCommit = 3;  // $4

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
std::string Words(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.find("not connected") != std::string::npos) return "the connection broke";
  return text;
}

struct PqPolicy final : pqxx::connect_direct {
  using connect_direct::connect_direct;
  handle do_startconnect(handle orig) override {
    return native = connect_direct::do_startconnect(orig);
  }
  handle do_disconnect(handle orig) noexcept override {
    native = nullptr;
    return connect_direct::do_disconnect(orig);
  }
  PGconn* native = nullptr;
};
struct PqPolicyHolder {  // a base, so that it is there before the session
  explicit PqPolicyHolder(const std::string& text) : policy(text) {}
  PqPolicy policy;
};

// libpqxx makes and ends the session, and waits for notifications. Statements go to libpq itself,
// which libpqxx hides: it gives every error its state, and its rows are read without copies.
class PqSession final : private PqPolicyHolder, public pqxx::connection_base {
 public:
  explicit PqSession(const std::string& text) : PqPolicyHolder(text), connection_base(policy) {
    init();
  }
  ~PqSession() noexcept { close(); }

  PGconn* native() const { return policy.native; }
};

class Receiver : public pqxx::notification_receiver {
 public:
  Receiver(pqxx::connection_base& connection, const std::string& channel)
      : notification_receiver(connection, channel) {}
  void operator()(const std::string& payload, int) override { payloads_.insert(payload); }
  std::set<std::string> Take() { return std::exchange(payloads_, {}); }

 private:
  std::set<std::string> payloads_;
};

// Never a silent reconnect: it would lose BEGIN and the settings. The library has no other switch.
void ForbidReconnect(PqSession& session) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  session.inhibit_reactivation(true);
#pragma GCC diagnostic pop
}

}  // namespace

struct Connection::Impl {
  std::vector<SqlParam> settings;  // of kSettings
  bool direct = false;             // a session of the server is ours for as long as we want
  std::vector<std::string> secrets;
  std::unique_ptr<PqSession> session;
  std::unique_ptr<pqxx::quiet_errorhandler> quiet;
  std::vector<std::unique_ptr<Receiver>> receivers;
  std::atomic<bool> broken = false;
  // A duplicate of the socket: libpq may close its own at any time, and the number be reused.
  int socket = -1;

  ~Impl() {
    receivers.clear();
    quiet.reset();
    session.reset();
    if (socket >= 0) close(socket);
  }

  absl::Status Broke(const std::string& words) {
    broken = true;
    return absl::UnavailableError(Redact(Words(words), secrets));
  }

  // Maps an exception of libpqxx.
  absl::Status Caught(const std::exception& e) {
    if (dynamic_cast<const pqxx::broken_connection*>(&e) != nullptr || !session->is_open()) {
      return Broke(e.what());
    }
    const auto* error = dynamic_cast<const pqxx::sql_error*>(&e);
    if (error == nullptr) return absl::InternalError(Redact(Words(e.what()), secrets));
    if (error->sqlstate().empty() || EndsSession(error->sqlstate())) return Broke(e.what());
    return FromSqlState(error->sqlstate(), Redact(Words(e.what()), secrets));
  }

  // Of libpq's result of a statement.
  absl::Status Judge(const PGresult* result) {
    const ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY) {
      return absl::OkStatus();
    }
    const char* field = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string state = field == nullptr ? "" : field;
    const std::string words =
        result == nullptr ? PQerrorMessage(session->native()) : PQresultErrorMessage(result);
    if (state.empty() || EndsSession(state) || PQstatus(session->native()) != CONNECTION_OK) {
      return Broke(words);
    }
    return FromSqlState(state, Redact(Words(words), secrets));
  }
};

struct SqlTransaction::Impl {
  Connection::Impl* connection;
  bool failed = false;

  // Judges `result` and takes it over.
  absl::StatusOr<std::shared_ptr<const SqlRows::Impl>> Take(PGresult* result) {
    auto rows = std::make_shared<SqlRows::Impl>();
    rows->result.reset(result);
    const absl::Status status = connection->Judge(result);
    failed = failed || !status.ok();
    if (!status.ok()) return status;
    return std::shared_ptr<const SqlRows::Impl>(std::move(rows));
  }
};

absl::StatusOr<SqlRows> SqlTransaction::Run(std::string_view statement,
                                            const std::vector<SqlParam>& params) {
  std::vector<const char*> values;
  values.reserve(params.size());
  for (const SqlParam& p : params) values.push_back(p.has_value() ? p->c_str() : nullptr);
  TM_ASSIGN_OR_RETURN(
      auto rows,
      impl_->Take(PQexecParams(impl_->connection->session->native(), std::string(statement).c_str(),
                               static_cast<int>(values.size()), nullptr, values.data(), nullptr,
                               nullptr, /*resultFormat=*/0)));
  return SqlRows(std::move(rows));
}

absl::Status SqlTransaction::RunScript(std::string_view script) {
  return impl_->Take(PQexec(impl_->connection->session->native(), std::string(script).c_str()))
      .status();
}

Connection::Connection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connection::~Connection() = default;

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const DatabaseOptions& options) {
  TM_ASSIGN_OR_RETURN(const ConnInfo info, MakeConnInfo(options));
  auto impl = std::make_unique<Impl>();
  impl->settings = {QuoteIdentifier(options.schema) + ", pg_temp",
                    Millis(options.statement_timeout), Millis(options.idle_in_transaction_timeout),
                    "true",
                    options.random_page_cost.empty() ? SqlParam() : options.random_page_cost};
  impl->secrets = info.secrets;
  try {
    impl->session = std::make_unique<PqSession>(info.text);
    ForbidReconnect(*impl->session);
    impl->quiet = std::make_unique<pqxx::quiet_errorhandler>(*impl->session);
    impl->socket = dup(impl->session->sock());
  } catch (const std::exception& e) {
    return FromConnectFailure(info.where, Redact(Words(e.what()), info.secrets));
  }
  std::unique_ptr<Connection> connection(new Connection(std::move(impl)));
  // A proxy gives us a process number of its own making: behind it settings are a transaction's.
  TM_ASSIGN_OR_RETURN(const SqlRows rows, connection->RunOne("SELECT pg_backend_pid()"));
  if (rows.Int(0, 0) != connection->impl_->session->backendpid()) return connection;
  std::vector<SqlParam> settings = connection->impl_->settings;
  settings[kUntilCommit] = "false";
  TM_RETURN_IF_ERROR(connection->RunOne(kSettings, settings).status());
  connection->impl_->direct = true;
  return connection;
}

absl::Status Connection::Transact(const std::function<absl::Status(SqlTransaction&)>& body,
                                  Isolation isolation) {
  if (impl_->broken) return absl::UnavailableError("the connection to the database is broken");
  SqlTransaction::Impl state{impl_.get()};
  SqlTransaction transaction(&state);
  TM_RETURN_IF_ERROR(transaction.RunScript(
      isolation == Isolation::kReadCommitted ? "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
                                             : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
  absl::Status status;
  if (!impl_->direct) status = transaction.Run(kSettings, impl_->settings).status();
  if (status.ok()) status = body(transaction);
  // COMMIT of a failed transaction is a silent ROLLBACK: never call that a success.
  if (status.ok() && state.failed) status = absl::InternalError("a statement's error was ignored");
  if (!status.ok()) {
    if (!impl_->broken) transaction.RunScript("ROLLBACK").IgnoreError();
    return status;
  }
  status = transaction.RunScript("COMMIT");
  if (status.ok() || SurelyRolledBack(SqlState(status))) return status;
  impl_->broken = true;
  return InDoubt(Message(status));
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
    impl_->receivers.push_back(std::make_unique<Receiver>(*impl_->session, std::string(channel)));
    return absl::OkStatus();
  } catch (const std::exception& e) {
    return impl_->Caught(e);
  }
}

absl::StatusOr<std::vector<Notification>> Connection::AwaitNotification(absl::Duration timeout) {
  if (impl_->broken) return absl::UnavailableError("the connection to the database is broken");
  try {
    const timespec ts = absl::ToTimespec(timeout);
    impl_->session->await_notification(ts.tv_sec, ts.tv_nsec / 1000);
    if (!impl_->session->is_open()) {
      impl_->broken = true;
      return absl::UnavailableError("the connection to the database is broken");
    }
    std::vector<Notification> told;
    for (const auto& receiver : impl_->receivers) {
      for (const std::string& payload : receiver->Take()) {
        told.push_back({receiver->channel(), payload});
      }
    }
    return told;
  } catch (const std::exception& e) {
    return impl_->Caught(e);
  }
}

bool Connection::broken() const { return impl_->broken; }

void Connection::Abort() {
  impl_->broken = true;
  if (impl_->socket >= 0) shutdown(impl_->socket, SHUT_RDWR);
}

}  // namespace tidemark
