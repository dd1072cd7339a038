#include "tests/bench/hot/bench_sql.h"

#include <libpq-fe.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace tidemark {
namespace {

using Result = std::unique_ptr<PGresult, decltype(&PQclear)>;

Result Checked(PGconn* connection, PGresult* result, const std::string& statement) {
  const ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_COPY_IN) {
    return {result, PQclear};
  }
  BenchDie(std::string(PQerrorMessage(connection)) + statement.substr(0, 500));
}

}  // namespace

void BenchDie(const std::string& message) {
  std::fprintf(stderr, "tidemark_bench: %s\n", message.c_str());
  std::exit(1);
}

BenchSql::BenchSql(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
  if (PQstatus(connection_) != CONNECTION_OK) BenchDie(PQerrorMessage(connection_));
  Text("SET client_min_messages = warning; SET search_path = tidemark, public; SET jit = off");
}

BenchSql::~BenchSql() { PQfinish(connection_); }

std::string BenchSql::Text(const std::string& statements) {
  const Result result = Checked(connection_, PQexec(connection_, statements.c_str()), statements);
  return PQntuples(result.get()) == 0 ? "" : PQgetvalue(result.get(), 0, 0);
}

int64_t BenchSql::Int(const std::string& statement) { return std::atoll(Text(statement).c_str()); }

double BenchSql::Double(const std::string& statement) { return std::atof(Text(statement).c_str()); }

std::vector<std::string> BenchSql::Rows(const std::string& statement) {
  const Result result = Checked(connection_, PQexec(connection_, statement.c_str()), statement);
  std::vector<std::string> rows;
  for (int i = 0; i < PQntuples(result.get()); ++i) {
    std::string row;
    for (int column = 0; column < PQnfields(result.get()); ++column) {
      if (column > 0) row += "|";
      row += PQgetvalue(result.get(), i, column);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

int64_t BenchSql::Run(const char* statement, const std::vector<std::string>& params) {
  std::vector<const char*> values;
  values.reserve(params.size());
  for (const std::string& param : params) values.push_back(param.c_str());
  const Result result =
      Checked(connection_,
              PQexecParams(connection_, statement, static_cast<int>(values.size()), nullptr,
                           values.data(), nullptr, nullptr, 0),
              statement);
  const char* changed = PQcmdTuples(result.get());
  return *changed == '\0' ? PQntuples(result.get()) : std::atoll(changed);
}

void BenchSql::Copy(const std::string& statement, const std::function<bool(std::string*)>& line) {
  constexpr size_t kChunk = 1 << 16;
  Checked(connection_, PQexec(connection_, statement.c_str()), statement);
  std::string buffer;
  bool more = true;
  while (more) {
    more = line(&buffer);
    if (buffer.size() < kChunk && more) continue;
    if (PQputCopyData(connection_, buffer.data(), static_cast<int>(buffer.size())) != 1) {
      BenchDie(PQerrorMessage(connection_));
    }
    buffer.clear();
  }
  if (PQputCopyEnd(connection_, nullptr) != 1) BenchDie(PQerrorMessage(connection_));
  while (PGresult* result = PQgetResult(connection_)) Checked(connection_, result, statement);
}

}  // namespace tidemark
