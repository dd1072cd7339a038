#include "tests/rpc/operator_bench.h"

#include "common/status.h"
#include "gtest/gtest.h"

namespace tidemark {
namespace {

OperatorServiceOptions OptionsWith(absl::Duration order_timeout) {
  OperatorServiceOptions options;
  options.order_timeout = order_timeout;
  return options;
}

}  // namespace

OperatorBench::OperatorBench(absl::Duration order_timeout, JobLimits limits)
    : owner_(database_.Connect()),
      store_(database_.options(), SystemClock(), SystemRandom(), limits),
      service_(
          gate_, store_, [this] { CarryOut(); }, SystemClock(), SystemRandom(),
          OptionsWith(order_timeout)) {
  database_.Sql(
      "CREATE OR REPLACE FUNCTION tidemark_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS "
      "$$ SELECT clock_timestamp() + ('2026-11-29T12:00:00Z'::timestamptz - '" +
      database_.Sql("SELECT clock_timestamp()") + "'::timestamptz) $$");
  absl::StatusOr<std::unique_ptr<RpcServer>> server = RpcServer::Start("127.0.0.1:0", {&service_});
  EXPECT_TRUE(server.ok()) << Message(server.status());
  server_ = *std::move(server);
  stub_ = v1::OperatorService::NewStub(
      grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
}

OperatorBench::~OperatorBench() {
  service_.Stop();
  server_->Shutdown();
}

void OperatorBench::AnswerOrders(const std::string& kind, Answer answer) {
  absl::MutexLock lock(&mutex_);
  answers_[kind] = std::move(answer);
}

void OperatorBench::CarryOut() {
  absl::MutexLock lock(&mutex_);
  for (const auto& [kind, answer] : answers_) {
    const auto rows = owner_->RunOne(
        "UPDATE command SET done_at = tidemark_now(), code = $2, result = $3 "
        "WHERE kind = $1 AND done_at IS NULL",
        {kind, ToParam(static_cast<int>(answer.code)), answer.result});
    EXPECT_TRUE(rows.ok()) << Message(rows.status());
  }
}

int64_t OperatorBench::Apply(const v1::JobSpec& spec) {
  v1::ApplyJobsRequest request;
  *request.add_jobs() = spec;
  request.set_actor("bench");
  v1::ApplyJobsResponse response;
  const grpc::Status status = Call(&v1::OperatorService::Stub::ApplyJobs, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return std::stoll(database_.Sql("SELECT job_id FROM job WHERE name = $1 AND deleted_at IS NULL",
                                  {spec.name()}));
}

void OperatorBench::SetWatermark(int64_t job_id, const std::string& date, const std::string& status,
                                 const std::string& reason, const std::string& run_id) {
  database_.Sql(
      "INSERT INTO job_watermark (job_name, biz_date, status, finished_at, job_id, run_id, "
      "result_rows, result_digest, reason, updated_at) "
      "SELECT name, $2, $3, tidemark_now(), job_id, $5, 42, 'abc', $4, tidemark_now() "
      "FROM job WHERE job_id = $1 "
      "ON CONFLICT (job_name, biz_date) DO UPDATE SET status = excluded.status, "
      "run_id = excluded.run_id",
      {ToParam(job_id), date, status, reason, NullIfEmpty(run_id)});
}

std::string OperatorBench::AddLiveRun(int64_t job_id, const std::string& date,
                                      const std::string& status) {
  const std::string run_id = NewUuid(SystemClock().WallNow(), ids_);
  database_.Sql(
      "INSERT INTO active_run (job_id, kind, occurrence, run_id, shard, namespace, job_name, app, "
      "handler, job_version, biz_date, nominal_time, fire_time, trigger_type, status, attempt, "
      "executor_id, registration, message, created_at, sent_at) "
      "SELECT job_id, 'D', $2::text, $3, shard, namespace, name, app, 'recon', version, $2::date, "
      "'2026-11-29T01:00:00', '2026-11-28T17:00:00Z', 'CATCH_UP', $4, 1, 'recon-1', 1, 'half', "
      "tidemark_now(), tidemark_now() FROM job WHERE job_id = $1",
      {ToParam(job_id), date, run_id, status});
  return run_id;
}

std::string OperatorBench::AddEndedRun(int64_t job_id, const std::string& date,
                                       const std::string& status, const std::string& trigger) {
  const std::string run_id = NewUuid(SystemClock().WallNow(), ids_);
  database_.Sql(
      "INSERT INTO run_history SELECT tidemark_now(), $3, job_id, 'D', $2::text, namespace, name, "
      "app, "
      "'recon', version, $2::date, '2026-11-29T01:00:00', '2026-11-28T17:00:00Z', $5, '', '', "
      "'ann', 'asked', NULL, '{\"a\": \"1\"}', $4, 'retries', 2, 1, 1, 'recon-1', 1, 'host', 1, 5, "
      "50, 'cp', 'boom', 'res', 7, 'dig', tidemark_now(), tidemark_now(), tidemark_now() "
      "FROM job WHERE job_id = $1",
      {ToParam(job_id), date, run_id, status, trigger});
  return run_id;
}

void OperatorBench::AddExecutor(const std::string& id, const std::string& app,
                                const std::string& handler) {
  database_.Sql(
      "INSERT INTO executor (executor_id, app, registration, incarnation, host, version, capacity, "
      "handlers, labels, state, registered_at, last_seen) VALUES ($1, $2, 1, "
      "'00000000-0000-7000-8000-000000000001', 'host', '1', 4, ARRAY[$3], '{\"zone\": \"a\"}', "
      "'UP', tidemark_now(), tidemark_now())",
      {id, app, handler});
}

v1::JobSpec ReconSpec() {
  v1::JobSpec spec;
  spec.set_name("recon");
  spec.set_app("recon");
  spec.set_handler("recon");
  spec.mutable_schedule()->set_cron("0 0 1 * * ?");
  spec.mutable_schedule()->set_zone("Asia/Shanghai");
  spec.set_start_date("2026-11-24");
  return spec;
}

v1::JobSpec BeatSpec() {
  v1::JobSpec spec;
  spec.set_name("beat");
  spec.set_app("ops");
  spec.set_handler("beat");
  spec.mutable_schedule()->mutable_every()->set_seconds(300);
  return spec;
}

}  // namespace tidemark
