#include "tests/support/migrated_database.h"

#include <cstdio>
#include <cstdlib>

#include "common/status.h"
#include "scheduler/store/migrate.h"
#include "tests/support/pooler.h"

// libpqxx 6.4 loses a result of some hundred bytes each time a connection breaks under a statement,
// which these tests make happen on purpose.
extern "C" const char* __lsan_default_suppressions() { return "leak:libpqxx"; }

namespace tidemark {
namespace {

void Must(const absl::Status& status, const std::string& what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", what.c_str(), Message(status).c_str());
  std::abort();
}

DatabaseOptions OptionsFor(const std::string& url) {
  DatabaseOptions options;
  options.url = url;
  options.application_name = "tidemark test";
  return options;
}

std::unique_ptr<Connection> MustConnect(const DatabaseOptions& options) {
  auto connection = Connection::Open(options);
  Must(connection.status(), "connect");
  return *std::move(connection);
}

// Named by what is in it, so that a server that outlives a rebuild gives no stale copy.
std::string TemplateName() {
  std::string all;
  for (const Migration& m : EmbeddedMigrations()) all += m.sql;
  return "template_" + MigrationChecksum(all);
}

// CREATE DATABASE runs in no transaction, so the lock is one of a second session.
std::string MakeTemplate() {
  const std::string name = TemplateName();
  const std::string server = TestServerUrl();
  const std::unique_ptr<Connection> holder = MustConnect(OptionsFor(server));
  Must(holder->Transact([&](SqlTransaction& transaction) -> absl::Status {
    TM_RETURN_IF_ERROR(transaction.Run("SELECT pg_advisory_xact_lock(7400)").status());
    TM_ASSIGN_OR_RETURN(const SqlRows rows,
                        transaction.Run("SELECT 1 FROM pg_database WHERE datname = $1", {name}));
    if (!rows.empty()) return absl::OkStatus();
    {
      const TestDatabase building;
      const DatabaseOptions options = OptionsFor(building.url());
      Must(Migrate(*MustConnect(options), options.schema), "migrate the template");
      building.CopyAs(name);
    }
    return absl::OkStatus();
  }),
       "make the template");
  return name;
}

}  // namespace

MigratedDatabase::MigratedDatabase() : database_(MakeTemplate()) {}

DatabaseOptions MigratedDatabase::options() const {
  if (std::getenv("TIDEMARK_TEST_POOLED") == nullptr) return OptionsFor(url());
  static const Pooler pooler(TestServerUrl());
  return OptionsFor(pooler.Through(url()));
}

std::unique_ptr<Connection> MigratedDatabase::Connect() const { return MustConnect(options()); }

std::string MigratedDatabase::Sql(const std::string& statement,
                                  const std::vector<SqlParam>& params) {
  if (connection_ == nullptr) connection_ = MustConnect(OptionsFor(url()));
  const auto rows = connection_->RunOne(statement, params);
  Must(rows.status(), statement);
  return rows->empty() ? "" : rows->Text(0, 0);
}

std::vector<std::string> MigratedDatabase::Rows(const std::string& statement,
                                                const std::vector<SqlParam>& params) {
  if (connection_ == nullptr) connection_ = MustConnect(OptionsFor(url()));
  const auto rows = connection_->RunOne(statement, params);
  Must(rows.status(), statement);
  std::vector<std::string> lines;
  for (int i = 0; i < rows->size(); ++i) {
    std::string line;
    for (int c = 0; c < rows->columns(); ++c) {
      if (c > 0) line += '|';
      line += rows->IsNull(i, c) ? "-" : rows->Text(i, c);
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace tidemark
