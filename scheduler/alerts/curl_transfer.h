// What every transfer of libcurl has in common. Only for the clients of this folder.
#ifndef TIDEMARK_SCHEDULER_ALERTS_CURL_TRANSFER_H_
#define TIDEMARK_SCHEDULER_ALERTS_CURL_TRANSFER_H_

#include <curl/curl.h>

#include <atomic>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace tidemark {

struct TransferLimits {
  absl::Duration connect_timeout = absl::Seconds(5);
  absl::Duration total_timeout = absl::Seconds(10);
  size_t most_response = size_t{64} * 1024;  // bytes of a body that are kept; the rest is not read
  std::string ca_file;                       // "": the system's authorities
};

// One transfer: made, set up, performed once. `aborted` must outlive it; set from any thread, it
// ends the transfer within a second. Uses no signals. Used by one thread.
class CurlTransfer {
 public:
  // `protocols`: those that may be used, as "http,https"; redirects are never followed.
  CurlTransfer(const TransferLimits& limits, const char* protocols,
               const std::atomic<bool>& aborted);
  ~CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  template <typename T>
  void Set(CURLoption option, T value) {
    const CURLcode code = curl_easy_setopt(curl_, option, value);
    if (code != CURLE_OK && failed_ == CURLE_OK) failed_ = code;
  }
  // Adds to a list that lives as long as this; its option is set by Perform.
  void AddHeader(const std::string& line);
  void AddRecipient(const std::string& address);

  // DEADLINE_EXCEEDED, CANCELLED (aborted) or UNAVAILABLE, with libcurl's words.
  absl::Status Perform();

  CURL* handle() { return curl_; }
  const std::string& response() const { return response_; }
  bool response_cut() const { return response_cut_; }

 private:
  static size_t OnBody(char* data, size_t size, size_t count, void* self);
  static int OnProgress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
  absl::Status StatusOf(CURLcode code) const;

  const TransferLimits limits_;
  const std::atomic<bool>& aborted_;
  CURL* const curl_;
  CURLcode failed_ = CURLE_OK;  // of the first option that was refused
  curl_slist* headers_ = nullptr;
  curl_slist* recipients_ = nullptr;
  char error_[CURL_ERROR_SIZE] = "";
  std::string response_;
  bool response_cut_ = false;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ALERTS_CURL_TRANSFER_H_
