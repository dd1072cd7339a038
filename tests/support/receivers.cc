#include "tests/support/receivers.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

namespace tidemark {
namespace {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The request line and headers, without the body.
HttpReceiver::Request ParseHead(const std::string& head) {
  HttpReceiver::Request request;
  size_t begin = head.find("\r\n");
  const std::string line = head.substr(0, begin);
  const size_t blank = line.find(' ');
  request.method = line.substr(0, blank);
  request.target = line.substr(blank + 1, line.rfind(' ') - blank - 1);
  for (begin += 2; begin < head.size();) {
    const size_t end = head.find("\r\n", begin);
    const std::string header = head.substr(begin, end - begin);
    const size_t colon = header.find(": ");
    if (colon != std::string::npos) {
      request.headers[Lower(header.substr(0, colon))] = header.substr(colon + 2);
    }
    begin = end + 2;
  }
  return request;
}

}  // namespace

HttpReceiver::HttpReceiver() : server_([this](TcpStream& stream) { Serve(stream); }) { Start(); }

void HttpReceiver::SetAnswer(Answer answer) {
  const MutexLock lock(&mutex_);
  answer_ = std::move(answer);
}

std::string HttpReceiver::Url(const std::string& target) const {
  return "http://127.0.0.1:" + std::to_string(server_.port()) + target;
}

std::vector<HttpReceiver::Request> HttpReceiver::Requests() {
  const MutexLock lock(&mutex_);
  return requests_;
}

void HttpReceiver::Serve(TcpStream& stream) {
  const std::string head = stream.ReadUntil("\r\n\r\n");
  if (head.empty()) return;
  Request request = ParseHead(head);
  const auto length = request.headers.find("content-length");
  if (length != request.headers.end()) {
    request.body = stream.ReadBytes(std::strtoul(length->second.c_str(), nullptr, 10));
  }
  Answer answer;
  {
    const MutexLock lock(&mutex_);
    requests_.push_back(request);
    answer = answer_;
  }
  const std::string start = "HTTP/1.1 " + std::to_string(answer.status) + " Said\r\n" +
                            answer.headers + "Connection: close\r\n";
  switch (answer.manner) {
    case Manner::kAnswer:
      stream.Write(start + "Content-Length: " + std::to_string(answer.body.size()) + "\r\n\r\n" +
                   answer.body);
      break;
    case Manner::kHang:
      stream.WaitForEnd();
      break;
    case Manner::kGarbage:
      stream.Write(std::string("\0\xff\x1b[2J no protocol at all\n", 27));
      break;
    case Manner::kEndless:
      stream.Write(start + "\r\n");
      for (int i = 0; i < 4096; ++i) stream.Write(std::string(4096, 'x'));
      stream.WaitForEnd();
      break;
    case Manner::kClose:
      break;
  }
}

SmtpReceiver::SmtpReceiver() : server_([this](TcpStream& stream) { Serve(stream); }) {
  server_.Start();
}

void SmtpReceiver::Refuse(const std::string& recipient) {
  const MutexLock lock(&mutex_);
  refused_ = recipient;
}

std::vector<SmtpReceiver::Mail> SmtpReceiver::Mails() {
  const MutexLock lock(&mutex_);
  return mails_;
}

void SmtpReceiver::Serve(TcpStream& stream) {
  Mail mail;
  stream.Write("220 test ready\r\n");
  for (std::string line = stream.ReadUntil("\r\n"); !line.empty();
       line = stream.ReadUntil("\r\n")) {
    line.resize(line.size() - 2);
    const std::string verb = Lower(line.substr(0, 4));
    if (verb == "mail") {
      mail.from = line.substr(10);
      stream.Write("250 ok\r\n");
    } else if (verb == "rcpt") {
      const std::string to = line.substr(8);
      const MutexLock lock(&mutex_);
      const bool refused = to == refused_;
      if (!refused) mail.to.push_back(to);
      stream.Write(refused ? "550 no such user here\r\n" : "250 ok\r\n");
    } else if (verb == "data") {
      stream.Write("354 go on\r\n");
      for (line = stream.ReadUntil("\r\n"); line != ".\r\n" && !line.empty();
           line = stream.ReadUntil("\r\n")) {
        mail.data += line[0] == '.' ? line.substr(1) : line;
      }
      const MutexLock lock(&mutex_);
      mails_.push_back(mail);
      stream.Write("250 taken\r\n");
    } else if (verb == "quit") {
      stream.Write("221 bye\r\n");
      return;
    } else {
      stream.Write("250 test\r\n");
    }
  }
}

}  // namespace tidemark
