#include "tests/bench/hot/bench_postgres.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "common/status.h"
#include "scheduler/store/migrate.h"
#include "tests/bench/hot/bench_sql.h"
#include "tests/support/process.h"

namespace tidemark {

std::string BenchPostgres::Settings() {
  // No checkpoint falls into a measurement: its full-page images would be counted as a run's WAL.
  return "-c fsync=on -c synchronous_commit=on -c shared_buffers=1GB -c max_wal_size=16GB "
         "-c checkpoint_timeout=1h -c wal_buffers=64MB "
         "-c shared_preload_libraries=pg_stat_statements -c pg_stat_statements.max=10000 "
         "-c TimeZone=UTC";
}

BenchPostgres::BenchPostgres() {
  char dir[] = "/tmp/tidemark-bench-pg-XXXXXX";
  if (mkdtemp(dir) == nullptr) BenchDie("cannot make a folder in /tmp");
  file_ = std::string(dir) + "/postgres.url";
  const auto started =
      RunCommand({TIDEMARK_POSTGRES_SCRIPT, "start", file_, std::to_string(getpid())},
                 {{"TIDEMARK_POSTGRES_OPTIONS", Settings()}});
  if (!started.ok()) BenchDie(Message(started.status()));
  url_ = ReadFile(file_);
  url_.erase(url_.find_last_not_of('\n') + 1);
  folder_ = url_.substr(5, url_.find(' ') - 5);
  pid_ = std::atoi(ReadFile(folder_ + "/data/postmaster.pid").c_str());
  BenchSql sql(url_);
  if (sql.Text("SHOW fsync") != "on") BenchDie("PostgreSQL runs without fsync");
}

BenchPostgres::~BenchPostgres() {
  (void)RunCommand({TIDEMARK_POSTGRES_SCRIPT, "stop", file_});
  rmdir(file_.substr(0, file_.rfind('/')).c_str());
}

std::string BenchPostgres::MakeDatabase(const std::string& name, bool migrated) {
  BenchSql(url_).Text("CREATE DATABASE " + name);
  // Of two settings of one keyword the last wins.
  const std::string url = url_ + " dbname=" + name;
  BenchSql(url).Text("CREATE EXTENSION pg_stat_statements WITH SCHEMA public");
  if (!migrated) return url;
  DatabaseOptions options;
  options.url = url;
  absl::StatusOr<std::unique_ptr<Connection>> connection = Connection::Open(options);
  const absl::Status status =
      connection.ok() ? Migrate(**connection, options.schema) : connection.status();
  if (!status.ok()) BenchDie(Message(status));
  return url;
}

void BenchPostgres::DropDatabase(const std::string& name) {
  BenchSql(url_).Text("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
}

}  // namespace tidemark
