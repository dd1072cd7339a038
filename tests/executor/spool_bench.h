// What the tests of the spool share: results, folders, a disk that is full.
#ifndef TIDEMARK_TESTS_EXECUTOR_SPOOL_BENCH_H_
#define TIDEMARK_TESTS_EXECUTOR_SPOOL_BENCH_H_

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/src/spool.h"
#include "tests/executor/temp_dir.h"

namespace tidemark::exec {

inline AttemptKey SpoolKey(int n) {
  char run_id[40];
  std::snprintf(run_id, sizeof run_id, "00000000-0000-7000-8000-%012d", n);
  return {run_id, 1};
}

inline v1::RunReport SpoolReport(int n) {
  v1::RunReport report;
  SetRef(SpoolKey(n), report.mutable_attempt());
  report.set_registration(5);
  report.mutable_finished()->set_message("message " + std::to_string(n));
  return report;
}

inline std::unique_ptr<Spool> OpenSpool(const std::string& dir,
                                        size_t segment_bytes = Spool::kSegmentBytes) {
  auto spool = Spool::Open(dir, segment_bytes);
  EXPECT_TRUE(spool.ok()) << spool.status();
  return spool.ok() ? *std::move(spool) : nullptr;
}

inline Spool::Loaded LoadSpool(const std::string& dir) {
  auto loaded = OpenSpool(dir)->Load();
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() ? *std::move(loaded) : Spool::Loaded{};
}

// "1 2a 3": numbers of the results, with an "a" when acknowledged.
inline std::string Summary(const Spool::Loaded& loaded) {
  std::string out;
  for (const SpooledResult& result : loaded.results) {
    const std::string& run_id = result.report.attempt().run_id();
    const int n = std::stoi(run_id.substr(run_id.size() - 12));
    EXPECT_EQ(result.report.finished().message(), "message " + std::to_string(n));
    out += (out.empty() ? "" : " ") + std::to_string(n) + (result.acknowledged ? "a" : "");
  }
  return out;
}

inline std::string FileBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void PutFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// Names and sizes of the files whose name ends so.
inline std::map<std::string, uintmax_t> FilesEnding(const std::string& dir,
                                                    const std::string& ending) {
  std::map<std::string, uintmax_t> out;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(ending)) out[name] = entry.file_size();
  }
  return out;
}

// While it lives no file of this process grows beyond `bytes`: a write that would is done in part,
// the next one fails, as on a full disk. It binds root, too.
class FullDisk {
 public:
  explicit FullDisk(size_t bytes) {
    before_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit tight{bytes, limit_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit limit_{};
  void (*before_)(int) = nullptr;
};

}  // namespace tidemark::exec

#endif  // TIDEMARK_TESTS_EXECUTOR_SPOOL_BENCH_H_
