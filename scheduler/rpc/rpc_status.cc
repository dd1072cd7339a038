#include "scheduler/rpc/rpc_status.h"

#include <string>

#include "common/log.h"
#include "common/status.h"

namespace tidemark {
namespace {

bool HasPayload(const absl::Status& status) {
  bool has = false;
  status.ForEachPayload([&](absl::string_view, const absl::Cord&) { has = true; });
  return has;
}

}  // namespace

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
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      // The database's refusals are not the caller's.
      if (HasPayload(status)) break;
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
      break;
  }
  LogError("operator request failed", {{"error", message}});
  return {grpc::StatusCode::INTERNAL, message};
}

}  // namespace tidemark
