#include "scheduler/rpc/rpc_status.h"

#include <string>

#include "common/log.h"
#include "common/status.h"
#include "common/text.h"

namespace tidemark {
namespace {

// gRPC carries the message percent-encoded in a trailer, and peers take 8 KiB of those at most.
constexpr size_t kMaxMessage = 2048;

// The database's own words name statements and tables: they are for the log.
bool HasPayload(const absl::Status& status) {
  bool has = false;
  status.ForEachPayload([&](absl::string_view, const absl::Cord&) { has = true; });
  return has;
}

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  const std::string message = CleanText(Message(status), kMaxMessage);
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return grpc::Status::OK;
    case absl::StatusCode::kInvalidArgument:
      if (HasPayload(status)) {
        LogWarn("the database refused a value", {{"error", message}});
        return {grpc::StatusCode::INVALID_ARGUMENT,
                "the database does not take one of the values (the scheduler's log says which)"};
      }
      return {grpc::StatusCode::INVALID_ARGUMENT, message};
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
  if (HasPayload(status)) {
    return {grpc::StatusCode::INTERNAL,
            "the database refused the request (the scheduler's log says why)"};
  }
  return {grpc::StatusCode::INTERNAL, message};
}

}  // namespace tidemark
