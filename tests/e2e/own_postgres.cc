#include "tests/e2e/own_postgres.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/support/process.h"

namespace tidemark {

OwnPostgres::OwnPostgres() {
  char dir[] = "/tmp/tidemark-own-XXXXXX";
  EXPECT_NE(mkdtemp(dir), nullptr);
  file_ = std::string(dir) + "/postgres.url";
  const auto started =
      RunCommand({TIDEMARK_POSTGRES_SCRIPT, "start", file_, std::to_string(getpid())});
  EXPECT_TRUE(started.ok()) << started.status();
  url_ = ReadFile(file_);
  url_.erase(url_.find_last_not_of('\n') + 1);
  dir_ = url_.substr(5, url_.find(' ') - 5);
}

OwnPostgres::~OwnPostgres() {
  (void)RunCommand({TIDEMARK_POSTGRES_SCRIPT, "stop", file_});
  rmdir(file_.substr(0, file_.rfind('/')).c_str());
}

void OwnPostgres::Control(const std::vector<std::string>& arguments) {
  std::string command = "cd /; exec ";
  if (geteuid() == 0) command += "setpriv --reuid=postgres --regid=postgres --init-groups ";
  command += "$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)/pg_ctl -D " + dir_ + "/data";
  for (const std::string& argument : arguments) command += " '" + argument + "'";
  const auto done = RunCommand({"/bin/bash", "-c", command + " >/dev/null 2>&1 </dev/null"});
  EXPECT_TRUE(done.ok()) << done.status();
}

void OwnPostgres::Stop() { Control({"-m", "immediate", "-w", "stop"}); }

void OwnPostgres::Start() {
  Control({"-w", "-t", "60", "-l", dir_ + "/server.log", "start", "-o",
           "-k " + dir_ + " -c listen_addresses= -c fsync=off"});
}

}  // namespace tidemark
