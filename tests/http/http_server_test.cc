// The HTTP server against peers that are slow, large, many, or speak no HTTP.
#include "scheduler/http/http_server.h"

#include <string>
#include <thread>
#include <vector>

#include "common/mutex.h"
#include "common/status.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"
#include "tests/support/raw_client.h"

namespace tidemark {
namespace {

// Answers with what came; keeps replies to /later until they are let go.
class Echo {
 public:
  std::unique_ptr<HttpServer> Start(HttpOptions options = {}) {
    options.listen = "127.0.0.1:0";
    auto server =
        HttpServer::Start(std::move(options), [this](WebRequest request, HttpReply reply) {
          if (request.path == "/later") {
            const MutexLock lock(&mutex_);
            kept_.push_back(std::move(reply));
            return;
          }
          if (request.path == "/big") {
            reply({200, std::string(std::stoul(request.query), 'x')});
            return;
          }
          reply({200, request.method + " " + request.path + "?" + request.query + " " +
                          std::to_string(request.body.size()) + " " + request.peer.substr(0, 15)});
        });
    EXPECT_TRUE(server.ok()) << Message(server.status());
    return *std::move(server);
  }
  size_t kept() {
    const MutexLock lock(&mutex_);
    return kept_.size();
  }
  void LetGo() {
    std::vector<HttpReply> replies;
    {
      const MutexLock lock(&mutex_);
      replies.swap(kept_);
    }
    for (const HttpReply& reply : replies) reply({200, "late"});
  }

 private:
  Mutex mutex_;
  std::vector<HttpReply> kept_ ABSL_GUARDED_BY(mutex_);
};

std::string Post(const std::string& path, size_t size, const std::string& more = "") {
  return "POST " + path + " HTTP/1.1\r\nHost: h\r\n" + more +
         "Content-Length: " + std::to_string(size) + "\r\n\r\n";
}

TEST(HttpServerTest, AnswersAndKeepsTheConnection) {
  Echo echo;
  const auto server = echo.Start();
  RawClient client(server->address());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Send(Post("/a/b?c=d", 5) + "12345"));
    const RawResponse response = client.Read();
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "POST /a/b?c=d 5 ipv4:127.0.0.1:");
    EXPECT_NE(response.headers.find("nosniff"), std::string::npos);
  }
  // Two at once: answered one after the other.
  ASSERT_TRUE(client.Send(Post("/1", 0) + Post("/2", 0)));
  EXPECT_EQ(client.Read().body.substr(0, 7), "POST /1");
  EXPECT_EQ(client.Read().body.substr(0, 7), "POST /2");
  EXPECT_EQ(server->counts().accepted, 1u);
}

TEST(HttpServerTest, ARequestThatWaitsForConsentGetsIt) {
  Echo echo;
  const auto server = echo.Start();
  RawClient client(server->address());
  ASSERT_TRUE(client.Send(Post("/x", 3, "Expect: 100-continue\r\n")));
  EXPECT_EQ(client.Read().status, 100);
  ASSERT_TRUE(client.Send("abc"));
  EXPECT_EQ(client.Read().status, 200);
}

TEST(HttpServerTest, WhatIsTooLargeIsRefusedWithTheLimitNamed) {
  HttpOptions options;
  options.max_body_bytes = 1000;
  options.max_header_bytes = 2000;
  Echo echo;
  const auto server = echo.Start(options);
  {
    RawClient client(server->address());
    ASSERT_TRUE(client.Send(Post("/x", 1001)));
    const RawResponse response = client.Read();
    EXPECT_EQ(response.status, 413);
    EXPECT_NE(response.body.find("1000 bytes (http-max-body)"), std::string::npos) << response.body;
    EXPECT_TRUE(client.Closed());
  }
  {
    RawClient client(server->address());
    client.Send("GET / HTTP/1.1\r\nX: " + std::string(5000, 'y') + "\r\n\r\n");
    EXPECT_EQ(client.Read().status, 431);
  }
  {
    RawClient client(server->address());
    ASSERT_TRUE(client.Send("POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"));
    EXPECT_EQ(client.Read().status, 411);
  }
  EXPECT_EQ(server->counts().bad, 3u);
}

TEST(HttpServerTest, WhatAProxyMayReadDifferentlyIsRefused) {
  Echo echo;
  const auto server = echo.Start();
  const std::string hidden = "GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n";
  for (const char* coding : {"chunked, identity", "identity", "gzip", "xchunked"}) {
    RawClient client(server->address());
    ASSERT_TRUE(client.Send("POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: " +
                            std::string(coding) + "\r\n\r\n0\r\n\r\n" + hidden));
    EXPECT_EQ(client.Read().status, 411) << coding;
    EXPECT_TRUE(client.Closed()) << "the body must not be taken for a request: " << coding;
  }
  for (const char* header : {"Host", "Authorization", "Content-Type", "Origin"}) {
    RawClient client(server->address());
    const std::string twice = std::string(header) + ": a\r\n" + header + ": b\r\n";
    ASSERT_TRUE(client.Send("POST /x HTTP/1.1\r\n" + twice + "Content-Length: 0\r\n\r\n"));
    const RawResponse response = client.Read();
    EXPECT_EQ(response.status, 400) << header;
    EXPECT_NE(response.body.find(header), std::string::npos) << response.body;
    EXPECT_TRUE(client.Closed());
  }
}

