// What operators are told of a failure.
#include "scheduler/rpc/rpc_status.h"

#include "absl/strings/cord.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

// As the store has what PostgreSQL says.
absl::Status OfDatabase(absl::StatusCode code) {
  absl::Status status(code, "ERROR:  malformed array literal. CONTEXT:  unnamed portal");
  status.SetPayload("tidemark/sqlstate", absl::Cord("22P02"));
  return status;
}

TEST(RpcStatusTest, WordsOfTheDatabaseAreForTheLog) {
  const grpc::Status value = ToGrpc(OfDatabase(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(value.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(value.error_message().find("portal"), std::string::npos) << value.error_message();
  const grpc::Status other = ToGrpc(OfDatabase(absl::StatusCode::kPermissionDenied));
  EXPECT_EQ(other.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(other.error_message().find("portal"), std::string::npos) << other.error_message();
  EXPECT_EQ(ToGrpc(absl::InvalidArgumentError("limit: at most 1000")).error_message(),
            "limit: at most 1000");
}

TEST(RpcStatusTest, AMessageFitsIntoATrailer) {
  const grpc::Status status = ToGrpc(absl::NotFoundError(std::string(100'000, 'a')));
  EXPECT_LE(status.error_message().size(), 2048u);
  EXPECT_EQ(status.error_message().substr(0, 3), "aaa");
}

}  // namespace
}  // namespace tidemark
