// An alert as a mail.
#ifndef TIDEMARK_SCHEDULER_ALERTS_MAIL_FORMAT_H_
#define TIDEMARK_SCHEDULER_ALERTS_MAIL_FORMAT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/alerts/alert_text.h"
#include "scheduler/engine/alert_delivery.h"

namespace tidemark {

struct MailHead {
  std::string from;  // plain addresses (MailAddressProblem)
  std::vector<std::string> to;
  absl::Time date;
};

// Headers and body, lines ended by CR LF. The subject is encoded, the body Base64: nothing in an
// alert can become a header or a line of SMTP. The messages of one alert form a thread.
std::string WriteMail(const AlertMessage& message, const AlertText& text, const MailHead& head);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_MAIL_FORMAT_H_
