#include "scheduler/rpc/rpc_status.h"

#include <string>

#include "common/log.h"
#include "common/status.h"

namespace tidemark {

grpc::Status ToGrpc(const absl::Status& status) {
  const std::string message = Message(status);
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return grpc::Status::OK;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnimplemented:
      return {static_cast<grpc::StatusCode>(status.code()), message};
    case absl::StatusCode::kAborted:
      return {grpc::StatusCode::UNAVAILABLE,
              "others changed the same at the same time (" + message + "); try again"};
    case absl::StatusCode::kDeadlineExceeded:
      return {grpc::StatusCode::UNAVAILABLE,
              "the database took too long (" + message + "); nothing was changed, try again"};
    case absl::StatusCode::kUnknown:
      return {grpc::StatusCode::UNAVAILABLE,
              "the link to the database broke while this was committed (" + message +
                  "); look whether it took effect before you try again"};
    default:
      LogError("operator request failed", {{"error", message}});
      return {grpc::StatusCode::INTERNAL, message};
  }
}

}  // namespace tidemark
