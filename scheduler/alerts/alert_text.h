// An alert in words for people: one text for all channels, before any channel's format.
#ifndef TIDEMARK_SCHEDULER_ALERTS_ALERT_TEXT_H_
#define TIDEMARK_SCHEDULER_ALERTS_ALERT_TEXT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/engine/alert_delivery.h"

namespace tidemark {

enum class AlertLanguage { kEnglish, kChinese };

struct AlertStyle {
  AlertLanguage language = AlertLanguage::kEnglish;
  absl::TimeZone zone = absl::UTCTimeZone();  // of the times that people read
};

// Plain text: no control characters, no markup of its own, one line each. What users named is in
// it, so a format must escape what means something to it.
struct AlertText {
  std::string title;               // at most 200 bytes
  std::vector<std::string> lines;  // without the title
};

// A digest has one line an alert, as many as fit its size.
AlertText WriteAlertText(const AlertMessage& message, const AlertStyle& style);

// Title and lines joined by line feeds, at most `limit` bytes.
std::string JoinText(const AlertText& text, size_t limit);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_ALERT_TEXT_H_
