// iCalendar files from arbitrary bytes: reading never crashes, and what it gives is in order.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "scheduler/core/time/calendar.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::CivilDay last(2035, 12, 31);
  const auto dates = tidemark::DatesFromICalendar(text, last);
  if (!dates.ok()) {
    if (dates.status().message().empty()) std::abort();
    return 0;
  }
  if (dates->empty() || !std::is_sorted(dates->begin(), dates->end())) std::abort();
  if (dates->back() > last) std::abort();
  return 0;
}
