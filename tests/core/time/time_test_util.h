// Short forms for tests of time: values from text, and a failure where the text is wrong.
#ifndef TIDEMARK_TESTS_CORE_TIME_TIME_TEST_UTIL_H_
#define TIDEMARK_TESTS_CORE_TIME_TIME_TEST_UTIL_H_

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/core/time/cron.h"
#include "scheduler/core/time/schedule.h"
#include "scheduler/core/time/zone.h"

namespace tidemark {

template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::cerr << "unexpected: " << value.status() << std::endl;
    std::abort();
  }
  return *std::move(value);
}

inline absl::TimeZone Zone(std::string_view name) { return Must(LoadZone(name)); }

// RFC 3339 with offset and optional fraction.
inline absl::Time At(const std::string& text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
    std::cerr << "bad time in a test: " << text << ": " << error << std::endl;
    std::abort();
  }
  return time;
}

inline std::string Text(absl::Time time, const absl::TimeZone& zone) {
  std::string text = absl::FormatTime("%Y-%m-%dT%H:%M:%S%Ez", time, zone);
  const std::string zero = "+00:00";
  if (text.size() > zero.size() && text.substr(text.size() - 6) == zero && zone.name() == "UTC") {
    text.replace(text.size() - 6, 6, "Z");
  }
  return text;
}

inline absl::CivilDay Day(int year, int month, int day) { return absl::CivilDay(year, month, day); }

inline std::string Reason(const absl::Status& status) { return std::string(status.message()); }

// A cron schedule with its zone, all else by default.
inline ScheduleSpec CronSpec(std::string cron, std::string zone) {
  ScheduleSpec spec;
  spec.cron = std::move(cron);
  spec.zone = std::move(zone);
  return spec;
}

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_CORE_TIME_TIME_TEST_UTIL_H_
