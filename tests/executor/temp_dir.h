// A folder that vanishes with the test.
#ifndef TIDEMARK_TESTS_EXECUTOR_TEMP_DIR_H_
#define TIDEMARK_TESTS_EXECUTOR_TEMP_DIR_H_

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tidemark {

class TempDir {
 public:
  TempDir() {
    std::string pattern = std::filesystem::temp_directory_path() / "tidemark-test-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_EXECUTOR_TEMP_DIR_H_
