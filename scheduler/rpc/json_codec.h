// Calls as JSON: methods by their names, requests and responses by the protos' own JSON mapping.
#ifndef TIDEMARK_SCHEDULER_RPC_JSON_CODEC_H_
#define TIDEMARK_SCHEDULER_RPC_JSON_CODEC_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace google::protobuf {
class Message;
class MethodDescriptor;
}  // namespace google::protobuf

namespace tidemark {

// A unary method of a service of tidemark.v1 ("OperatorService"). NOT_FOUND names the nearest.
absl::StatusOr<const google::protobuf::MethodDescriptor*> FindJsonMethod(const std::string& service,
                                                                         const std::string& method);

// "" is the empty request. INVALID_ARGUMENT names the field.
absl::StatusOr<std::unique_ptr<google::protobuf::Message>> ReadJsonRequest(
    const google::protobuf::MethodDescriptor& method, const std::string& body);

std::unique_ptr<google::protobuf::Message> NewResponse(
    const google::protobuf::MethodDescriptor& method);

// With the proto's field names, defaults included. INTERNAL: a value has no JSON form.
absl::StatusOr<std::string> WriteJson(const google::protobuf::Message& message);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_JSON_CODEC_H_
