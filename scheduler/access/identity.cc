#include "scheduler/access/identity.h"

#include <array>
#include <utility>

namespace tidemark {
namespace {

constexpr std::array<std::pair<Role, std::string_view>, 5> kNames = {{{Role::kNone, "none"},
                                                                      {Role::kExecutor, "executor"},
                                                                      {Role::kViewer, "viewer"},
                                                                      {Role::kOperator, "operator"},
                                                                      {Role::kAdmin, "admin"}}};

}  // namespace

std::string_view Name(Role role) {
  for (const auto& [value, name] : kNames) {
    if (value == role) return name;
  }
  return "none";
}

std::optional<Role> ParseRole(std::string_view name) {
  for (const auto& [value, text] : kNames) {
    if (text == name && value != Role::kNone) return value;
  }
  return std::nullopt;
}

Identity InsecureIdentity() {
  Identity everybody;
  everybody.role = Role::kAdmin;
  return everybody;
}

}  // namespace tidemark
