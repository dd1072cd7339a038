// One HTTPS request, for tests.
#ifndef TIDEMARK_TESTS_SUPPORT_HTTPS_CLIENT_H_
#define TIDEMARK_TESTS_SUPPORT_HTTPS_CLIENT_H_

#include <string>

namespace tidemark {

struct HttpsCall {
  std::string url;
  std::string json;   // POSTed; "": GET
  std::string token;  // "": no Authorization header
  std::string ca;     // files in PEM
  std::string cert;   // "": no certificate of its own
  std::string key;
};

struct HttpsAnswer {
  int status = 0;     // 0: none came
  std::string error;  // why
  std::string body;
};

HttpsAnswer CallHttps(const HttpsCall& call);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_SUPPORT_HTTPS_CLIENT_H_
