#include "scheduler/access/authorizer.h"

#include <string>

#include "common/text.h"

namespace tidemark {
namespace {

absl::Status Denied(const std::string& message) {
  return absl::PermissionDeniedError(ToAbsl(message));
}

std::string TokenOf(const Identity& identity) {
  return "the token of '" + identity.name + "' (" + identity.token_id + ")";
}

}  // namespace

absl::Status Authorize(const Identity& identity, std::string_view method) {
  const AccessRule* rule = FindAccessRule(method);
  if (rule == nullptr) return Denied("nobody may call " + std::string(method) + ": it has no rule");
  if (!identity.authenticated) return absl::OkStatus();
  if (rule->least == Role::kExecutor) {
    if (identity.role == Role::kExecutor) return absl::OkStatus();
    return Denied(TokenOf(identity) + " is an operator's (" + std::string(Name(identity.role)) +
                  "); an executor needs one of its app: tidemark token create --app APP");
  }
  if (identity.role == Role::kExecutor) {
    return Denied(TokenOf(identity) + " is for executors of app '" + identity.app +
                  "', which look at nothing and order nothing; use an operator's token: tidemark "
                  "token create --role viewer");
  }
  if (identity.role < rule->least) {
    return Denied(TokenOf(identity) + " has the role " + std::string(Name(identity.role)) + "; " +
                  std::string(method.substr(method.find('/') + 1)) + " takes " +
                  std::string(Name(rule->least)) +
                  ". An admin makes one: tidemark token create "
                  "--role " +
                  std::string(Name(rule->least)));
  }
  if (rule->object == ObjectKind::kShared && !identity.all_namespaces()) {
    return Denied(TokenOf(identity) + " is for namespace '" + identity.ns + "'; " +
                  std::string(method.substr(method.find('/') + 1)) +
                  " concerns all namespaces and takes a token for all: tidemark token create "
                  "without --namespace");
  }
  return absl::OkStatus();
}

absl::Status AuthorizeExecutor(const Identity& identity, std::string_view app,
                               std::string_view ns) {
  if (!identity.authenticated) return absl::OkStatus();
  if (identity.role != Role::kExecutor) return Authorize(identity, "ExecutorService/Connect");
  if (identity.app == app && identity.ns == ns) return absl::OkStatus();
  return Denied(TokenOf(identity) + " is for app '" + identity.app + "' in namespace '" +
                identity.ns + "'; this executor says that it is of app '" +
                EscapeControl(app.substr(0, 64)) + "' in namespace '" +
                EscapeControl(ns.substr(0, 64)) +
                "'. Make one for it: tidemark token create --app");
}

}  // namespace tidemark
