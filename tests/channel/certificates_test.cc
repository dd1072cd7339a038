// Certificates and keys: what is made, and what is refused before anybody relies on it.
#include "scheduler/cli/certificates.h"

#include "common/address.h"
#include "common/secret.h"
#include "common/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/channel/tls_dir.h"

namespace tidemark {
namespace {

using testing::HasSubstr;

TEST(TlsFilesTest, RefusalsNameTheFileAndTheFault) {
  const TlsDir dir;
  const TlsFiles good = dir.Issue("server", {"localhost"});
  EXPECT_TRUE(CheckTlsFiles(good, TlsDir::Now()).ok());
  const auto problem = [&](TlsFiles files) { return Message(CheckTlsFiles(files, TlsDir::Now())); };
  EXPECT_THAT(problem({good.cert, "", ""}), HasSubstr("go together"));
  EXPECT_THAT(problem({dir.Path("nowhere"), good.key, ""}), HasSubstr("cannot be read"));
  EXPECT_THAT(problem({good.key, good.key, ""}), HasSubstr("holds no certificate"));
  EXPECT_THAT(problem({good.cert, good.cert, ""}), HasSubstr("no private key"));
  EXPECT_THAT(problem({good.cert, dir.Issue("other", {}).key, ""}), HasSubstr("is not the key"));
  EXPECT_THAT(problem(dir.Issue("late", {}, -absl::Minutes(1))), HasSubstr("is expired"));
  EXPECT_THAT(Message(CheckTlsFiles(good, TlsDir::Now() - absl::Hours(3))),
              HasSubstr("not valid yet"));
  chmod(good.key.c_str(), 0644);
  EXPECT_THAT(problem(good), HasSubstr("chmod 0600"));
}

TEST(TlsFilesTest, ACertificateIsForTheNamesInIt) {
  const TlsDir dir;
  const std::string cert = dir.Issue("server", {"s1.example", "10.0.0.1"}).cert;
  EXPECT_TRUE(CertificateIsFor(cert, "s1.example").value());
  EXPECT_TRUE(CertificateIsFor(cert, "10.0.0.1").value());
  EXPECT_FALSE(CertificateIsFor(cert, "s2.example").value());
  EXPECT_FALSE(CertificateIsFor(cert, "10.0.0.2").value());
  EXPECT_FALSE(CertificateIsFor(dir.Path("nowhere"), "s1.example").ok());
}

TEST(CertificatesTest, HostsAreNamesOrAddresses) {
  const absl::Time now = TlsDir::Now();
  const PemPair ca = MakeAuthority("x", now, now + absl::Hours(1)).value();
  for (const char* good : {"a.example", "10.0.0.1", "::1", "*.example"}) {
    EXPECT_TRUE(MakeCertificate(ca, "x", {good}, now, now + absl::Hours(1)).ok()) << good;
  }
  for (const char* bad : {"", "a b", "a,IP:1.2.3.4", "a\n", "a:7400"}) {
    EXPECT_FALSE(MakeCertificate(ca, "x", {bad}, now, now + absl::Hours(1)).ok()) << bad;
  }
}

TEST(SecretTest, S02WellKnownAndWeakSecretsAreRefused) {
  for (const char* weak :
       {"", "default_token", "changeme", "Change-Me", "changemechangeme", "password",
        "passwordpassword1", "default_token_default_token", "fifteen-bytes-x", "aaaaaaaaaaaaaaaaaa",
        "CHANGEME1234567890", "tidemark-tidemark-2026", "secretsecretsecret"}) {
    EXPECT_NE(SecretProblem(weak), "") << weak;
  }
  for (const char* strong : {"sixteen-bytes-ok", "tmk_0123456789abcdef",
                             "correct horse battery staple", "defaulted loans of the month"}) {
    EXPECT_EQ(SecretProblem(strong), "") << strong;
  }
}

TEST(SecretTest, AFileIsReadWithoutTheSecretInItsErrors) {
  const TlsDir dir;
  dir.Write("good", "  0123456789abcdef0123 \r\nsecond line\n");
  EXPECT_EQ(ReadSecretFile(dir.Path("good")).value(), "0123456789abcdef0123");
  dir.Write("weak", "hunter2\n");
  const std::string message = Message(ReadSecretFile(dir.Path("weak")).status());
  EXPECT_THAT(message, HasSubstr(dir.Path("weak")));
  EXPECT_THAT(message, HasSubstr("shorter than 16 bytes"));
  EXPECT_THAT(message, testing::Not(HasSubstr("hunter2")));
  EXPECT_FALSE(ReadSecretFile(dir.Path("nowhere")).ok());
}

TEST(AddressTest, LoopbackIsWhatStaysOnThisMachine) {
  for (const char* here : {"127.0.0.1:1", "127.9.9.9:1", "localhost:1", "[::1]:1"}) {
    EXPECT_TRUE(IsLoopbackAddress(here)) << here;
  }
  for (const char* elsewhere :
       {"0.0.0.0:1", "10.0.0.1:1", "127.example.com:1", "127.0.0.1.example.com:1", "[::]:1",
        "localhost.example:1", "localhost", ":1", "::1:1", "dns:///127.0.0.1:1", "unix:/tmp/x:1"}) {
    EXPECT_FALSE(IsLoopbackAddress(elsewhere)) << elsewhere;
  }
}

}  // namespace
}  // namespace tidemark
