#include "tests/store/flush_fixture.h"

#include <cstdio>
#include <utility>

#include "common/status.h"
#include "common/time_text.h"

namespace tidemark {

void InsertJob(MigratedDatabase& database, int64_t job_id, const std::string& name, int shard) {
  database.Sql(
      "INSERT INTO job (job_id, name, app, shard, version, created_at, updated_at)"
      " VALUES ($1, $2, 'recon', $3, 1, tidemark_now(), tidemark_now())",
      {ToParam(job_id), name, ToParam(shard)});
  database.Sql(
      "INSERT INTO job_version (job_id, version, valid_from, spec)"
      " VALUES ($1, 1, '2026-11-01T00:00:00Z', '{}')",
      {ToParam(job_id)});
}

ActiveRun MakeRun(int64_t job_id, const std::string& job_name, const std::string& biz_date,
                  const std::string& run_id) {
  ActiveRun run;
  run.occurrence = DateKey(job_id, Day(biz_date));
  run.run_id = run_id;
  run.shard = 7;
  run.ns = "default";
  run.job_name = job_name;
  run.app = "recon";
  run.handler = "recon";
  run.job_version = 1;
  run.biz_date = Day(biz_date);
  run.nominal = absl::CivilSecond(2026, 11, 28, 1, 0, 0);
  run.fire_time = At("2026-11-27T17:00:00Z");
  run.created_at = At("2026-11-27T17:00:00.25Z");
  return run;
}

std::string Uuid(int number) {
  char text[40];
  std::snprintf(text, sizeof(text), "00000000-0000-7000-8000-%012d", number);
  return text;
}

absl::Time At(const std::string& rfc3339) { return ParseInstant(rfc3339).value(); }
absl::CivilDay Day(const std::string& date) { return ParseDate(date).value(); }

FlushTest::FlushTest() : connection_(database_.Connect()) {
  const NodeFacts node{owner_, "127.0.0.1:7400", "1", absl::Hours(1)};
  EXPECT_TRUE(RegisterNode(*connection_, node, true, "").ok());
  EXPECT_EQ(ClaimShards(*connection_, owner_).value().size(), 128u);
}

absl::Status FlushTest::TryCommit(Flush flush, FlushResult* result,
                                  const std::set<int64_t>& left_out) {
  flush.seq = seq_ + 1;
  const absl::Status status =
      connection_->Transact([&](SqlTransaction& transaction) -> absl::Status {
        return WriteFlush(transaction, owner_, flush, left_out, random_, SystemClock(), result);
      });
  if (status.ok()) ++seq_;
  return status;
}

FlushResult FlushTest::Commit(Flush flush, const std::set<int64_t>& left_out) {
  FlushResult result;
  const absl::Status status = TryCommit(std::move(flush), &result, left_out);
  EXPECT_TRUE(status.ok()) << status;
  return result;
}

FlushResult FlushTest::Open(const ActiveRun& run, const std::string& count_on) {
  Flush flush;
  flush.opens.push_back({run, count_on});
  return Commit(std::move(flush));
}

FlushResult FlushTest::Close(const ActiveRun& run, RunStatus status, const std::string& watermark,
                             AttemptResult result, const std::string& reason) {
  Flush flush;
  RunClose close;
  close.run_id = run.run_id;
  close.run = run;
  close.status = status;
  close.status_reason = reason;
  close.result = std::move(result);
  close.watermark = watermark;
  close.ended_at = At("2026-11-27T18:00:00Z");
  flush.closes.push_back(std::move(close));
  return Commit(std::move(flush));
}

std::string FlushTest::Watermark(const std::string& job_name, const std::string& date) {
  return database_.Sql("SELECT status FROM job_watermark WHERE job_name = $1 AND biz_date = $2",
                       {job_name, date});
}

}  // namespace tidemark
