#include "tests/executor/fake_scheduler.h"

#include <algorithm>
#include <cstdio>

namespace tidemark::exec {

FakeScheduler::FakeScheduler(int port) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:" + std::to_string(port), grpc::InsecureServerCredentials(),
                           &port_);
  builder.RegisterService(this);
  builder.SetMaxReceiveMessageSize(16 << 20);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5000);
  server_ = builder.BuildAndStart();
}

FakeScheduler::~FakeScheduler() {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [stream, context] : streams_) context->TryCancel();
  }
  server_->Shutdown(std::chrono::system_clock::time_point());
}

std::string FakeScheduler::RunId(int run) {
  char text[40];
  std::snprintf(text, sizeof text, "00000000-0000-7000-8000-%012d", run);
  return text;
}

void FakeScheduler::SetAcknowledge(bool on) {
  const std::lock_guard lock(mutex_);
  acknowledge_ = on;
}

void FakeScheduler::SetHelloAnswer(v1::SchedulerMessage answer) {
  const std::lock_guard lock(mutex_);
  hello_answer_ = std::move(answer);
}

void FakeScheduler::Send(const v1::SchedulerMessage& message) {
  const std::lock_guard lock(mutex_);
  for (const auto& [stream, context] : streams_) stream->Write(message);
}

void FakeScheduler::Trigger(int run, const std::string& handler,
                            const std::map<std::string, std::string>& params,
                            const std::string& checkpoint) {
  v1::SchedulerMessage message;
  v1::Trigger& trigger = *message.add_orders()->mutable_trigger();
  trigger.mutable_attempt()->set_run_id(RunId(run));
  trigger.mutable_attempt()->set_attempt(1);
  trigger.set_registration(1);
  trigger.set_shard(1);
  trigger.mutable_epoch()->set_timeline(1);
  trigger.mutable_epoch()->set_number(1);
  trigger.set_job("job");
  trigger.set_handler(handler);
  trigger.set_biz_date("2026-11-28");
  trigger.set_batch_id("job/2026-11-28");
  trigger.set_zone("Asia/Shanghai");
  trigger.mutable_fire_time()->set_seconds(1795798800);
  trigger.set_nominal_time("2026-11-29T01:00:00");
  trigger.set_checkpoint(checkpoint);
  for (const auto& [name, value] : params) (*trigger.mutable_params())[name] = value;
  trigger.set_on_lost(v1::WAIT);
  trigger.mutable_lost_after()->set_seconds(300);
  trigger.mutable_cancel_grace()->set_seconds(30);
  Send(message);
}

void FakeScheduler::Cancel(int run) {
  v1::SchedulerMessage message;
  v1::Cancel& cancel = *message.add_orders()->mutable_cancel();
  cancel.mutable_attempt()->set_run_id(RunId(run));
  cancel.mutable_attempt()->set_attempt(1);
  cancel.set_shard(1);
  cancel.mutable_epoch()->set_timeline(1);
  cancel.mutable_epoch()->set_number(1);
  cancel.set_reason("by ann");
  Send(message);
}

bool FakeScheduler::Await(const std::function<bool()>& condition) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(20), condition);
}

bool FakeScheduler::AwaitHello(size_t count) {
  return Await([&] { return hellos.size() >= count && !heartbeats.empty(); });
}

bool FakeScheduler::AwaitFinished(int run) {
  return Await([&] { return Finished(run); });
}

bool FakeScheduler::AwaitStarted(int run) {
  return Await([&] {
    return std::any_of(reports.begin(), reports.end(), [&](const v1::RunReport& report) {
      return report.has_started() && report.attempt().run_id() == RunId(run);
    });
  });
}

bool FakeScheduler::Finished(int run) const { return !Finishes(run).empty(); }

std::vector<v1::Finished> FakeScheduler::Finishes(int run) const {
  std::vector<v1::Finished> out;
  for (const v1::RunReport& report : reports) {
    if (report.has_finished() && report.attempt().run_id() == RunId(run)) {
      out.push_back(report.finished());
    }
  }
  return out;
}

std::string FakeScheduler::LogOf(int run) const {
  std::string out;
  for (const v1::RunReport& report : reports) {
    if (report.has_log() && report.attempt().run_id() == RunId(run)) out += report.log().data();
  }
  return out;
}

void FakeScheduler::Answer(const v1::ExecutorMessage& message, v1::SchedulerMessage* answer) {
  std::vector<v1::RunReport> got(message.reports().begin(), message.reports().end());
  if (message.has_hello()) {
    hellos.push_back(message.hello());
    got.insert(got.end(), message.hello().results().begin(), message.hello().results().end());
    if (hello_answer_) {
      *answer = *hello_answer_;
    } else {
      v1::Welcome& welcome = *answer->mutable_welcome();
      welcome.set_registration(1);
      welcome.set_node_id("n1");
      welcome.mutable_beat()->set_seconds(1);
      welcome.mutable_lease()->set_seconds(17);
      welcome.add_nodes(address());
    }
  }
  for (const v1::RunReport& report : got) {
    reports.push_back(report);
    if (!acknowledge_ || !(report.has_finished() || report.has_refused())) continue;
    *answer->add_orders()->mutable_acknowledged()->mutable_attempt() = report.attempt();
  }
  if (message.has_heartbeat()) {
    heartbeats.push_back(message.heartbeat());
    answer->mutable_heartbeat_ack()->set_sequence(message.heartbeat().sequence());
    for (const v1::HeldRun& held : message.heartbeat().held()) {
      *answer->mutable_heartbeat_ack()->add_renewed() = held.attempt();
    }
  }
  if (message.has_goodbye()) ++goodbyes;
}

grpc::Status FakeScheduler::Connect(grpc::ServerContext* context, Stream* stream) {
  {
    const std::lock_guard lock(mutex_);
    streams_.emplace_back(stream, context);
  }
  v1::ExecutorMessage message;
  while (stream->Read(&message)) {
    const std::lock_guard lock(mutex_);
    v1::SchedulerMessage answer;
    Answer(message, &answer);
    if (answer.ByteSizeLong() > 0) stream->Write(answer);
    changed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [&](const auto& entry) { return entry.first == stream; });
  return grpc::Status::OK;
}

}  // namespace tidemark::exec
