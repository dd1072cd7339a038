// Files of a private authority, for tests.
#ifndef TIDEMARK_TESTS_CHANNEL_TLS_DIR_H_
#define TIDEMARK_TESTS_CHANNEL_TLS_DIR_H_

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/tls_files.h"
#include "scheduler/cli/certificates.h"

namespace tidemark {

// A folder that ends with it.
class TlsDir {
 public:
  TlsDir() {
    char path[] = "/tmp/tidemark-tls-XXXXXX";
    dir_ = mkdtemp(path);
    ca_ = MakeAuthority("test", Now() - absl::Hours(1), Now() + absl::Hours(24)).value();
    Write("ca.crt", ca_.cert);
  }
  ~TlsDir() {
    std::error_code error;
    std::filesystem::remove_all(dir_, error);
  }
  TlsDir(const TlsDir&) = delete;
  TlsDir& operator=(const TlsDir&) = delete;

  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  void Write(const std::string& name, const std::string& text) const {
    // As tidemark tls issue --renew does: in one step.
    std::ofstream(Path(name + ".new")) << text;
    chmod(Path(name + ".new").c_str(), 0600);
    std::filesystem::rename(Path(name + ".new"), Path(name));
  }
  // Makes NAME.crt and NAME.key.
  TlsFiles Issue(const std::string& name, const std::vector<std::string>& hosts,
                 absl::Duration left = absl::Hours(1)) const {
    const PemPair pair =
        MakeCertificate(ca_, name, hosts, Now() - absl::Hours(2), Now() + left).value();
    Write(name + ".key", pair.key);
    Write(name + ".crt", pair.cert);
    return {Path(name + ".crt"), Path(name + ".key"), ""};
  }
  static absl::Time Now() { return SystemClock().WallNow(); }

 private:
  std::string dir_;
  PemPair ca_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_CHANNEL_TLS_DIR_H_
