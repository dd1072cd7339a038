// Bad clients at both ports, while regular work goes on: nothing is late, memory is bounded.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "tests/e2e/world.h"
#include "tests/support/raw_client.h"
#include "tidemark/v1/operator.grpc.pb.h"

namespace tidemark {
namespace {

constexpr absl::Duration kAttack = absl::Seconds(10);

// KiB of physical memory, at most so far.
long PeakMemory(pid_t pid) {  // NOLINT(google-runtime-int): what atol returns
  const std::string status = ReadFile("/proc/" + std::to_string(pid) + "/status");
  const size_t at = status.find("VmHWM:");
  return at == std::string::npos ? 0 : std::atol(status.c_str() + at + 6);
}

// Bytes that mean nothing; the same in each run.
std::string Garbage(uint64_t seed, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    bytes += static_cast<char>(seed >> 56);
  }
  return bytes;
}

const char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// What one bad client says first.
std::string FirstWords(uint64_t n) {
  switch (n % 8) {
    case 0:
      return "";  // half-open
    case 1:
      return Garbage(n, 200);
    case 2:
      return "POST /v1/OperatorService/ListRuns HTTP/1.1\r\nHost: h\r\nContent-Type: "
             "application/json\r\nContent-Length: 4000000\r\n\r\n{";
    case 3:
      return "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n";
    case 4:
      return kPreface;
    case 5:  // a frame of 16 MiB, and what is no frame at all
      return std::string(kPreface) + std::string("\xff\xff\xff\x00\x00\x00\x00\x00\x01", 9) +
             Garbage(n, 2000);
    case 6:
      return std::string(kPreface) + std::string("\x00\x00\x00\x04\x00\x00\x00\x00\x00", 9) +
             Garbage(n, 500);
    default:
      return "GET /metrics HTTP/1.1\r\nHost: " + std::string(20000, 'x') + "\r\n\r\n";
  }
}

// Comes kRate times a second, and keeps the last 150 connections open.
void Flood(const std::string& address, uint64_t seed, const std::atomic<bool>& stop,
           std::atomic<int>& connections) {
  constexpr double kRate = 500;
  std::deque<RawClient> open;
  const absl::Duration start = SystemClock().Monotonic();
  uint64_t n = 0;
  while (!stop) {
    WaitFor([&] {
      return stop || static_cast<double>(n) <
                         kRate * absl::ToDoubleSeconds(SystemClock().Monotonic() - start);
    });
    open.emplace_back(address);
    if (open.back().connected()) {
      ++connections;
      open.back().Send(FirstWords(seed + n));
    } else {
      open.pop_back();
    }
    ++n;
    if (open.size() > 150) open.pop_front();
  }
}

// One byte now and then on many connections.
void Trickle(const std::string& address, const std::atomic<bool>& stop) {
  std::vector<RawClient> open;
  for (int i = 0; i < 50; ++i) open.emplace_back(address);
  size_t at = 0;
  const std::string words = "POST /v1/OperatorService/ListRuns HTTP/1.1\r\nX: ";
  WaitFor(
      [&] {
        for (RawClient& client : open) {
          if (client.connected()) client.Send(at < words.size() ? words.substr(at, 1) : "y");
        }
        ++at;
        return stop.load();
      },
      kAttack * 3);
}

// Well-formed calls that are too large.
void Oversize(const std::string& address, const std::atomic<bool>& stop,
              std::atomic<int>& refused) {
  const auto stub = v1::OperatorService::NewStub(
      grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  v1::TriggerJobRequest request;
  request.set_name("tick");
  request.set_reason(std::string(20 << 20, 'x'));
  while (!stop) {
    grpc::ClientContext context;
    v1::TriggerJobResponse response;
    const grpc::Status status = stub->TriggerJob(&context, request, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
    if (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED) ++refused;
  }
}

TEST(HostileTest, BadClientsDelayNobodyAndMemoryIsBounded) {
  World world;
  world.settings.scheduler_env["TIDEMARK_HTTP_LISTEN"] = "127.0.0.1:0";
  world.settings.scheduler_env["TIDEMARK_HTTP_ADDRESS_FILE"] = world.Path("http.addr");
  world.StartScheduler();
  ASSERT_TRUE(WaitFor([&] { return !ReadFile(world.Path("http.addr")).empty(); }));
  std::string http;
  std::ifstream(world.Path("http.addr")) >> http;
  world.StartProbe("e1", 10);
  world.Apply(
      "jobs:\n  - name: tick\n    app: ops\n    handler: noop\n"
      "    schedule: {every: 1s, zone: UTC}\n    blocking: {policy: concurrent, concurrent: 5}\n");
  const std::string ended = "SELECT count(*) FROM run_history WHERE status = 'COMPLETED'";
  ASSERT_TRUE(WaitFor([&] { return std::atoi(world.Sql(ended).c_str()) >= 5; }));
  const std::string late = "extract(epoch FROM coalesce(a.started_at, a.ended_at) - h.fire_time)";
  // Of a machine as busy as this one is, without the attack.
  const double usual = std::atof(
      world.Sql("SELECT max(" + late + ") FROM run_history h JOIN attempt a USING (run_id)")
          .c_str());
  const pid_t scheduler = world.program("scheduler").pid();
  const auto before = PeakMemory(scheduler);
  const std::string begin = world.Sql("SELECT date_trunc('second', now()) + interval '1 s'");

  std::atomic<bool> stop = false;
  std::atomic<int> connections = 0;
  std::atomic<int> refused = 0;
  std::vector<std::thread> bad;
  bad.emplace_back([&] { Flood(world.address(), 0, stop, connections); });
  bad.emplace_back([&] { Flood(http, 3, stop, connections); });
  bad.emplace_back([&] { Trickle(http, stop); });
  bad.emplace_back([&] { Trickle(world.address(), stop); });
  bad.emplace_back([&] { Oversize(world.address(), stop, refused); });
  const absl::Duration start = SystemClock().Monotonic();
  int asked = 0;
  int answered = 0;
  WaitFor(
      [&] {
        ++asked;
        const RawResponse response =
            HttpPost(http, "/v1/OperatorService/ListRuns", R"({"limit":1})");
        if (response.status == 200) ++answered;
        return SystemClock().Monotonic() - start >= kAttack;
      },
      kAttack * 10);
  const std::string end = world.Sql("SELECT date_trunc('second', now())");
  stop = true;
  for (std::thread& thread : bad) thread.join();
  const double seconds = absl::ToDoubleSeconds(SystemClock().Monotonic() - start);

  const std::string window =
      " FROM run_history h JOIN attempt a USING (run_id) WHERE a.attempt = 1 AND h.fire_time "
      ">= "
      "'" +
      begin + "' AND h.fire_time < '" + end + "'";
  const std::string due =
      world.Sql("SELECT extract(epoch FROM '" + end + "'::timestamptz - '" + begin + "')::bigint");
  EXPECT_TRUE(WaitFor([&] {
    return world.Sql("SELECT count(DISTINCT h.fire_time)" + window) == due;
  })) << "every second has its run";
  const double median = std::atof(
      world.Sql("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY " + late + ")" + window)
          .c_str());
  const double worst = std::atof(world.Sql("SELECT max(" + late + ")" + window).c_str());
  const auto grown = PeakMemory(scheduler) - before;
  std::printf(
      "%d bad connections in %.1f s, %d calls too large; regular: median %.3f s late, worst "
      "%.3f s; operator %d of %d; memory +%ld MiB\n",
      connections.load(), seconds, refused.load(), median, worst, answered, asked, grown / 1024);
  EXPECT_GE(connections, 2000) << "no attack to speak of";
  EXPECT_GE(refused, 1);
  EXPECT_LE(median, 0.5 + 2 * usual);
  EXPECT_LE(worst, 5 + 2 * usual);
  EXPECT_GE(answered * 10, asked * 9) << "an operator gets through";
  EXPECT_LE(grown, 300 * 1024);
  EXPECT_EQ(world.Sql("SELECT count(*) FROM skipped_range"), "0");
  EXPECT_EQ(HttpGet(http, "/readyz").status, 200);
}

}  // namespace
}  // namespace tidemark
