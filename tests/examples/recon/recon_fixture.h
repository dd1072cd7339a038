// A database of its own, a folder of bills and a handler's configuration for each test.
#ifndef TIDEMARK_TESTS_EXAMPLES_RECON_RECON_FIXTURE_H_
#define TIDEMARK_TESTS_EXAMPLES_RECON_RECON_FIXTURE_H_

#include <gtest/gtest.h>

#include <string>

#include "executor/examples/recon/handler.h"
#include "tests/support/test_database.h"

namespace tidemark::recon {

class ReconFixture : public ::testing::Test {
 protected:
  ReconFixture();
  ~ReconFixture() override;

  const std::string& url() const { return config_.database_url; }
  const std::string& dir() const { return dir_; }
  // The only row of the answer, its columns joined by a blank; NULL is "".
  std::string Query(const std::string& sql) const;
  // Marks one difference of that kind as worked on.
  void WorkOnOne(const std::string& kind) const;
  // Everything of the differences that were worked on.
  std::string Handled() const;

  TestDatabase database_;
  std::string dir_;
  HandlerConfig config_;
};

}  // namespace tidemark::recon

#endif  // TIDEMARK_TESTS_EXAMPLES_RECON_RECON_FIXTURE_H_
