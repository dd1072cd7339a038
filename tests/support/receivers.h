// Receivers of alerts: an HTTP and an SMTP server that keep what they were sent.
#ifndef TIDEMARK_TESTS_SUPPORT_RECEIVERS_H_
#define TIDEMARK_TESTS_SUPPORT_RECEIVERS_H_

#include <map>
#include <string>
#include <vector>

#include "tests/support/tcp_server.h"

namespace tidemark {

// Thread-safe but for Start and Stop.
class HttpReceiver {
 public:
  struct Request {
    std::string method;
    std::string target;
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;
  };
  enum class Manner {
    kAnswer,
    kHang,     // takes the request, says nothing
    kGarbage,  // no HTTP
    kEndless,  // a body that does not end
    kClose     // takes the request, closes
  };
  struct Answer {
    int status = 200;
    std::string body = "ok";
    std::string headers;  // lines with their ends
    Manner manner = Manner::kAnswer;
  };

  HttpReceiver();  // starts
  void Start() { server_.Start(); }
  void Stop() { server_.Stop(); }
  // From now on.
  void SetAnswer(Answer answer);
  std::string Url(const std::string& target) const;
  std::vector<Request> Requests();
  size_t Count() { return Requests().size(); }

 private:
  void Serve(TcpStream& stream);

  Mutex mutex_;
  Answer answer_ ABSL_GUARDED_BY(mutex_);
  std::vector<Request> requests_ ABSL_GUARDED_BY(mutex_);
  TcpServer server_;  // last: its threads use the rest
};

// Speaks as much SMTP as is needed, without TLS.
class SmtpReceiver {
 public:
  struct Mail {
    std::string from;             // as given, with <>
    std::vector<std::string> to;  // likewise
    std::string data;             // dots undone
  };

  SmtpReceiver();  // starts
  void Stop() { server_.Stop(); }
  // "": all recipients are taken; else those that are refused, with <>.
  void Refuse(const std::string& recipient);
  std::string Address() const { return "127.0.0.1:" + std::to_string(server_.port()); }
  std::vector<Mail> Mails();

 private:
  void Serve(TcpStream& stream);

  Mutex mutex_;
  std::string refused_ ABSL_GUARDED_BY(mutex_);
  std::vector<Mail> mails_ ABSL_GUARDED_BY(mutex_);
  TcpServer server_;
};

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_SUPPORT_RECEIVERS_H_
