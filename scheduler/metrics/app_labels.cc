#include "scheduler/metrics/app_labels.h"

namespace tidemark {

std::string AppLabels::Of(const std::string& app) {
  if (known_.contains(app)) return app;
  if (known_.size() >= most_) return "other";
  known_.insert(app);
  return app;
}

}  // namespace tidemark
