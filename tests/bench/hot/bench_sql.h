// A bare libpq session for benchmarks.
#ifndef TIDEMARK_TESTS_BENCH_HOT_BENCH_SQL_H_
#define TIDEMARK_TESTS_BENCH_HOT_BENCH_SQL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

struct pg_conn;

namespace tidemark {

// Ends the program with this message: a benchmark that fails has nothing to say. Processes and
// servers that it started end with it.
[[noreturn]] void BenchDie(const std::string& message);

// One session, search_path "tidemark", no statement timeout. Every error ends the program. Used by
// one thread.
class BenchSql {
 public:
  explicit BenchSql(const std::string& url);
  ~BenchSql();
  BenchSql(const BenchSql&) = delete;
  BenchSql& operator=(const BenchSql&) = delete;

  // Statements without parameters; the first column of the first row of the last one, "" for none.
  std::string Text(const std::string& statements);
  int64_t Int(const std::string& statement);
  double Double(const std::string& statement);
  // All rows, columns joined by "|".
  std::vector<std::string> Rows(const std::string& statement);
  // One statement with parameters as text; the number of rows that it changed or returned.
  int64_t Run(const char* statement, const std::vector<std::string>& params);
  // COPY … FROM STDIN: `line(&out)` appends one line with its end, or returns false at the end.
  void Copy(const std::string& statement, const std::function<bool(std::string*)>& line);

 private:
  pg_conn* connection_ = nullptr;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_BENCH_HOT_BENCH_SQL_H_
