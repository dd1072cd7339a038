// Who asks, as the credential says it; never as a message says it.
#ifndef TIDEMARK_SCHEDULER_ACCESS_IDENTITY_H_
#define TIDEMARK_SCHEDULER_ACCESS_IDENTITY_H_

#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

// Each of viewer, operator, admin may do what those before it may. An executor is none of them: it
// may open the executors' stream and nothing else.
enum class Role { kNone, kExecutor, kViewer, kOperator, kAdmin };

std::string_view Name(Role role);  // "viewer", …; as stored and shown
std::optional<Role> ParseRole(std::string_view name);

struct Identity {
  // False: the listener asks nobody who they are (--insecure, loopback alone). Then names in
  // messages are taken at their word.
  bool authenticated = false;
  Role role = Role::kNone;
  std::string token_id;  // "" when not authenticated
  std::string name;      // whose token it is: the actor of orders
  std::string ns;        // "": all namespaces; of an executor always its one namespace
  std::string app;       // executors: the one app it may register for

  bool all_namespaces() const { return ns.empty(); }
};

// Of everybody, where nobody is asked.
Identity InsecureIdentity();

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ACCESS_IDENTITY_H_
