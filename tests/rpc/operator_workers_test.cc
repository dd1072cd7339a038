// The queue of requests: bounded, and each refusal names its limit.
#include "scheduler/rpc/operator_workers.h"

#include <atomic>

#include "absl/synchronization/notification.h"
#include "common/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

TEST(OperatorWorkersTest, WhatIsTooMuchIsRefusedByTheNameOfItsLimit) {
  OperatorWorkers workers(/*threads=*/1, /*queue=*/2);
  absl::Notification busy, go;
  std::atomic<int> done = 0;
  ASSERT_TRUE(workers
                  .Run([&] {
                    busy.Notify();
                    go.WaitForNotification();
                    ++done;
                  })
                  .ok());
  busy.WaitForNotification();
  EXPECT_TRUE(workers.Run([&] { ++done; }).ok());
  EXPECT_TRUE(workers.Run([&] { ++done; }).ok());
  const absl::Status refused = workers.Run([&] { ++done; });
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(refused), testing::HasSubstr("2 requests wait"));
  EXPECT_THAT(Message(refused), testing::HasSubstr("max-waiting-requests"));
  go.Notify();
  workers.Stop();
  EXPECT_EQ(done, 3) << "what was taken is finished";
  EXPECT_EQ(workers.Run([&] { ++done; }).code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace tidemark
