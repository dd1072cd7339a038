#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/store/flush_fixture.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using Kind = ExecutorRegistered::Kind;

ExecutorRegister Request(const std::string& incarnation, int64_t claimed = 0) {
  ExecutorRegister request;
  request.session = 3;
  request.executor_id = "recon-1";
  request.incarnation = incarnation;
  request.claimed = claimed;
  request.app = "recon";
  request.ns = "default";
  request.host = "h";
  request.version = "1";
  request.capacity = 4;
  request.handlers = {"recon", "odd \"name\", {x}"};
  request.labels = {{"zone", "a\"b"}};
  return request;
}

std::pair<Kind, int64_t> Judge(const ExecutorRegister& request, const ExecutorFacts& facts) {
  const ExecutorRegistered answer = Decide(request, facts);
  EXPECT_EQ(answer.session, request.session);
  return {answer.kind, answer.registration};
}

TEST(DecideTest, EveryKind) {
  const ExecutorFacts facts{"recon", 5, Uuid(5), {{Uuid(4), 4}, {Uuid(5), 5}}};
  EXPECT_EQ(Judge(Request(Uuid(1)), {}), std::pair(Kind::kNew, int64_t{1}));
  EXPECT_EQ(Judge(Request(Uuid(6)), facts), std::pair(Kind::kNew, int64_t{6}));
  EXPECT_EQ(Judge(Request(Uuid(5)), facts), std::pair(Kind::kSame, int64_t{5}));
  EXPECT_EQ(Judge(Request(Uuid(5), 5), facts), std::pair(Kind::kSame, int64_t{5}));
  // Superseded for good, whether it says its number or not.
  EXPECT_EQ(Judge(Request(Uuid(4)), facts).first, Kind::kSuperseded);
  EXPECT_EQ(Judge(Request(Uuid(4), 4), facts).first, Kind::kSuperseded);
  EXPECT_EQ(Judge(Request(Uuid(99), 3), facts).first, Kind::kSuperseded);
  // The database lost the commit of number 7.
  EXPECT_EQ(Judge(Request(Uuid(7), 7), facts), std::pair(Kind::kSame, int64_t{7}));
  // A number that was given to another process: a new one.
  EXPECT_EQ(Judge(Request(Uuid(8), 5), facts), std::pair(Kind::kNew, int64_t{6}));
  ExecutorFacts other = facts;
  other.app = "billing";
  EXPECT_EQ(Judge(Request(Uuid(5)), other).first, Kind::kOtherApp);
  EXPECT_EQ(Decide(Request(Uuid(5)), other).app, "billing");
}

class RegistrationTest : public FlushTest {
 protected:
  ExecutorRegistered Register(const ExecutorRegister& request) {
    Flush flush;
    flush.registers.push_back(request);
    const FlushResult result = Commit(std::move(flush));
    EXPECT_EQ(result.registered.size(), 1u);
    return result.registered.at(0);
  }
};

TEST_F(RegistrationTest, TheRowIsWhatTheExecutorSaid) {
  EXPECT_EQ(Register(Request(Uuid(1))).kind, Kind::kNew);
  EXPECT_THAT(database_.Rows("SELECT app, registration, incarnation, host, version, capacity,"
                             " handlers[2], labels::jsonb ->> 'zone', state FROM executor"),
              ElementsAre("recon|1|" + Uuid(1) + "|h|1|4|odd \"name\", {x}|a\"b|UP"));
}

TEST_F(RegistrationTest, AChainOfProcesses) {
  EXPECT_EQ(Register(Request(Uuid(1))).registration, 1);
  EXPECT_EQ(Register(Request(Uuid(1))).kind, Kind::kSame);
  EXPECT_EQ(Register(Request(Uuid(2))).registration, 2);
  EXPECT_EQ(Register(Request(Uuid(1))).kind, Kind::kSuperseded);
  EXPECT_EQ(Register(Request(Uuid(2), 2)).kind, Kind::kSame);
  EXPECT_EQ(Register(Request(Uuid(1), 1)).kind, Kind::kSuperseded);
  EXPECT_EQ(database_.Sql("SELECT incarnation FROM executor"), Uuid(2));
  ExecutorRegister thief = Request(Uuid(3));
  thief.app = "billing";
  EXPECT_EQ(Register(thief).kind, Kind::kOtherApp);
  EXPECT_EQ(database_.Sql("SELECT app FROM executor"), "recon");
}

TEST_F(RegistrationTest, SeveralInOneFlushAreDecidedInOrder) {
  Flush flush;
  for (int i = 1; i <= 3; ++i) flush.registers.push_back(Request(Uuid(i)));
  flush.registers.push_back(Request(Uuid(1)));
  ExecutorRegister second = Request(Uuid(9));
  second.executor_id = "a first one";
  flush.registers.push_back(second);
  const FlushResult result = Commit(std::move(flush));
  std::vector<std::pair<Kind, int64_t>> got;
  for (const auto& r : result.registered) got.emplace_back(r.kind, r.registration);
  EXPECT_THAT(
      got, ElementsAre(std::pair(Kind::kNew, 1), std::pair(Kind::kNew, 2), std::pair(Kind::kNew, 3),
                       std::pair(Kind::kSuperseded, 3), std::pair(Kind::kNew, 1)));
}

TEST_F(RegistrationTest, ADrainByAnOperatorSurvivesANewProcess) {
  Register(Request(Uuid(1)));
  database_.Sql("UPDATE executor SET drained = true");
  Register(Request(Uuid(2)));
  EXPECT_EQ(database_.Sql("SELECT drained FROM executor"), "t");
}

TEST_F(RegistrationTest, StatesAreWrittenForThePresentRegistrationAlone) {
  Register(Request(Uuid(1)));
  Register(Request(Uuid(2)));
  Flush flush;
  flush.executors.push_back({"recon-1", 1, "LOST"});
  Commit(std::move(flush));
  EXPECT_EQ(database_.Sql("SELECT state FROM executor"), "UP");
  Flush second;
  second.executors.push_back({"recon-1", 2, "GONE"});
  Commit(std::move(second));
  EXPECT_EQ(database_.Sql("SELECT state FROM executor"), "GONE");
}

}  // namespace
}  // namespace tidemark
