#include "tests/rpc/access_bench.h"

#include "common/status.h"
#include "google/protobuf/text_format.h"
#include "grpcpp/generic/generic_stub.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

using google::protobuf::DescriptorPool;
using ProtoMessage = google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::MethodDescriptor;

OperatorServiceOptions OptionsFor(AlertDesk* desk, AlertChannels* channels, AccessDesk* approvals) {
  OperatorServiceOptions options;
  options.order_timeout = absl::ZeroDuration();  // nobody carries orders out here
  options.alert_desk = desk;
  options.alert_channels = channels;
  options.approvals = approvals;
  return options;
}

std::string NewId() { return NewUuid(SystemClock().WallNow(), SystemRandom()); }

std::unique_ptr<ProtoMessage> NewMessage(const google::protobuf::Descriptor* type) {
  return std::unique_ptr<ProtoMessage>(
      MessageFactory::generated_factory()->GetPrototype(type)->New());
}

}  // namespace

AccessBench::AccessBench(bool require_approval)
    : store_(database_.options(), SystemClock(), SystemRandom()),
      alert_desk_(database_.options()),
      check_desk_(database_.options()),
      access_store_(database_.options(), SystemClock(), SystemRandom()),
      gateway_(gate_, this, this, SystemClock()),
      operators_(
          gate_, store_, [] {}, SystemClock(), SystemRandom(),
          OptionsFor(&alert_desk_, this, require_approval ? &access_store_ : nullptr)),
      alerts_(
          gate_, alert_desk_, *this, [] {}, SystemClock(), SystemRandom()),
      checks_(gate_, store_, check_desk_),
      access_(gate_, access_store_, [this] { Refresh(); }, operators_, SystemRandom()) {
  server_ = RpcServer::Start("127.0.0.1:0",
                             {gateway_.service(), &operators_, &alerts_, &checks_, &access_})
                .value();
  channel_ = grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
  Refresh();
}

AccessBench::~AccessBench() { Stop(); }

void AccessBench::Stop() {
  access_.Stop();
  operators_.Stop();
  alerts_.Stop();
  checks_.Stop();
  gateway_.CloseAll();
  server_->Shutdown();
}

void AccessBench::Refresh() {
  ValidTokens valid = access_store_.LoadTokens().value();
  authenticator_.Load(std::move(valid.tokens), valid.now);
  gateway_.Recheck();
}

std::string AccessBench::Token(Role role, const std::string& ns, const std::string& name,
                               absl::Duration valid_for, const std::string& app) {
  const std::string secret = NewToken(SystemRandom());
  TokenRecord token;
  token.token_id = NewTokenId(SystemRandom());
  token.hash = TokenHash(secret);
  token.name = name;
  token.role = role;
  token.ns = ns;
  if (role == Role::kExecutor) token.app = app;
  EXPECT_TRUE(access_store_.AddToken({"", "", "bench", "bench"}, token, valid_for).ok());
  Refresh();
  return secret;
}

