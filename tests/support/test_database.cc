#include "tests/support/test_database.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <pqxx/pqxx>

#include "common/id.h"

namespace tidemark {
namespace {

std::string ServerUrl() {
  std::ifstream in(TIDEMARK_TEST_POSTGRES_FILE);
  std::string url;
  if (!std::getline(in, url)) {
    std::fprintf(stderr,
                 "This test needs the PostgreSQL of a test run. Run it with ctest, or before it: "
                 "%s start %s\n",
                 TIDEMARK_TEST_POSTGRES_SCRIPT, TIDEMARK_TEST_POSTGRES_FILE);
    std::exit(1);
  }
  return url;
}

void Execute(const std::string& sql) {
  pqxx::connection connection(ServerUrl());
  pqxx::nontransaction transaction(connection);
  transaction.exec(sql);
}

}  // namespace

TestDatabase::TestDatabase() : name_("test_" + RandomHex(8, SystemRandom())) {
  Execute("CREATE DATABASE " + name_);
  // Of two settings of one keyword the last wins.
  url_ = ServerUrl() + " dbname=" + name_;
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
