#include "tests/support/https_client.h"

#include <curl/curl.h>

#include <memory>

namespace tidemark {
namespace {

size_t Keep(const char* data, size_t size, size_t count, void* to) {
  static_cast<std::string*>(to)->append(data, size * count);
  return size * count;
}

}  // namespace

HttpsAnswer CallHttps(const HttpsCall& call) {
  HttpsAnswer answer;
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(), curl_easy_cleanup);
  curl_slist* headers = curl_slist_append(nullptr, "Content-Type: application/json");
  if (!call.token.empty()) {
    headers = curl_slist_append(headers, ("Authorization: Bearer " + call.token).c_str());
  }
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> owned(headers, curl_slist_free_all);
  curl_easy_setopt(curl.get(), CURLOPT_URL, call.url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, 20L);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, Keep);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &answer.body);
  if (!call.json.empty()) curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, call.json.c_str());
  if (!call.ca.empty()) curl_easy_setopt(curl.get(), CURLOPT_CAINFO, call.ca.c_str());
  if (!call.cert.empty()) {
    curl_easy_setopt(curl.get(), CURLOPT_SSLCERT, call.cert.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_SSLKEY, call.key.c_str());
  }
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK) answer.error = curl_easy_strerror(code);
  long status = 0;  // NOLINT(google-runtime-int): what curl writes
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  return answer;
}

}  // namespace tidemark
