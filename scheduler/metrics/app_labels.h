// Bounds how many values a label has.
#ifndef TIDEMARK_SCHEDULER_METRICS_APP_LABELS_H_
#define TIDEMARK_SCHEDULER_METRICS_APP_LABELS_H_

#include <cstddef>
#include <set>
#include <string>

namespace tidemark {

// The first `most` apps that are seen keep their names, for ever; all later ones are "other". Not
// thread-safe.
class AppLabels {
 public:
  explicit AppLabels(size_t most) : most_(most) {}

  // The value for `app`: valid UTF-8.
  std::string Of(const std::string& app);

 private:
  const size_t most_;
  std::set<std::string> known_;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_METRICS_APP_LABELS_H_