std::map<std::string, std::string> AccessBench::MakeThings(const std::string& ns,
                                                           const std::string& mark) {
  std::map<std::string, std::string> t = {{"ns", ns}, {"mark", mark}};
  t["job"] = mark + "-daily";
  t["beat"] = mark + "-beat";
  const std::string all = Token(Role::kAdmin, "", "maker");
  const grpc::Status applied = Call(
      "OperatorService/ApplyJobs",
      FillIn("jobs {name: '{job}' app: 'recon' handler: 'h' namespace: '{ns}' start_date: "
             "'2026-01-01' schedule {cron: '0 0 1 * * ?' zone: 'UTC'}} jobs {name: '{beat}' app: "
             "'recon' handler: 'h' namespace: '{ns}' schedule {every {seconds: 300}}}",
             t),
      all);
  EXPECT_TRUE(applied.ok()) << applied.error_message();
  const std::string job_id = database_.Sql("SELECT job_id FROM job WHERE name = $1", {t["job"]});
  for (const char* id : {"live", "ended", "backfill", "drill", "alert", "silence", "approval"}) {
    t[id] = NewId();
  }
  t["run"] = t["ended"];
  database_.Sql(
      "INSERT INTO active_run (job_id, kind, occurrence, run_id, shard, namespace, job_name, app, "
      "handler, job_version, biz_date, fire_time, trigger_type, status, attempt, executor_id, "
      "registration, message, created_at, sent_at) SELECT job_id, 'D', '2026-01-02', $2, shard, "
      "namespace, name, app, 'h', version, '2026-01-02', now(), 'CATCH_UP', 'RUNNING', 1, 'x', 1, "
      "$3, now(), now() FROM job WHERE job_id = $1",
      {job_id, t["live"], mark});
  database_.Sql(
      "INSERT INTO run_history SELECT now(), $2, job_id, 'D', '2026-01-01', namespace, name, app, "
      "'h', version, '2026-01-01', '2026-01-02T01:00:00', now(), 'SCHEDULE', '', '', $3, $3, NULL, "
      "'{}', 'FAILED', 'retries', 2, 1, 1, 'x', 1, 'host', 1, 5, 50, 'cp', $3, $3, 7, 'dig', "
      "now(), "
      "now(), now() FROM job WHERE job_id = $1",
      {job_id, t["ended"], mark});
  database_.Sql(
      "INSERT INTO backfill (backfill_id, job_id, from_date, to_date, reprocess, reverse, "
      "parallel, "
      "state, reason, actor, dates, created_at, updated_at) VALUES ($2, $1, '2026-01-03', "
      "'2026-01-04', 'missing', false, 1, 'RUNNING', $3, 'ann', '{2026-01-03}', now(), now())",
      {job_id, t["backfill"], mark});
  database_.Sql(
      "INSERT INTO drill (drill_id, job_id, biz_date, first_digest, actor, started_at) "
      "VALUES ($2, $1, '2026-01-01', $3, 'ann', now())",
      {job_id, t["drill"], mark});
  t["executor"] = mark + "-executor";
  database_.Sql(
      "INSERT INTO executor (executor_id, app, namespace, registration, incarnation, host, "
      "version, "
      "capacity, handlers, state, registered_at, last_seen) VALUES ($1, 'recon', $2, 1, $3, "
      "'host', "
      "'1', 4, ARRAY['h'], 'UP', now(), now())",
      {t["executor"], ns, NewId()});
  database_.Sql(
      "INSERT INTO alert (alert_id, dedup_key, kind, severity, namespace, job_name, summary, "
      "detail, "
      "raised_at) VALUES ($1::text::uuid, $1::text, 'run_failed', 'warning', $2, $3, $4, '', "
      "now())",
      {t["alert"], ns, t["job"], mark});
  database_.Sql(
      "INSERT INTO alert_delivery (alert_id, episode, channel, phase, created_at, next_try_at) "
      "VALUES ($1, 1, 'ops', 'raised', now(), now())",
      {t["alert"]});
  database_.Sql(
      "INSERT INTO alert_silence (silence_id, job_name, namespace, reason, actor, created_at, "
      "until) "
      "VALUES ($1, $2, $3, $4, 'ann', now(), now() + interval '1 hour')",
      {t["silence"], t["job"], ns, mark});
  database_.Sql(
      "INSERT INTO check_verdict (job_id, job_name, namespace, biz_date, expected_at, verdict, "
      "state, checked_at) SELECT job_id, name, namespace, '2026-01-02', now(), 'LATE', 'RUNNING', "
      "now() FROM job WHERE job_id = $1",
      {job_id});
  v1::ForceDoneRequest waiting;
  waiting.set_job(t["job"]);
  waiting.set_biz_date("2026-01-05");
  waiting.set_reason("r");
  database_.Sql(
      "INSERT INTO approval (approval_id, method, request, job_name, namespace, subject, reason, "
      "asked_by, asked_token, asked_at, expires_at) VALUES ($1, 'OperatorService/ForceDone', "
      "convert_to($2, 'UTF8'), $3, $4, $5, 'r', 'somebody', 'other', now(), now() + interval '1 "
      "day')",
      {t["approval"], waiting.SerializeAsString(), t["job"], ns, mark});
  Token(Role::kViewer, ns, mark + "-viewer");
  t["token"] = database_.Sql("SELECT token_id FROM token WHERE name = $1", {mark + "-viewer"});
  return t;
}

grpc::Status AccessBench::Call(const std::string& method, const std::string& request,
                               const std::string& token, std::string* answer) {
  const MethodDescriptor* descriptor = DescriptorPool::generated_pool()->FindMethodByName(
      "tidemark.v1." + method.substr(0, method.find('/')) + "." +
      method.substr(method.find('/') + 1));
  if (descriptor == nullptr) return {grpc::StatusCode::UNIMPLEMENTED, "no method " + method};
  const std::unique_ptr<ProtoMessage> message = NewMessage(descriptor->input_type());
  if (!google::protobuf::TextFormat::ParseFromString(request, message.get())) {
    ADD_FAILURE() << method << ": bad request " << request;
    return {grpc::StatusCode::INTERNAL, "bad request"};
  }
  const std::string bytes = message->SerializeAsString();
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer sent(&slice, 1);
  grpc::ClientContext context;
  if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  grpc::CompletionQueue queue;
  grpc::GenericStub stub(channel_);
  const auto call = stub.PrepareUnaryCall(&context, "/tidemark.v1." + method, sent, &queue);
  call->StartCall();
  grpc::ByteBuffer received;
  grpc::Status status;
  call->Finish(&received, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (status.ok() && answer != nullptr) {
    grpc::Slice single;
    EXPECT_TRUE(received.DumpToSingleSlice(&single).ok());
    const std::unique_ptr<ProtoMessage> response = NewMessage(descriptor->output_type());
    EXPECT_TRUE(response->ParseFromArray(single.begin(), static_cast<int>(single.size())));
    *answer = response->DebugString();
  }
  return status;
}

std::string FillIn(std::string text, const std::map<std::string, std::string>& things) {
  for (const auto& [name, value] : things) {
    const std::string placeholder = "{" + name + "}";
    for (size_t at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder)) {
      text.replace(at, placeholder.size(), value);
    }
  }
  return text;
}

}  // namespace tidemark
