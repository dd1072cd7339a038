// Takes secrets out of what others wrote, before it reaches a log, a table or a person.
#ifndef TIDEMARK_SCHEDULER_ALERTS_REDACT_H_
#define TIDEMARK_SCHEDULER_ALERTS_REDACT_H_

#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// A value.
class Redactor {
 public:
  void AddSecret(std::string_view secret);
  // Path, query, each long part of them, and user and password.
  void AddUrl(std::string_view url);
  // `text` with *** for each of them.
  std::string Clean(std::string text) const;

 private:
  std::vector<std::string> secrets_;  // the longest first
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_REDACT_H_
