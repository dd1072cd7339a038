#include "tests/support/server_pair.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "common/id.h"

namespace tidemark {
namespace {

void Script(const std::string& arguments) {
  const std::string command = "'" TIDEMARK_TEST_POSTGRES_SCRIPT "' " + arguments;
  if (std::system(command.c_str()) == 0) return;
  std::fprintf(stderr, "failed: %s\n", command.c_str());
  std::abort();
}

std::string FirstLine(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// "host=FOLDER …": the folder.
std::string HostOf(const std::string& url) {
  const size_t begin = url.find('=') + 1;
  return url.substr(begin, url.find(' ') - begin);
}

}  // namespace

ServerPair::ServerPair() : base_("/tmp/tidemark-pair." + RandomHex(8, SystemRandom())) {
  const std::string pid = " " + std::to_string(getpid());
  Script("start " + base_ + ".primary" + pid);
  primary_url_ = FirstLine(base_ + ".primary");
  Script("standby " + base_ + ".standby " + base_ + ".primary" + pid);
  standby_url_ = FirstLine(base_ + ".standby");
}

ServerPair::~ServerPair() {
  Script("stop " + base_ + ".standby");
  Script("stop " + base_ + ".primary");
}

std::string ServerPair::url() const {
  return "host=" + HostOf(standby_url_) + "," + HostOf(primary_url_) +
         " user=tidemark dbname=postgres";
}

void ServerPair::StopPrimary() { Script("stop " + base_ + ".primary"); }
void ServerPair::Promote() { Script("promote " + base_ + ".standby"); }

}  // namespace tidemark
