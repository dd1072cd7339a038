// The gap on real processes: dependencies through failure, repair and rerun; a person's word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/e2e/world.h"

namespace tidemark {
namespace {

using testing::HasSubstr;
using Lines = std::vector<std::string>;

constexpr char kOnce[] = "    retry: {max_attempts: 1}\n";

// An agent whose runs leave "JOB DATE" in the file `order`, and fail where a file of that name is.
void StartChainAgent(World& world) {
  world.StartAgent("a1",
                   "echo $TIDEMARK_JOB $TIDEMARK_BIZ_DATE >> $WORLD/order; "
                   "[ ! -e $WORLD/fail-$TIDEMARK_JOB-$TIDEMARK_BIZ_DATE ]");
}

Lines Order(const World& world) {
  std::istringstream text(ReadFile(world.Path("order")));
  Lines lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

void ApplyChain(World& world, int days) {
  world.ApplyDaily("recon", "ops", "work", days, kOnce);
  world.ApplyDaily("settlement", "ops", "work", days,
                   std::string(kOnce) + "    after: [{job: recon}]\n");
  world.ApplyDaily("report", "ops", "work", days,
                   std::string(kOnce) + "    after: [{job: settlement}]\n");
}

// Every line of an upstream stands before that of the same date in what follows it.
void ExpectInOrder(const Lines& order, const Lines& dates) {
  for (const std::string& date : dates) {
    const auto place = [&](const std::string& job) {
      return std::find(order.begin(), order.end(), job + " " + date) - order.begin();
    };
    EXPECT_LT(place("recon"), place("settlement")) << date;
    EXPECT_LT(place("settlement"), place("report")) << date;
    EXPECT_LT(place("report"), static_cast<std::ptrdiff_t>(order.size())) << date;
  }
}

TEST(GapTest, AChainOfJobsThroughFailureRepairAndRerun) {
  World world;
  world.StartScheduler();
  const Lines dates = DueDates(3);
  world.Touch("fail-recon-" + dates[1]);
  ApplyChain(world, 3);
  StartChainAgent(world);
  ASSERT_TRUE(WaitFor([&] {
    return world.StatusOf("recon", dates[1]) == "FAILED" &&
           world.StatusOf("report", dates[0]) == "DONE";
  }));
  const World::Answer ledger = world.Cli({"watermark", "list", "settlement"});
  EXPECT_THAT(ledger.output, HasSubstr("BLOCKED"));
  EXPECT_THAT(ledger.output, HasSubstr("after recon@" + dates[1]));
  EXPECT_EQ(world.StatusOf("settlement", dates[1]), "");
  EXPECT_EQ(world.Cli({"job", "delete", "recon"}).code, 4);
  EXPECT_THAT(world.Cli({"job", "get", "settlement"}).output,
              HasSubstr("└─ settlement (after recon)"));

  std::remove(world.Path("fail-recon-" + dates[1]).c_str());
  EXPECT_EQ(world.Cli({"job", "trigger", "recon", "--biz-date", dates[1]}).code, 0);
  ASSERT_TRUE(world.AllDone("report", dates));
  ExpectInOrder(Order(world), dates);

  const std::string run =
      world.Sql("SELECT run_id FROM job_watermark WHERE job_name = 'recon' AND biz_date = '" +
                dates[1] + "'");
  const size_t before = Order(world).size();
  const World::Answer plain = world.Cli({"run", "rerun", run, "--force", "--wait"});
  EXPECT_EQ(plain.code, 0) << plain.output;
  EXPECT_THAT(plain.output, HasSubstr("computed from the old result: " + dates[2]));
  EXPECT_EQ(Order(world).size(), before + 1);
  const World::Answer cascade = world.Cli({"run", "rerun", run, "--force", "--cascade"});
  EXPECT_EQ(cascade.code, 0) << cascade.output;
  ASSERT_TRUE(WaitFor([&] { return Order(world).size() == before + 7; }));
  const Lines order = Order(world);
  const Lines again(order.begin() + static_cast<std::ptrdiff_t>(before + 1), order.end());
  EXPECT_EQ(again, (Lines{"recon " + dates[1], "recon " + dates[2], "settlement " + dates[1],
                          "settlement " + dates[2], "report " + dates[1], "report " + dates[2]}));
  ASSERT_TRUE(WaitFor([&] { return world.Sql("SELECT count(*) FROM active_run") == "0"; }));
  EXPECT_EQ(world.Sql("SELECT count(*) FROM job_watermark WHERE status <> 'DONE'"), "0");
}

TEST(GapTest, AWaiveLetsTheChainGoOnAndIsTakenBack) {
  World world;
  world.StartScheduler();
  const Lines dates = DueDates(3);
  world.Touch("fail-recon-" + dates[0]);
  world.ApplyDaily("recon", "ops", "work", 3, kOnce);
  StartChainAgent(world);
  ASSERT_TRUE(WaitFor([&] { return world.StatusOf("recon", dates[0]) == "FAILED"; }));
  EXPECT_EQ(world.Cli({"watermark", "waive", "recon", dates[0]}).code, 2) << "without a reason";
  const World::Answer waived =
      world.Cli({"watermark", "waive", "recon", dates[0], "--reason", "the bank was closed"});
  EXPECT_EQ(waived.code, 0) << waived.output;
  EXPECT_THAT(waived.output, HasSubstr(dates[0] + " waived"));
  ASSERT_TRUE(world.AllDone("recon", {dates[1], dates[2]}));
  EXPECT_EQ(world.StatusOf("recon", dates[0]), "WAIVED");
  EXPECT_THAT(world.Cli({"watermark", "list", "recon"}).output, HasSubstr("the bank was closed"));
  EXPECT_EQ(world.Cli({"watermark", "waive", "recon", dates[1], "--reason", "x"}).code, 4)
      << "it is DONE";
  const World::Answer ahead =
      world.Cli({"watermark", "waive", "recon", "2099-01-01", "--reason", "x"});
  EXPECT_EQ(ahead.code, 2);
  EXPECT_THAT(ahead.output, HasSubstr("2099-01-01 is not due"));

  std::remove(world.Path("fail-recon-" + dates[0]).c_str());
  EXPECT_EQ(world.Cli({"watermark", "unwaive", "recon", dates[0]}).code, 0);
  ASSERT_TRUE(world.AllDone("recon", dates));
  EXPECT_EQ(world.Sql("SELECT string_agg(detail, '|' ORDER BY at) FROM audit WHERE subject = '" +
                      dates[0] + "' AND action = 'date_unwaive'"),
            "WAIVED of run " +
                world.Sql("SELECT run_id FROM run_history WHERE status = 'FAILED' ORDER BY run_id "
                          "DESC LIMIT 1") +
                " → MISSING");
}

}  // namespace
}  // namespace tidemark
