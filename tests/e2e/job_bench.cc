#include "tests/e2e/job_bench.h"

#include <gtest/gtest.h>

#include <fstream>

namespace tidemark {

void ApplyManual(World& world, const std::string& job, const std::string& more) {
  const std::string file = world.Path(job + ".jobs.yaml");
  std::ofstream(file) << "jobs:\n  - name: " << job << "\n    app: ops\n    handler: work\n"
                      << "    schedule: {manual: true, zone: UTC}\n"
                      << more;
  World::Answer answer;
  EXPECT_TRUE(WaitFor([&] {
    answer = world.Cli({"job", "apply", "-f", file});
    return answer.code != 5;
  }));
  EXPECT_EQ(answer.code, 0) << answer.output;
}

bool AwaitSql(World& world, const std::string& sql, const std::string& value,
              absl::Duration timeout) {
  std::string last;
  const bool seen = WaitFor(
      [&] {
        last = world.Sql(sql);
        return last == value;
      },
      timeout);
  EXPECT_TRUE(seen) << sql << "\nis " << last << ", not " << value;
  return seen;
}

bool AwaitLog(const World& world, const std::string& program, const std::string& words,
              absl::Duration timeout) {
  return WaitFor(
      [&] { return ReadFile(world.Path(program + ".log")).find(words) != std::string::npos; },
      timeout);
}

}  // namespace tidemark
