#include "tests/bench/hot/baseline.h"

#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/clock.h"
#include "common/id.h"
#include "tests/bench/hot/bench_clock.h"
#include "tests/bench/hot/bench_probes.h"
#include "tests/bench/hot/bench_report.h"
#include "tests/bench/hot/bench_sql.h"
#include "tests/support/process.h"
#include "tidemark/v1/executor.grpc.pb.h"

namespace tidemark {
namespace {

constexpr int kBatch = 1024;

// The file's statements by the name in the comment line before each.
std::map<std::string, std::string> BaselineStatements() {
  const std::string text = ReadFile(TIDEMARK_SOURCE_DIR "/tests/bench/baseline.sql");
  const std::string mark = "-- name: ";
  std::map<std::string, std::string> statements;
  for (size_t at = text.find(mark); at != std::string::npos;) {
    const size_t begin = at + mark.size();
    const size_t line = text.find('\n', begin);
    at = text.find(mark, line);
    statements[text.substr(begin, line - begin)] = text.substr(line, at - line);
  }
  if (statements.size() != 3) BenchDie("tests/bench/baseline.sql is not as it should be");
  return statements;
}

// An array literal of `count` times what `element` gives; plain characters only.
template <typename Element>
std::string Array(int count, const Element& element) {
  std::string out = "{";
  for (int i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    out += element(i);
  }
  return out + "}";
}

class EchoService final : public v1::ExecutorService::Service {
 public:
  grpc::Status Connect(
      grpc::ServerContext* /*context*/,
      grpc::ServerReaderWriter<v1::SchedulerMessage, v1::ExecutorMessage>* stream) override {
    v1::ExecutorMessage in;
    v1::SchedulerMessage out;
    while (stream->Read(&in)) {
      out.mutable_heartbeat_ack()->set_sequence(in.heartbeat().sequence());
      if (!stream->Write(out)) break;
    }
    return grpc::Status::OK;
  }
};

}  // namespace

BaselineResult RunBaseline(BenchPostgres& postgres, int runs) {
  const auto statements = BaselineStatements();
  const std::string url = postgres.MakeDatabase("baseline", /*migrated=*/false);
  BaselineResult result;
  {
    BenchSql sql(url);
    sql.Text(statements.at("create"));
    RunIdSource ids(SystemRandom());
    const std::string now = sql.Text("SELECT clock_timestamp()");
    const double cpu = CpuSeconds(getpid()) + PostgresCpuSeconds(postgres.pid());
    const std::string lsn = sql.Text("SELECT pg_current_wal_insert_lsn()");
    const double begin = MonotonicSeconds();
    while (result.runs < runs) {
      const std::string id_list =
          Array(kBatch, [&](int) { return ids.Next(SystemClock().WallNow()); });
      const std::string times = Array(kBatch, [&](int) { return "\"" + now + "\""; });
      sql.Run(statements.at("insert").c_str(),
              {id_list, Array(kBatch, [&](int i) { return std::to_string(result.runs + i); }),
               times, Array(kBatch, [](int) { return std::string("bench-executor-0"); })});
      if (sql.Run(statements.at("finish").c_str(), {id_list, times, times}) != kBatch) {
        BenchDie("the baseline lost runs");
      }
      result.runs += kBatch;
    }
    const double seconds = MonotonicSeconds() - begin;
    result.per_second = result.runs / seconds;
    result.wal_per_run =
        sql.Double("SELECT pg_current_wal_insert_lsn() - '" + lsn + "'::pg_lsn") / result.runs;
    result.cpu_per_thousand =
        (CpuSeconds(getpid()) + PostgresCpuSeconds(postgres.pid()) - cpu) / result.runs * 1000;
  }
  postgres.DropDatabase("baseline");
  return result;
}

double FdatasyncSeconds(const BenchPostgres& postgres) {
  constexpr int kSamples = 200;
  const std::string file = postgres.folder() + "/fdatasync.probe";
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const std::string block(8192, 'x');
  std::vector<double> samples;
  // Written before, so that a flush carries data and not the file's growth, as WAL segments do.
  for (int i = 0; i < kSamples; ++i) {
    if (write(fd, block.data(), block.size()) < 0) BenchDie("cannot write " + file);
  }
  fdatasync(fd);
  lseek(fd, 0, SEEK_SET);
  for (int i = 0; i < kSamples; ++i) {
    const double begin = MonotonicSeconds();
    if (write(fd, block.data(), block.size()) < 0 || fdatasync(fd) != 0) BenchDie("fdatasync");
    samples.push_back(MonotonicSeconds() - begin);
  }
  close(fd);
  unlink(file.c_str());
  return Percentile(samples, 0.5);
}

double RoundTripSeconds() {
  constexpr int kSamples = 1000;
  EchoService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  const auto stub = v1::ExecutorService::NewStub(
      grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const auto stream = stub->Connect(&context);
  std::vector<double> samples;
  v1::ExecutorMessage out;
  v1::SchedulerMessage in;
  for (int i = 0; i < kSamples; ++i) {
    out.mutable_heartbeat()->set_sequence(static_cast<uint64_t>(i));
    const double begin = MonotonicSeconds();
    if (!stream->Write(out) || !stream->Read(&in)) BenchDie("the echo stream broke");
    samples.push_back(MonotonicSeconds() - begin);
  }
  stream->WritesDone();
  (void)stream->Finish();
  server->Shutdown();
  return Percentile(samples, 0.5);
}

}  // namespace tidemark
