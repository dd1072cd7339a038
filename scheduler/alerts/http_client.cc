#include "scheduler/alerts/http_client.h"

#include "common/status.h"
#include "common/text.h"
#include "common/version.h"

namespace tidemark {

absl::StatusOr<HttpResponse> HttpClient::Send(const HttpRequest& request) {
  CurlTransfer transfer(limits_, "http,https", aborted_);
  if (transfer.handle() == nullptr) return absl::UnavailableError("libcurl cannot be started");
  if (aborted_) return absl::CancelledError("the scheduler is stopping");
  transfer.Set(CURLOPT_URL, request.url.c_str());
  transfer.Set(CURLOPT_USERAGENT, (std::string("tidemark/") + kVersion).c_str());
  if (request.method != "GET") {
    transfer.Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    transfer.Set(CURLOPT_POSTFIELDS, request.body.data());
    transfer.Set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    // Bodies are small: no asking whether they are wanted.
    transfer.AddHeader("Expect:");
  }
  for (const auto& [name, value] : request.headers) {
    if ((name + value).find_first_of("\r\n") != std::string::npos) {
      return absl::InvalidArgumentError(
          ToAbsl("header " + EscapeControl(name) + " has a line break"));
    }
    transfer.AddHeader(name + ": " + value);
  }
  TM_RETURN_IF_ERROR(transfer.Perform());
  long status = 0;
  curl_easy_getinfo(transfer.handle(), CURLINFO_RESPONSE_CODE, &status);
  return HttpResponse{static_cast<int>(status), transfer.response(), transfer.response_cut()};
}

}  // namespace tidemark
