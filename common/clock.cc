#include "common/clock.h"

#include <ctime>

namespace tidemark {
namespace {

class RealClock : public Clock {
 public:
  absl::Time WallNow() const override {
    timespec ts{};
    clock_gettime(CLOCK_REALTIME, &ts);
    return absl::TimeFromTimespec(ts);
  }
  absl::Duration Monotonic() const override {
    timespec ts{};
    clock_gettime(CLOCK_BOOTTIME, &ts);
    return absl::DurationFromTimespec(ts);
  }
};

}  // namespace

Clock& SystemClock() {
  static RealClock* clock = new RealClock;
  return *clock;
}

}  // namespace tidemark
