// What all parts of the chaos driver use.
#ifndef TIDEMARK_TESTS_CHAOS_CHAOS_BASE_H_
#define TIDEMARK_TESTS_CHAOS_CHAOS_BASE_H_

#include <string>

#include "absl/status/status.h"

namespace tidemark {

// Says what is wrong and ends the program: the driver, not what it looks at, does not work.
[[noreturn]] void ChaosDie(const std::string& message);
void ChaosCheck(const absl::Status& status);

// A line of progress on stdout, with the seconds since the start.
void ChaosSay(const std::string& line);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_CHAOS_CHAOS_BASE_H_
