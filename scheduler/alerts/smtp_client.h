// Sends mail to a server.
#ifndef TIDEMARK_SCHEDULER_ALERTS_SMTP_CLIENT_H_
#define TIDEMARK_SCHEDULER_ALERTS_SMTP_CLIENT_H_

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/alerts/curl_transfer.h"

namespace tidemark {

enum class SmtpTls {
  kNone,      // plain text
  kStartTls,  // required: a server without it is refused
  kTls        // from the first byte
};

struct SmtpServer {
  std::string address;  // host:port
  SmtpTls tls = SmtpTls::kStartTls;
  std::string user;  // "": no login
  std::string password;
};

struct SmtpMail {
  std::string from;             // plain addresses, checked by the caller (MailAddressProblem)
  std::vector<std::string> to;  // all must be accepted
  std::string data;             // headers and body, lines ended by CR LF
};

// Each mail has a connection of its own. Thread-safe.
class SmtpClient {
 public:
  explicit SmtpClient(TransferLimits limits) : limits_(std::move(limits)) {}

  // Returns the server's last reply code. Errors as HttpClient.
  absl::StatusOr<int> Send(const SmtpServer& server, const SmtpMail& mail);
  void Abort() { aborted_ = true; }

 private:
  const TransferLimits limits_;
  std::atomic<bool> aborted_ = false;
};

// What is wrong with an address for an envelope or a header, or "": one @, printable ASCII, none of
// the characters that could end it.
std::string MailAddressProblem(const std::string& address);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_SMTP_CLIENT_H_
