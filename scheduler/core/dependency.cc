#include "scheduler/core/dependency.h"

#include "scheduler/core/catch_up.h"

namespace tidemark {

std::string Text(const UpstreamDate& date) {
  return date.job + "@" + absl::FormatCivilTime(date.date);
}

bool HoldsBack(const Timeline& upstream, absl::CivilDay first, absl::CivilDay date,
               std::string_view status, std::string_view reason) {
  if (date < first || !upstream.dated() || IsSettled(status, reason)) return false;
  return upstream.OccurrenceOf(date).has_value();
}

}  // namespace tidemark