TEST(HttpServerTest, WhatIsNoHttpIsToldSoAndClosed) {
  Echo echo;
  const auto server = echo.Start();
  const std::vector<std::string> garbage = {
      std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + "\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", std::string(100, '\0') + "\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"};
  for (const std::string& bytes : garbage) {
    RawClient client(server->address());
    client.Send(bytes);
    EXPECT_EQ(client.Read().status, 400) << bytes;
    EXPECT_TRUE(client.Closed());
  }
  EXPECT_EQ(HttpGet(server->address(), "/").status, 200);
}

TEST(HttpServerTest, ATrickleDoesNotExtendTheTime) {
  HttpOptions options;
  options.read_timeout = absl::Milliseconds(300);
  Echo echo;
  const auto server = echo.Start(options);
  RawClient silent(server->address());
  RawClient header(server->address());
  RawClient body(server->address());
  ASSERT_TRUE(body.Send(Post("/x", 1000)));
  // One byte each few milliseconds, until they are cut.
  std::string trickle = "GET / HTTP/1.1\r\nX: ";
  size_t at = 0;
  const bool cut = WaitFor([&] {
    header.Send(at < trickle.size() ? trickle.substr(at++, 1) : "y");
    body.Send("z");
    return server->counts().timed_out == 3;
  });
  EXPECT_TRUE(cut);
  EXPECT_TRUE(silent.Closed());
  EXPECT_TRUE(header.Closed());
  EXPECT_TRUE(body.Closed());
  EXPECT_TRUE(WaitFor([&] { return server->counts().open == 0; }));
}

TEST(HttpServerTest, AReaderThatDoesNotReadIsCut) {
  HttpOptions options;
  options.write_timeout = absl::Milliseconds(300);
  Echo echo;
  const auto server = echo.Start(options);
  RawClient client(server->address());
  ASSERT_TRUE(client.Send("GET /big?30000000 HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_TRUE(WaitFor([&] { return server->counts().timed_out == 1; }));
}

TEST(HttpServerTest, TheOneThatKeepsUsWaitingLongestGivesWay) {
  HttpOptions options;
  options.max_connections = 8;
  options.read_timeout = absl::Minutes(10);
  Echo echo;
  const auto server = echo.Start(options);
  std::vector<RawClient> idle;
  idle.reserve(8);
  for (int i = 0; i < 8; ++i) {
    idle.emplace_back(server->address());
    ASSERT_TRUE(idle.back().connected());
    ASSERT_TRUE(WaitFor([&] { return server->counts().open == static_cast<size_t>(i) + 1; }));
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(HttpGet(server->address(), "/").status, 200);
  EXPECT_GE(server->counts().displaced, 1u);
  EXPECT_TRUE(idle.front().Closed());
  // The youngest still stands.
  ASSERT_TRUE(idle.back().Send("GET /still HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_EQ(idle.back().Read().status, 200);
}

TEST(HttpServerTest, ThoseThatAreBeingAnsweredDoNotGiveWay) {
  HttpOptions options;
  options.max_connections = 2;
  Echo echo;
  const auto server = echo.Start(options);
  RawClient first(server->address());
  RawClient second(server->address());
  ASSERT_TRUE(first.Send(Post("/later", 0)));
  ASSERT_TRUE(second.Send(Post("/later", 0)));
  ASSERT_TRUE(WaitFor([&] { return echo.kept() == 2; }));
  RawClient third(server->address());
  EXPECT_TRUE(third.Closed());
  echo.LetGo();
  EXPECT_EQ(first.Read().body, "late");
  EXPECT_EQ(second.Read().body, "late");
}

TEST(HttpServerTest, MemoryOfBodiesIsBounded) {
  HttpOptions options;
  options.max_body_bytes = 1 << 20;
  options.max_held_bytes = 3 << 20;
  Echo echo;
  const auto server = echo.Start(options);
  std::vector<RawClient> held;
  held.reserve(3);
  for (int i = 0; i < 3; ++i) {
    held.emplace_back(server->address());
    ASSERT_TRUE(held.back().Send(Post("/x", 1 << 20, "Expect: 100-continue\r\n")));
    ASSERT_EQ(held.back().Read().status, 100);
  }
  RawClient more(server->address());
  ASSERT_TRUE(more.Send(Post("/x", 1 << 20)));
  EXPECT_EQ(more.Read().status, 503);
  // Small ones pass all the same.
  EXPECT_EQ(HttpPost(server->address(), "/x", "{}").status, 200);
  ASSERT_TRUE(held.front().Send(std::string(1 << 20, 'x')));
  EXPECT_EQ(held.front().Read().status, 200);
}

TEST(HttpServerTest, StopsWithRequestsUnderWayAndRepliesThatComeLater) {
  Echo echo;
  auto server = echo.Start();
  RawClient waiting(server->address());
  RawClient asking(server->address());
  ASSERT_TRUE(asking.Send(Post("/later", 0)));
  ASSERT_TRUE(WaitFor([&] { return echo.kept() == 1; }));
  server->Stop();
  EXPECT_TRUE(waiting.Closed());
  EXPECT_TRUE(asking.Closed());
  echo.LetGo();
}

TEST(HttpServerTest, ATakenPortIsNamed) {
  Echo echo;
  const auto server = echo.Start();
  HttpOptions options;
  options.listen = server->address();
  const auto second = HttpServer::Start(options, [](WebRequest, HttpReply) {});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(Message(second.status()).find("cannot listen on " + server->address()),
            std::string::npos);
}

TEST(HttpServerTest, ManyAtOnceAreServed) {
  Echo echo;
  const auto server = echo.Start();
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n) {
        if (HttpPost(server->address(), "/x", std::string(1000, 'x')).status == 200) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 800);
}

}  // namespace
}  // namespace tidemark
