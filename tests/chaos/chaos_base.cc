#include "tests/chaos/chaos_base.h"

#include <cstdio>
#include <cstdlib>

#include "common/clock.h"
#include "common/status.h"

namespace tidemark {

void ChaosDie(const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "tidemark-chaos: %s\n", message.c_str());
  // Everything that was started is killed by the kernel when this process ends.
  std::_Exit(3);
}

void ChaosCheck(const absl::Status& status) {
  if (!status.ok()) ChaosDie(Message(status));
}

void ChaosSay(const std::string& line) {
  static const absl::Duration start = SystemClock().Monotonic();
  std::printf("%7.1f  %s\n", absl::ToDoubleSeconds(SystemClock().Monotonic() - start),
              line.c_str());
  std::fflush(stdout);
}

}  // namespace tidemark
