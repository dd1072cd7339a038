#include "scheduler/rpc/json_codec.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <vector>

#include "common/text.h"

namespace tidemark {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

std::string DidYouMean(const std::string& name, const std::vector<std::string>& names) {
  const std::string nearest = Nearest(name, names);
  return nearest.empty() ? "" : ", did you mean " + nearest + "?";
}

std::unique_ptr<Message> New(const Descriptor* type) {
  return std::unique_ptr<Message>(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(type)->New());
}

}  // namespace

absl::StatusOr<const MethodDescriptor*> FindJsonMethod(const std::string& service,
                                                       const std::string& method) {
  const ServiceDescriptor* found =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName("tidemark.v1." +
                                                                            service);
  if (found == nullptr) {
    return absl::NotFoundError(ToAbsl("there is no service " + CleanText(service, 64) +
                                      DidYouMean(service, {"OperatorService", "AlertService"}) +
                                      " (POST /v1/Service/Method, as in the .proto files)"));
  }
  std::vector<std::string> names;
  for (int i = 0; i < found->method_count(); ++i) {
    const MethodDescriptor* candidate = found->method(i);
    if (candidate->client_streaming() || candidate->server_streaming()) continue;
    if (candidate->name() == method) return candidate;
    names.push_back(candidate->name());
  }
  return absl::NotFoundError(ToAbsl(service + " has no method " + CleanText(method, 64) +
                                    " that JSON can call" + DidYouMean(method, names)));
}

absl::StatusOr<std::unique_ptr<Message>> ReadJsonRequest(const MethodDescriptor& method,
                                                         const std::string& body) {
  std::unique_ptr<Message> request = New(method.input_type());
  if (body.empty()) return request;
  google::protobuf::util::JsonParseOptions strict;
  strict.ignore_unknown_fields = false;
  const auto status = google::protobuf::util::JsonStringToMessage(body, request.get(), strict);
  if (status.ok()) return request;
  return absl::InvalidArgumentError(
      ToAbsl("the body is no " + method.input_type()->name() +
             " in JSON: " + CleanText(status.message().ToString(), 512)));
}

std::unique_ptr<Message> NewResponse(const MethodDescriptor& method) {
  return New(method.output_type());
}

absl::StatusOr<std::string> WriteJson(const Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  if (status.ok()) return json;
  return absl::InternalError(
      ToAbsl("the message has no JSON form: " + CleanText(status.message().ToString(), 512)));
}

}  // namespace tidemark
