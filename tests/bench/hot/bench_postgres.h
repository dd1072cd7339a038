// A private PostgreSQL for benchmarks: fsync on, as a server in production would have it.
#ifndef TIDEMARK_TESTS_BENCH_HOT_BENCH_POSTGRES_H_
#define TIDEMARK_TESTS_BENCH_HOT_BENCH_POSTGRES_H_

#include <sys/types.h>

#include <string>

namespace tidemark {

// Runs from construction to destruction, or to the end of the program. Used by one thread.
class BenchPostgres {
 public:
  BenchPostgres();
  ~BenchPostgres();
  BenchPostgres(const BenchPostgres&) = delete;
  BenchPostgres& operator=(const BenchPostgres&) = delete;

  // A fresh database with the scheduler's schema ("" for none of it: an empty one); its URL.
  std::string MakeDatabase(const std::string& name, bool migrated = true);
  void DropDatabase(const std::string& name);

  pid_t pid() const { return pid_; }              // the postmaster
  std::string folder() const { return folder_; }  // on the data's file system
  // What differs from PostgreSQL's defaults, as command-line options.
  static std::string Settings();

 private:
  std::string file_;
  std::string folder_;
  std::string url_;
  pid_t pid_ = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_BENCH_HOT_BENCH_POSTGRES_H_
