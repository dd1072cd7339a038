// Bodies of HTTP calls from arbitrary bytes: the first byte chooses the method. Reading never
// crashes, an error has words, and what was read is printed and read again as the same.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/message_differencer.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "scheduler/rpc/json_codec.h"
#include "tidemark/v1/alert.pb.h"
#include "tidemark/v1/operator.pb.h"

namespace {

std::vector<const google::protobuf::MethodDescriptor*> Methods() {
  std::vector<const google::protobuf::MethodDescriptor*> methods;
  for (const auto* file : {tidemark::v1::ListRunsRequest::descriptor()->file(),
                           tidemark::v1::AckAlertRequest::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        methods.push_back(file->service(s)->method(m));
      }
    }
  }
  return methods;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const auto* methods = new auto(Methods());
  const auto& method = *(*methods)[data[0] % methods->size()];
  const std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto request = tidemark::ReadJsonRequest(method, body);
  if (!request.ok()) {
    if (request.status().message().empty()) std::abort();
    return 0;
  }
  const auto json = tidemark::WriteJson(**request);
  if (!json.ok()) return 0;  // times out of JSON's range
  const auto again = tidemark::ReadJsonRequest(method, *json);
  if (!again.ok()) std::abort();
  if (!google::protobuf::util::MessageDifferencer::ApproximatelyEquals(**request, **again)) {
    std::abort();
  }
  return 0;
}
