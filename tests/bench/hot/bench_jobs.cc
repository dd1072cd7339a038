#include "tests/bench/hot/bench_jobs.h"

#include <grpcpp/grpcpp.h>

#include <vector>

#include "common/clock.h"
#include "common/id.h"
#include "common/time_text.h"
#include "scheduler/rpc/job_codec.h"
#include "tidemark/v1/operator.grpc.pb.h"

namespace tidemark {
namespace {

// As COPY's text form wants it.
std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// A stored definition around the number in the job's name.
struct Template {
  std::string head;
  std::string tail;
};

std::vector<Template> TemplatesOf(const std::vector<JobSpec>& likes, const std::string& prefix) {
  constexpr char kName[] = "BENCH.NAME";
  std::vector<Template> templates;
  for (JobSpec spec : likes) {
    spec.name = kName;
    const std::string text = Escaped(EncodeJobSpec(spec));
    const size_t at = text.find(kName);
    templates.push_back({text.substr(0, at) + prefix + "-", text.substr(at + sizeof kName - 1)});
  }
  return templates;
}

}  // namespace

JobSpec IntervalJob(const std::string& app, absl::Time first, absl::Duration every) {
  JobSpec spec;
  spec.app = app;
  spec.handler = "work-0";
  spec.schedule.kind = ScheduleSpec::Kind::kEvery;
  spec.schedule.zone = "UTC";
  spec.schedule.every = every;
  spec.schedule.anchor = first;
  spec.misfire.policy = MisfirePolicy::kFireAll;
  spec.misfire.cap = 10000;
  spec.blocking.policy = BlockingPolicy::kConcurrent;
  spec.blocking.concurrent = 100;
  return spec;
}

JobSpec DatedJob(const std::string& app) {
  JobSpec spec;
  spec.app = app;
  spec.handler = "work-0";
  spec.schedule.cron = "0 0 1 * * ?";
  spec.schedule.zone = "UTC";
  return spec;
}

void LoadJobs(BenchSql& sql, const std::vector<JobSpec>& likes, const std::string& prefix,
              int count) {
  const std::vector<Template> templates = TemplatesOf(likes, prefix);
  const std::string now = sql.Text("SELECT tidemark_now()");
  const int64_t first = NewJobId(SystemClock().WallNow(), SystemRandom());
  int i = 0;
  sql.Text("BEGIN");
  sql.Copy(
      "COPY job (job_id, name, namespace, app, shard, version, created_at, updated_at) FROM STDIN",
      [&](std::string* out) {
        if (i == count) return false;
        const JobSpec& spec = likes[static_cast<size_t>(i) % likes.size()];
        *out += std::to_string(first + i) + "\t" + prefix + "-" + std::to_string(i) + "\t" +
                spec.ns + "\t" + spec.app + "\t" + std::to_string(ShardOf(first + i)) + "\t1\t" +
                now + "\t" + now + "\n";
        ++i;
        return true;
      });
  i = 0;
  sql.Copy("COPY job_version (job_id, version, valid_from, spec, author, calendar) FROM STDIN",
           [&](std::string* out) {
             if (i == count) return false;
             const Template& text = templates[static_cast<size_t>(i) % templates.size()];
             *out += std::to_string(first + i) + "\t1\t" + now + "\t" + text.head +
                     std::to_string(i) + text.tail + "\tbench\t\n";
             ++i;
             return true;
           });
  sql.Text("COMMIT");
  // Outside: VACUUM takes no transaction, and two statements at once are one.
  sql.Text("VACUUM ANALYZE job");
  sql.Text("VACUUM ANALYZE job_version");
}

void ApplyJobs(const std::vector<JobSpec>& specs, const std::string& address) {
  v1::ApplyJobsRequest request;
  request.set_actor("bench");
  for (const JobSpec& spec : specs) *request.add_jobs() = JobSpecToProto(spec);
  const auto stub = v1::OperatorService::NewStub(
      grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  v1::ApplyJobsResponse response;
  const grpc::Status status = stub->ApplyJobs(&context, request, &response);
  if (!status.ok()) BenchDie("apply: " + status.error_message());
}

void CheckLoaded(BenchSql& sql, const JobSpec& like, const std::string& prefix,
                 const std::string& address) {
  JobSpec spec = like;
  spec.name = prefix + "-applied";
  ApplyJobs({spec}, address);
  const auto row = [&](const std::string& name) {
    return sql.Text(
        "SELECT j.namespace || '|' || j.app || '|' || j.version || '|' || j.paused || '|' || "
        "j.error || '|' || j.finished || '|' || v.version || '|' || v.author || '|' || v.calendar "
        "|| '|' || (v.valid_from = j.created_at) || '|' || (j.created_at = j.updated_at) || '|' || "
        "replace(v.spec, j.name, '?') FROM job j JOIN job_version v USING (job_id) "
        "WHERE j.name = '" +
        name + "'");
  };
  const std::string loaded = row(prefix + "-0");
  const std::string applied = row(spec.name);
  if (loaded != applied) {
    BenchDie("a loaded job is not what an applied one is:\n" + loaded + "\n" + applied);
  }
}

void LoadNightBefore(BenchSql& sql, absl::Time due) {
  const absl::Time before = due - absl::Hours(24);
  const std::string fired = "timestamptz '" + FormatInstant(before) + "'";
  const std::string date =
      "date '" + FormatDate(absl::ToCivilDay(before, absl::UTCTimeZone()) - 1) + "'";
  sql.Text("BEGIN");
  sql.Text("UPDATE job_version SET valid_from = valid_from - interval '2 days'");
  sql.Text("UPDATE job SET created_at = created_at - interval '2 days', ledger_from = " + date +
           ", due_until = " + date);
  sql.Text(
      "INSERT INTO job_watermark (job_name, biz_date, status, job_id, finished_at, updated_at) "
      "SELECT name, " +
      date + ", 'DONE', job_id, " + fired + ", " + fired + " FROM job");
  sql.Text("INSERT INTO due_date (job_id, biz_date, fire_time, settled) SELECT job_id, " + date +
           ", " + fired + ", true FROM job");
  sql.Text("COMMIT");
  for (const char* table : {"job", "job_version", "job_watermark", "due_date"}) {
    sql.Text(std::string("VACUUM ANALYZE ") + table);
  }
}

void MoveDatabaseClock(BenchSql& sql, absl::Duration ahead) {
  sql.Text(
      "CREATE OR REPLACE FUNCTION tidemark.tidemark_now() RETURNS timestamptz LANGUAGE sql "
      "VOLATILE PARALLEL SAFE AS $$ SELECT clock_timestamp() + interval '" +
      std::to_string(absl::ToInt64Microseconds(ahead)) + " microseconds' $$");
}

}  // namespace tidemark
