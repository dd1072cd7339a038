// Orders over the operator's service, many at once.
#ifndef TIDEMARK_TESTS_E2E_OPERATOR_CLIENT_H_
#define TIDEMARK_TESTS_E2E_OPERATOR_CLIENT_H_

#include <string>
#include <vector>

namespace tidemark {

// Triggers `job` `count` times at once, each from a thread of its own. Returns the run ids; a
// refused trigger is a failure of the test.
std::vector<std::string> TriggerAtOnce(const std::string& address, const std::string& job,
                                       int count);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_E2E_OPERATOR_CLIENT_H_
