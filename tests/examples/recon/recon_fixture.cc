#include "tests/examples/recon/recon_fixture.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <pqxx/pqxx>

namespace tidemark::recon {

ReconFixture::ReconFixture() {
  dir_ = ::testing::TempDir() + "recon.XXXXXX";
  mkdtemp(dir_.data());
  config_.database_url = database_.url();
  config_.bills_dir = dir_ + "/bills";
  config_.executor_id = "test";
  config_.generate_bills = true;
}

ReconFixture::~ReconFixture() { std::filesystem::remove_all(dir_); }

std::string ReconFixture::Query(const std::string& sql) const {
  pqxx::connection connection(url());
  pqxx::nontransaction transaction(connection);
  std::string text;
  for (const pqxx::field field : transaction.exec1(sql)) {
    text += (text.empty() ? "" : " ") + std::string(field.is_null() ? "" : field.c_str());
  }
  return text;
}

void ReconFixture::WorkOnOne(const std::string& kind) const {
  pqxx::connection connection(url());
  pqxx::work transaction(connection);
  transaction.exec_params0(
      "UPDATE recon.difference SET handling = 'RESOLVED', handled_by = 'li.na', note = 'ticket "
      "4711' "
      "WHERE difference_id = (SELECT min(difference_id) FROM recon.difference WHERE kind = $1)",
      kind);
  transaction.commit();
}

std::string ReconFixture::Handled() const {
  return Query(
      "SELECT coalesce(string_agg(d::text, ' ' ORDER BY difference_id), '') "
      "FROM recon.difference d WHERE handling <> 'NEW'");
}

}  // namespace tidemark::recon
