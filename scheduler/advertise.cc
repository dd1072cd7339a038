#include "scheduler/advertise.h"

#include <optional>

#include "common/address.h"

namespace tidemark {
namespace {

bool IsWildcard(const std::string& host) {
  return host == "0.0.0.0" || host == "::" || host == "*";
}

}  // namespace

std::string AdvertiseProblem(const std::string& advertise) {
  if (advertise.empty()) return "";
  const std::optional<HostPort> address = ParseAddress(advertise);
  if (!address.has_value()) {
    return "--advertise " + advertise + " is not HOST:PORT, as scheduler-1.example:7400";
  }
  if (IsWildcard(address->host)) {
    return "--advertise " + advertise +
           " is an address to listen on, and none to connect to: give the name by which executors "
           "and operators reach this node";
  }
  return "";
}

std::string AdvertisedAddress(const std::string& advertise, const std::string& listening,
                              const std::string& host_name) {
  const std::string port = listening.substr(listening.rfind(':'));
  if (!advertise.empty()) {
    const std::optional<HostPort> address = ParseAddress(advertise);
    if (!address.has_value() || address->port != 0) return advertise;
    return advertise.substr(0, advertise.rfind(':')) + port;
  }
  const std::optional<HostPort> address = ParseAddress(listening);
  return address.has_value() && IsWildcard(address->host) ? host_name + port : listening;
}

}  // namespace tidemark
