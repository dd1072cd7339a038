// The one decision about access. Values in, decision out: it knows neither gRPC nor HTTP.
//
//   Authenticator::Authenticate   credential -> Identity
//   Authorize                     Identity + method -> yes or no
//   Identity::ns                  bounds the store that the handler gets (OperatorPort::As)
#ifndef TIDEMARK_SCHEDULER_ACCESS_AUTHORIZER_H_
#define TIDEMARK_SCHEDULER_ACCESS_AUTHORIZER_H_

#include <string_view>

#include "absl/status/status.h"
#include "scheduler/access/access_rules.h"
#include "scheduler/access/identity.h"

namespace tidemark {

// `method`: "OperatorService/ApplyJobs". PERMISSION_DENIED says which role it takes and which the
// caller has.
absl::Status Authorize(const Identity& identity, std::string_view method);

// Whether an executor of that app and namespace may register with this credential.
// PERMISSION_DENIED names what the token is for and what was said.
absl::Status AuthorizeExecutor(const Identity& identity, std::string_view app, std::string_view ns);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ACCESS_AUTHORIZER_H_
