#include "scheduler/alerts/curl_transfer.h"

#include <algorithm>
#include <cstdint>

#include "common/text.h"
#include "common/time_text.h"

namespace tidemark {
namespace {

CURL* NewHandle() {
  // libcurl wants this once a process, before any handle.
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  return ready == CURLE_OK ? curl_easy_init() : nullptr;
}

}  // namespace

CurlTransfer::CurlTransfer(const TransferLimits& limits, const char* protocols,
                           const std::atomic<bool>& aborted)
    : limits_(limits), aborted_(aborted), curl_(NewHandle()) {
  Set(CURLOPT_NOSIGNAL, 1L);
  Set(CURLOPT_PROTOCOLS_STR, protocols);
  Set(CURLOPT_FOLLOWLOCATION, 0L);
  Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(absl::ToInt64Milliseconds(
                                     std::min(limits_.connect_timeout, limits_.total_timeout))));
  Set(CURLOPT_TIMEOUT_MS, static_cast<long>(absl::ToInt64Milliseconds(limits_.total_timeout)));
  Set(CURLOPT_ERRORBUFFER, error_);
  Set(CURLOPT_WRITEFUNCTION, &CurlTransfer::OnBody);
  Set(CURLOPT_WRITEDATA, this);
  Set(CURLOPT_NOPROGRESS, 0L);
  Set(CURLOPT_XFERINFOFUNCTION, &CurlTransfer::OnProgress);
  Set(CURLOPT_XFERINFODATA, this);
  Set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!limits_.ca_file.empty()) Set(CURLOPT_CAINFO, limits_.ca_file.c_str());
}

CurlTransfer::~CurlTransfer() {
  curl_easy_cleanup(curl_);
  curl_slist_free_all(headers_);
  curl_slist_free_all(recipients_);
}

void CurlTransfer::AddHeader(const std::string& line) {
  headers_ = curl_slist_append(headers_, line.c_str());
}

void CurlTransfer::AddRecipient(const std::string& address) {
  recipients_ = curl_slist_append(recipients_, address.c_str());
}

size_t CurlTransfer::OnBody(char* data, size_t size, size_t count, void* self) {
  auto* transfer = static_cast<CurlTransfer*>(self);
  const size_t bytes = size * count;
  const size_t room = transfer->limits_.most_response - transfer->response_.size();
  transfer->response_.append(data, std::min(bytes, room));
  if (bytes <= room) return bytes;
  transfer->response_cut_ = true;
  return 0;  // ends the transfer
}

int CurlTransfer::OnProgress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<CurlTransfer*>(self)->aborted_ ? 1 : 0;
}

absl::Status CurlTransfer::StatusOf(CURLcode code) const {
  if (code == CURLE_OK || (code == CURLE_WRITE_ERROR && response_cut_)) return absl::OkStatus();
  if (code == CURLE_ABORTED_BY_CALLBACK) {
    return absl::CancelledError("the scheduler is stopping");
  }
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return absl::DeadlineExceededError(
        ToAbsl("no answer within " + DurationText(limits_.total_timeout) + " (" +
               (error_[0] != '\0' ? error_ : curl_easy_strerror(code)) + ")"));
  }
  return absl::UnavailableError(error_[0] != '\0' ? error_ : curl_easy_strerror(code));
}

absl::Status CurlTransfer::Perform() {
  if (curl_ == nullptr) return absl::UnavailableError("libcurl cannot be started");
  if (headers_ != nullptr) Set(CURLOPT_HTTPHEADER, headers_);
  if (recipients_ != nullptr) Set(CURLOPT_MAIL_RCPT, recipients_);
  if (failed_ != CURLE_OK) return StatusOf(failed_);
  return StatusOf(curl_easy_perform(curl_));
}

}  // namespace tidemark
