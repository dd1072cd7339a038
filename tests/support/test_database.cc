#include "tests/support/test_database.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <pqxx/pqxx>

#include "common/id.h"

namespace tidemark {
namespace {

std::string ReadLine(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// For a program that no test run started: its server ends when the program does.
std::string StartOwnServer() {
  const std::string pid = std::to_string(getpid());
  const std::string file = "/tmp/tidemark-test." + pid + ".url";
  const std::string command = "'" TIDEMARK_TEST_POSTGRES_SCRIPT "' start " + file + " " + pid;
  if (std::system(command.c_str()) != 0) return "";
  return ReadLine(file);
}

void Execute(const std::string& sql) {
  pqxx::connection connection(TestServerUrl());
  pqxx::nontransaction transaction(connection);
  transaction.exec(sql);
}

}  // namespace

std::string TestServerUrl() {
  static const std::string url = [] {
    std::string found = ReadLine(TIDEMARK_TEST_POSTGRES_FILE);
    return found.empty() ? StartOwnServer() : found;
  }();
  if (!url.empty()) return url;
  std::fprintf(stderr, "This test needs PostgreSQL, and %s could not start one.\n",
               TIDEMARK_TEST_POSTGRES_SCRIPT);
  std::exit(1);
}

TestDatabase::TestDatabase(const std::string& template_name)
    : name_("test_" + RandomHex(8, SystemRandom())) {
  Execute("CREATE DATABASE " + name_ + " TEMPLATE " + template_name);
  // Of two settings of one keyword the last wins.
  url_ = TestServerUrl() + " dbname=" + name_;
}

void TestDatabase::CopyAs(const std::string& name) const {
  Execute("CREATE DATABASE " + name + " TEMPLATE " + name_);
}

TestDatabase::~TestDatabase() {
  try {
    Execute("DROP DATABASE IF EXISTS " + name_ + " WITH (FORCE)");
  } catch (const std::exception& e) {
    // It goes with the server.
    std::fprintf(stderr, "test database %s was not dropped: %s\n", name_.c_str(), e.what());
  }
}

}  // namespace tidemark
