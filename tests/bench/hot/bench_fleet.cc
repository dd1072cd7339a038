// bench-fleet: very many executors that do nothing but be there, each on a connection of its own.
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/id.h"
#include "tests/bench/hot/bench_clock.h"
#include "tidemark/v1/executor.grpc.pb.h"

namespace tidemark {
namespace {

struct IdleExecutor {
  std::unique_ptr<v1::ExecutorService::Stub> stub;
  std::unique_ptr<grpc::ClientContext> context;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ExecutorMessage, v1::SchedulerMessage>> stream;
  uint64_t beats = 0;
};

[[noreturn]] void Lost(size_t index) {
  std::fprintf(stderr, "bench-fleet: stream %zu broke\n", index);
  std::exit(1);
}

IdleExecutor Connect(const std::string& address, const std::string& app, int index) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  IdleExecutor executor;
  executor.stub = v1::ExecutorService::NewStub(
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
  executor.context = std::make_unique<grpc::ClientContext>();
  executor.context->set_wait_for_ready(true);
  executor.stream = executor.stub->Connect(executor.context.get());
  v1::ExecutorMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_executor_id(app + "-" + std::to_string(index));
  hello.set_app(app);
  hello.set_incarnation(NewUuid(SystemClock().WallNow(), SystemRandom()));
  hello.add_handlers()->set_name("work-0");
  hello.set_capacity(1);
  hello.set_namespace_("default");
  if (!executor.stream->Write(message)) Lost(static_cast<size_t>(index));
  return executor;
}

// A message that `wanted` takes; others on the way are dropped.
template <typename Wanted>
void Await(IdleExecutor& executor, size_t index, const Wanted& wanted) {
  v1::SchedulerMessage message;
  do {
    if (!executor.stream->Read(&message)) Lost(index);
  } while (!wanted(message));
}

// A heartbeat of each, and its answer.
void BeatAll(std::vector<IdleExecutor>& executors) {
  for (size_t i = 0; i < executors.size(); ++i) {
    v1::ExecutorMessage message;
    message.mutable_heartbeat()->set_sequence(++executors[i].beats);
    if (!executors[i].stream->Write(message)) Lost(i);
  }
  for (size_t i = 0; i < executors.size(); ++i) {
    Await(executors[i], i, [&](const v1::SchedulerMessage& message) {
      return message.heartbeat_ack().sequence() == executors[i].beats;
    });
  }
}

[[noreturn]] void Serve(const std::string& address, const std::string& app, int count,
                        double beat) {
  std::vector<IdleExecutor> executors;
  executors.reserve(static_cast<size_t>(count));
  double since = MonotonicSeconds();
  for (int i = 0; i < count; ++i) {
    executors.push_back(Connect(address, app, i));
    Await(executors.back(), executors.size() - 1,
          [](const v1::SchedulerMessage& message) { return message.has_welcome(); });
    // Whoever is connected beats on while others still connect: 17 s without one is an end.
    if (MonotonicSeconds() - since < beat) continue;
    since = MonotonicSeconds();
    BeatAll(executors);
  }
  std::printf("connected %d\n", count);
  std::fflush(stdout);
  while (true) {
    BenchWait(beat - (MonotonicSeconds() - since));
    since = MonotonicSeconds();
    BeatAll(executors);
  }
}

int Main(int argc, char** argv) {
  CLI::App app("Idle executors that say hello and beat.", "bench-fleet");
  std::string address;
  std::string name = "fleet";
  int count = 10;
  double beat = 5;
  app.add_option("--scheduler", address, "host:port")->required();
  app.add_option("--app", name, "App; their ids are APP-0, APP-1, …");
  app.add_option("--count", count, "How many");
  app.add_option("--beat", beat, "Seconds between two beats of each");
  CLI11_PARSE(app, argc, argv);
  Serve(address, name, count, beat);
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) { return tidemark::Main(argc, argv); }
