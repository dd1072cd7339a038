#include "scheduler/alerts/smtp_client.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "common/status.h"
#include "common/text.h"

namespace tidemark {
namespace {

// Hands the mail out piece by piece; libcurl doubles dots at the beginning of lines.
size_t ReadMail(char* out, size_t size, size_t count, void* data) {
  auto* rest = static_cast<std::string_view*>(data);
  const size_t bytes = std::min(size * count, rest->size());
  std::memcpy(out, rest->data(), bytes);
  rest->remove_prefix(bytes);
  return bytes;
}

}  // namespace

std::string MailAddressProblem(const std::string& address) {
  const size_t at = address.find('@');
  const bool printable = std::all_of(address.begin(), address.end(), [](char c) {
    return c > ' ' && c < 0x7F && std::strchr("<>\"(),:;[]\\", c) == nullptr;
  });
  if (printable && at != std::string::npos && at > 0 && at + 1 < address.size() &&
      address.find('@', at + 1) == std::string::npos && address.size() <= 254) {
    return "";
  }
  return "\"" + EscapeControl(address) + "\" is not a plain mail address, as ops@example.com";
}

absl::StatusOr<int> SmtpClient::Send(const SmtpServer& server, const SmtpMail& mail) {
  CurlTransfer transfer(limits_, "smtp,smtps", aborted_);
  if (transfer.handle() == nullptr) return absl::UnavailableError("libcurl cannot be started");
  if (aborted_) return absl::CancelledError("the scheduler is stopping");
  const std::string scheme = server.tls == SmtpTls::kTls ? "smtps://" : "smtp://";
  transfer.Set(CURLOPT_URL, (scheme + server.address).c_str());
  transfer.Set(CURLOPT_USE_SSL,
               static_cast<long>(server.tls == SmtpTls::kNone ? CURLUSESSL_NONE : CURLUSESSL_ALL));
  if (!server.user.empty()) {
    transfer.Set(CURLOPT_USERNAME, server.user.c_str());
    transfer.Set(CURLOPT_PASSWORD, server.password.c_str());
  }
  transfer.Set(CURLOPT_MAIL_FROM, ("<" + mail.from + ">").c_str());
  for (const std::string& to : mail.to) transfer.AddRecipient("<" + to + ">");
  std::string_view rest = mail.data;
  transfer.Set(CURLOPT_UPLOAD, 1L);
  transfer.Set(CURLOPT_READFUNCTION, &ReadMail);
  transfer.Set(CURLOPT_READDATA, static_cast<void*>(&rest));
  TM_RETURN_IF_ERROR(transfer.Perform());
  long code = 0;
  curl_easy_getinfo(transfer.handle(), CURLINFO_RESPONSE_CODE, &code);
  return static_cast<int>(code);
}

}  // namespace tidemark
