#include "tests/e2e/operator_client.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <thread>

#include "tidemark/v1/operator.grpc.pb.h"

namespace tidemark {

std::vector<std::string> TriggerAtOnce(const std::string& address, const std::string& job,
                                       int count) {
  const auto stub = v1::OperatorService::NewStub(
      grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  std::vector<v1::TriggerJobResponse> responses(static_cast<size_t>(count));
  std::vector<grpc::Status> statuses(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < statuses.size(); ++i) {
    threads.emplace_back([&, i] {
      grpc::ClientContext context;
      v1::TriggerJobRequest request;
      request.set_name(job);
      request.set_request_id("request-" + std::to_string(i));
      statuses[i] = stub->TriggerJob(&context, request, &responses[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::string> ids;
  for (size_t i = 0; i < statuses.size(); ++i) {
    EXPECT_TRUE(statuses[i].ok()) << statuses[i].error_message();
    EXPECT_FALSE(responses[i].queued());
    ids.push_back(responses[i].run_id());
  }
  return ids;
}

}  // namespace tidemark
