#include "tests/e2e/fleet.h"

#include <gtest/gtest.h>

#include "common/clock.h"
#include "common/id.h"

namespace tidemark {

Fleet::Fleet(const std::string& address, const std::string& name, int size)
    : stub_(v1::ExecutorService::NewStub(
          grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))) {
  for (int i = 0; i < size; ++i) {
    char id[64];
    std::snprintf(id, sizeof id, "%s-%03d", name.c_str(), i);
    members_.push_back({id, nullptr, nullptr, 0});
  }
}

Fleet::~Fleet() {
  for (Member& member : members_) {
    if (member.context != nullptr) member.context->TryCancel();
  }
}

void Fleet::SayHello() {
  for (Member& member : members_) {
    // Else the next process of that id waits until this one has been silent for a lease.
    if (member.stream != nullptr) {
      v1::ExecutorMessage last;
      last.mutable_goodbye();
      member.stream->WriteLast(last, {});
      v1::SchedulerMessage ignored;
      while (member.stream->Read(&ignored)) {
      }
    }
    member.stream.reset();
    member.context = std::make_unique<grpc::ClientContext>();
    member.stream = stub_->Connect(member.context.get());
    member.beats = 0;
    v1::ExecutorMessage message;
    v1::Hello& hello = *message.mutable_hello();
    hello.set_executor_id(member.id);
    hello.set_app("fleet");
    hello.set_incarnation(NewUuid(SystemClock().WallNow(), SystemRandom()));
    hello.add_handlers()->set_name("work");
    hello.set_capacity(1);
    hello.set_namespace_("default");
    EXPECT_TRUE(member.stream->Write(message)) << member.id;
  }
}

int Fleet::AwaitWelcomes() {
  int welcome = 0;
  v1::SchedulerMessage message;
  for (Member& member : members_) {
    while (member.stream->Read(&message)) {
      if (!message.has_welcome()) continue;
      ++welcome;
      break;
    }
  }
  return welcome;
}

absl::Duration Fleet::Beat() {
  const absl::Duration since = SystemClock().Monotonic();
  for (Member& member : members_) {
    v1::ExecutorMessage message;
    message.mutable_heartbeat()->set_sequence(++member.beats);
    EXPECT_TRUE(member.stream->Write(message)) << member.id;
  }
  for (Member& member : members_) {
    v1::SchedulerMessage answer;
    while (answer.heartbeat_ack().sequence() != member.beats) {
      if (member.stream->Read(&answer)) continue;
      ADD_FAILURE() << member.id << " lost its stream";
      return absl::InfiniteDuration();
    }
  }
  return SystemClock().Monotonic() - since;
}

}  // namespace tidemark
