// Helpers for absl::Status, which in Debian 12's Abseil has neither macros nor annotation.
#ifndef TIDEMARK_COMMON_STATUS_H_
#define TIDEMARK_COMMON_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the enclosing function when `expr` (an absl::Status) is not OK.
#define TM_RETURN_IF_ERROR(expr)                                            \
  do {                                                                      \
    if (absl::Status tm_status = (expr); !tm_status.ok()) return tm_status; \
  } while (false)

// TM_ASSIGN_OR_RETURN(auto x, F()): assigns the value of a StatusOr, or returns its status.
#define TM_ASSIGN_OR_RETURN(lhs, expr) \
  TM_ASSIGN_OR_RETURN_IMPL(TM_CONCAT(tm_statusor_, __LINE__), lhs, expr)
#define TM_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return tmp.status();            \
  lhs = std::move(tmp).value()
#define TM_CONCAT(a, b) TM_CONCAT_IMPL(a, b)
#define TM_CONCAT_IMPL(a, b) a##b

namespace tidemark {

// The same code with "context: " before the message. OK stays OK.
inline absl::Status Annotate(const absl::Status& status, const std::string& context) {
  if (status.ok()) return status;
  return absl::Status(status.code(), context + ": " + std::string(status.message()));
}

// INVALID_ARGUMENT: what was asked cannot be done as it stands, and why.
inline absl::Status Invalid(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

// The message as a std::string (Debian's Abseil has a string_view of its own).
inline std::string Message(const absl::Status& status) { return std::string(status.message()); }

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_STATUS_H_
