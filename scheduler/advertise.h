// The address by which executors, operators and other nodes are told to reach a node.
#ifndef TIDEMARK_SCHEDULER_ADVERTISE_H_
#define TIDEMARK_SCHEDULER_ADVERTISE_H_

#include <string>

namespace tidemark {

// What is wrong with `advertise` (the setting; "": none), or "".
std::string AdvertiseProblem(const std::string& advertise);

// host:port. `listening`: what the server listens on, with its port. Without a setting that, or
// `host_name` and its port when it listens on all addresses of the machine. Port 0 in the setting
// is the port that it listens on.
std::string AdvertisedAddress(const std::string& advertise, const std::string& listening,
                              const std::string& host_name);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ADVERTISE_H_
