#include "executor/lock/redis_address.h"

#include <gtest/gtest.h>

#include "common/status.h"

namespace tidemark::lock {
namespace {

TEST(RedisAddressTest, ReadsEveryForm) {
  EXPECT_EQ(ParseRedisAddress("10.0.0.1:7000")->Text(), "10.0.0.1:7000");
  EXPECT_EQ(ParseRedisAddress("cache")->Text(), "cache:6379");
  EXPECT_EQ(ParseRedisAddress("[::1]:7000")->Text(), "[::1]:7000");
  EXPECT_EQ(ParseRedisAddress("unix:/run/redis.sock")->socket, "/run/redis.sock");
  EXPECT_EQ(ParseRedisAddress("unix:///run/a@/b")->socket, "/run/a@/b");
  const auto unix_login = ParseRedisAddress("unix://ops:pw@/run/r.sock?db=2&timeout=5s");
  ASSERT_TRUE(unix_login.ok()) << unix_login.status();
  EXPECT_EQ(unix_login->user, "ops");
  EXPECT_EQ(unix_login->timeout, absl::Seconds(5));
  EXPECT_EQ(unix_login->Text(), "unix:/run/r.sock?db=2");
  const auto url =
      ParseRedisAddress("redis://ops:p%40s%25%2F@cache:7000/3?connect_timeout=250ms&timeout=2s");
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_EQ(url->user, "ops");
  EXPECT_EQ(url->password, "p@s%/");
  EXPECT_EQ(url->db, 3);
  EXPECT_EQ(url->connect_timeout, absl::Milliseconds(250));
  EXPECT_EQ(url->timeout, absl::Seconds(2));
  EXPECT_EQ(url->Text(), "cache:7000/3");
  EXPECT_EQ(ParseRedisAddress("redis://:secret@cache")->password, "secret");
  EXPECT_EQ(ParseRedisAddress("redis://:se/cr?e@t@cache")->password, "se/cr?e@t");
  EXPECT_EQ(ParseRedisAddress("redis://cache/")->db, 0);
}

TEST(RedisAddressTest, ErrorsSayWhatIsWrongAndNoSecret) {
  for (const char* text : {"",
                           ":6379",
                           "host:0",
                           "host:65536",
                           "host:secret",
                           "secret@host",
                           "host/secret",
                           "redis://secret@host",
                           "redis://u:se%cret@host",
                           "redis://:secret@",
                           "redis://u:@host",
                           "redis://:secret@host:port",
                           "redis://:secret@host/db",
                           "redis://:x@host?secret=1",
                           "redis://host?timeout=secret",
                           "redis://host?timeout=0s",
                           "redis://[::1",
                           "unix:secret",
                           "unix:/r?db=secret",
                           "unix://secret@/r",
                           "rediss://:secret@host",
                           "redis://host/-1",
                           "redis://[::1]secret"}) {
    const auto address = ParseRedisAddress(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_EQ(Message(address.status()).find("secret"), std::string::npos) << address.status();
    EXPECT_NE(Message(address.status()).find("; write host:port"), std::string::npos) << text;
  }
  EXPECT_NE(Message(ParseRedisAddress("rediss://host").status()).find("TLS"), std::string::npos);
}

}  // namespace
}  // namespace tidemark::lock
