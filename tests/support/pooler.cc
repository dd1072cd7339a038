#include "tests/support/pooler.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "common/status.h"

namespace tidemark {
namespace {

constexpr char kProgram[] = "/usr/sbin/pgbouncer";

// The value of `keyword` in libpq's plain form; of several the last.
std::string ValueOf(const std::string& url, const std::string& keyword) {
  std::string found;
  std::istringstream words(url);
  for (std::string word; words >> word;) {
    if (word.rfind(keyword + "=", 0) == 0) found = word.substr(keyword.size() + 1);
  }
  return found;
}

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "pgbouncer: %s\n", why.c_str());
  std::abort();
}

void GiveToPostgres(const std::string& path) {
  const passwd* user = getpwnam("postgres");
  if (user == nullptr || chown(path.c_str(), user->pw_uid, user->pw_gid) != 0) {
    Fail("cannot give " + path + " to the user postgres");
  }
}

std::string Config(const std::string& folder, const std::string& server_url) {
  return "[databases]\n* = host=" + ValueOf(server_url, "host") +
         "\n[pgbouncer]\nlisten_port = 6432\nunix_socket_dir = " + folder +
         "\nauth_type = trust\nauth_file = " + folder + "/users\nlogfile = " + folder +
         // Few sessions of the server for many: who relies on having one to itself is found out.
         "/log\npool_mode = transaction\nmax_client_conn = 400\ndefault_pool_size = 6\n";
}

}  // namespace

bool Pooler::Installed() { return std::filesystem::exists(kProgram); }

Pooler::Pooler(const std::string& server_url) {
  char name[] = "/tmp/tidemark-pooler.XXXXXX";
  if (mkdtemp(name) == nullptr) Fail("cannot make a folder in /tmp");
  folder_ = name;
  std::ofstream(folder_ + "/users") << "\"" << ValueOf(server_url, "user") << "\" \"\"\n";
  std::ofstream(folder_ + "/config") << Config(folder_, server_url);
  ProcessOptions options;
  options.output_file = folder_ + "/output";
  if (geteuid() == 0) {
    for (const char* file : {"", "/users", "/config"}) GiveToPostgres(folder_ + file);
    options.argv = {"/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"};
  }
  options.argv.insert(options.argv.end(), {kProgram, folder_ + "/config"});
  auto process = Process::Start(options);
  if (!process.ok()) Fail(Message(process.status()));
  process_.emplace(*std::move(process));
  if (!WaitFor([&] { return std::filesystem::exists(folder_ + "/.s.PGSQL.6432"); })) {
    Fail("it does not come up: see " + folder_ + "/log");
  }
}

Pooler::~Pooler() {
  process_->Kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string Pooler::Through(const std::string& url) const {
  return "host=" + folder_ + " port=6432 user=" + ValueOf(url, "user") +
         " dbname=" + ValueOf(url, "dbname");
}

}  // namespace tidemark
