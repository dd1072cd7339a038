// For whom a request is carried out: what the stores show and what the audit says.
#ifndef TIDEMARK_SCHEDULER_ENGINE_CALLER_H_
#define TIDEMARK_SCHEDULER_ENGINE_CALLER_H_

#include <string>

namespace tidemark {

// The default sees everything and is anonymous.
struct Caller {
  std::string ns;        // "": all namespaces; else nothing else exists for it
  std::string token_id;  // "": nobody was asked
  std::string peer;      // address it came from

  bool Sees(const std::string& other) const { return ns.empty() || ns == other; }
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_CALLER_H_
