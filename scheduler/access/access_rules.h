// The table of what may be called by whom: one row a method of every service. A test compares it
// with the services' descriptors, so a method without a row does not pass; at run time it is
// refused.
#ifndef TIDEMARK_SCHEDULER_ACCESS_ACCESS_RULES_H_
#define TIDEMARK_SCHEDULER_ACCESS_ACCESS_RULES_H_

#include <string_view>
#include <vector>

#include "scheduler/access/identity.h"

namespace tidemark {

// What a method works on, and so how its namespace is judged. Everything but kShared and kCluster
// is read through a store that shows the caller's namespace alone: what is foreign does not exist.
enum class ObjectKind {
  kList,      // answers with what the caller may see
  kJob,       // named by `field`
  kJobSpecs,  // definitions, each with its namespace
  kRun,
  kBackfill,
  kDrill,
  kExecutor,
  kAlert,
  kSilence,
  kToken,
  kApproval,
  kShared,   // belongs to all namespaces: changing it takes a token for all of them
  kCluster,  // about the service itself; anybody with the role
  kStream,   // the executors' stream; its app and namespace are the token's
};

struct AccessRule {
  std::string_view method;  // "OperatorService/ApplyJobs"
  Role least = Role::kAdmin;
  ObjectKind object = ObjectKind::kList;
  std::string_view field;  // of the request, that names the object; "": none
  bool changes = false;    // leaves a row in the audit
};

const std::vector<AccessRule>& AccessRules();
// Null for a method that has none: refuse it.
const AccessRule* FindAccessRule(std::string_view method);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ACCESS_ACCESS_RULES_H_
