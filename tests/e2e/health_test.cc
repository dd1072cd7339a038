// grpc.health.v1 and reflection of a real scheduler, as grpc_health_probe and grpcurl use them.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/e2e/world.h"

namespace tidemark {
namespace {

// The bytes of the one answer to `request` (a message's bytes), on a stream; "" when none came.
std::string AnswerTo(const std::string& address, const std::string& method,
                     const std::string& request) {
  grpc::GenericStub stub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  void* tag = nullptr;
  bool ok = false;
  const auto step = [&] { return queue.Next(&tag, &ok) && ok; };
  const auto call = stub.PrepareCall(&context, method, &queue);
  call->StartCall(nullptr);
  if (!step()) return "";
  const grpc::Slice slice(request);
  call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
  if (!step()) return "";
  grpc::ByteBuffer answer;
  call->Read(&answer, nullptr);
  if (!step()) return "";
  context.TryCancel();
  grpc::Status status;
  call->Finish(&status, nullptr);
  queue.Next(&tag, &ok);
  grpc::Slice whole;
  if (!answer.DumpToSingleSlice(&whole).ok()) return "";
  return {reinterpret_cast<const char*>(whole.begin()), whole.size()};
}

// grpc.health.v1: field 1 of the request is the service; of the response the status, 1 SERVING,
// 2 NOT_SERVING.
std::string HealthOf(const std::string& address, const std::string& service) {
  const std::string answer =
      AnswerTo(address, "/grpc.health.v1.Health/Watch",
               std::string("\x0a") + static_cast<char>(service.size()) + service);
  return answer == "\x08\x01" ? "SERVING" : answer == "\x08\x02" ? "NOT_SERVING" : "?";
}

TEST(HealthTest, SaysWhetherItSchedules) {
  World world;
  world.StartScheduler();
  const std::string address = world.address();
  for (const char* service : {"", "tidemark.v1.OperatorService"}) {
    EXPECT_TRUE(WaitFor([&] { return HealthOf(address, service) == "SERVING"; })) << service;
  }
  world.Sql("ALTER TABLE scheduler_node RENAME TO scheduler_node_away");
  EXPECT_TRUE(WaitFor([&] { return HealthOf(address, "") == "NOT_SERVING"; }, absl::Seconds(40)));
  world.Sql("ALTER TABLE scheduler_node_away RENAME TO scheduler_node");
  EXPECT_TRUE(WaitFor([&] { return HealthOf(address, "") == "SERVING"; }, absl::Seconds(40)));
}

TEST(HealthTest, ReflectionNamesTheServices) {
  World world;
  world.StartScheduler();
  // ServerReflectionRequest.list_services (7): "*".
  const std::string answer =
      AnswerTo(world.address(), "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
               "\x3a\x01*");
  for (const char* service :
       {"OperatorService", "ExecutorService", "AlertService", "CheckService", "AccessService"}) {
    EXPECT_NE(answer.find(std::string("tidemark.v1.") + service), std::string::npos) << service;
  }
}

}  // namespace
}  // namespace tidemark
