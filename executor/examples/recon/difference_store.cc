#include "executor/examples/recon/difference_store.h"

#include <libpq-fe.h>

#include <cstring>
#include <pqxx/pqxx>
#include <utility>

#include "common/status.h"

namespace tidemark::recon {
namespace {

// Limits that make a dead server noticed; what the URL says itself wins.
constexpr std::pair<const char*, const char*> kConnectionDefaults[] = {
    {"connect_timeout", "5"},     {"tcp_user_timeout", "15000"}, {"keepalives_idle", "10"},
    {"keepalives_interval", "5"}, {"keepalives_count", "3"},     {"application_name", "recon"}};

void AppendSetting(const char* keyword, const char* value, std::string& out) {
  out += std::string(keyword) + "='";
  for (const char* c = value; *c != '\0'; ++c) {
    if (*c == '\'' || *c == '\\') out += '\\';
    out += *c;
  }
  out += "' ";
}

// `url` in libpq's keyword form with the defaults filled in.
absl::StatusOr<std::string> ConnectionText(const std::string& url) {
  char* error = nullptr;
  PQconninfoOption* options = PQconninfoParse(url.c_str(), &error);
  if (options == nullptr) {
    const std::string what = error == nullptr ? "out of memory" : error;
    PQfreemem(error);
    return absl::InvalidArgumentError("--database-url: " + what);
  }
  std::string text;
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    if (option->val != nullptr) {
      AppendSetting(option->keyword, option->val, text);
      continue;
    }
    for (const auto& [keyword, value] : kConnectionDefaults) {
      if (std::strcmp(keyword, option->keyword) == 0) AppendSetting(keyword, value, text);
    }
  }
  PQconninfoFree(options);
  return text;
}

absl::Status LostBatch(const Batch& batch) {
  return absl::AbortedError("a later attempt works on batch " + batch.id + "; this one (" +
                            batch.fence + ") must not write any more");
}

}  // namespace

class DifferenceStore::Impl {
 public:
  Impl(std::string url, const Statements& statements)
      : url_(std::move(url)), statements_(statements) {}

  const Statements& sql() const { return statements_; }

  // Runs `work(transaction)` → absl::Status in one transaction, which commits if that is OK.
  template <typename Work>
  absl::Status Transact(const Work& work) {
    try {
      TM_RETURN_IF_ERROR(Connect());
      pqxx::work transaction(*connection_);
      // In the transaction, because libpqxx may have reconnected without saying so.
      transaction.exec0("SET LOCAL statement_timeout = '60s'");
      TM_RETURN_IF_ERROR(work(transaction));
      transaction.commit();
      return absl::OkStatus();
    } catch (const pqxx::in_doubt_error& e) {
      connection_.reset();
      return absl::UnavailableError(std::string("the commit was not confirmed: ") + e.what());
    } catch (const pqxx::broken_connection& e) {
      connection_.reset();
      return absl::UnavailableError(std::string("recon's database is away: ") + e.what());
    } catch (const pqxx::sql_error& e) {
      return FromSqlError(e);
    } catch (const std::exception& e) {
      connection_.reset();
      return absl::InternalError(std::string("recon's database: ") + e.what());
    }
  }

  absl::Status CheckFence(pqxx::work& transaction, const Batch& batch) {
    if (transaction.exec_params(statements_.check_fence, batch.id, batch.fence).empty()) {
      return LostBatch(batch);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Connect() {
    if (connection_ != nullptr) return absl::OkStatus();
    TM_ASSIGN_OR_RETURN(const std::string text, ConnectionText(url_));
    connection_ = std::make_unique<pqxx::connection>(text);
    return absl::OkStatus();
  }

  absl::Status FromSqlError(const pqxx::sql_error& e) {
    // 57P01–57P03: the server is going down or coming up; 08: the connection.
    const std::string& state = e.sqlstate();
    const bool away = state.starts_with("57P") || state.starts_with("08");
    if (away) connection_.reset();
    const std::string text = std::string("recon's database: ") + e.what();
    return away ? absl::UnavailableError(text) : absl::InternalError(text);
  }

  const std::string url_;
  const Statements statements_;
  std::unique_ptr<pqxx::connection> connection_;
};

DifferenceStore::DifferenceStore(std::string url, const Statements& statements)
    : impl_(std::make_unique<Impl>(std::move(url), statements)) {}
DifferenceStore::~DifferenceStore() = default;

absl::Status DifferenceStore::CreateTables() {
  return impl_->Transact([&](pqxx::work& transaction) {
    transaction.exec("SET LOCAL client_min_messages = warning");
    transaction.exec(impl_->sql().create_tables);
    return absl::OkStatus();
  });
}

absl::Status DifferenceStore::Begin(const Batch& batch, const std::string& after) {
  return impl_->Transact([&](pqxx::work& transaction) {
    const pqxx::result taken =
        transaction.exec_params(impl_->sql().take_batch, batch.id, batch.biz_date, batch.fence,
                                batch.run_id, batch.ours_rows, batch.channel_rows);
    if (taken.affected_rows() == 0) return LostBatch(batch);
    transaction.exec_params(impl_->sql().clear_draft, batch.id, after);
    return absl::OkStatus();
  });
}

absl::Status DifferenceStore::Append(const Batch& batch, const std::string& after,
                                     const std::vector<Difference>& differences) {
  return impl_->Transact([&](pqxx::work& transaction) {
    TM_RETURN_IF_ERROR(impl_->CheckFence(transaction, batch));
    // A commit whose confirmation was lost is repeated: what it wrote goes first.
    transaction.exec_params(impl_->sql().clear_draft, batch.id, after);
    const auto cents = [](const std::optional<int64_t>& value) {
      return value ? std::to_string(*value) : std::string();
    };
    for (const Difference& d : differences) {
      const std::string ours = cents(d.ours_cents);
      const std::string channel = cents(d.channel_cents);
      transaction.exec_params(impl_->sql().add_difference, batch.id, d.order_id,
                              std::string(KindName(d.kind)), d.ours_cents ? ours.c_str() : nullptr,
                              d.channel_cents ? channel.c_str() : nullptr, d.copies);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<BatchResult> DifferenceStore::Finish(const Batch& batch) {
  BatchResult result;
  TM_RETURN_IF_ERROR(impl_->Transact([&](pqxx::work& transaction) {
    TM_RETURN_IF_ERROR(impl_->CheckFence(transaction, batch));
    transaction.exec_params(impl_->sql().complete_batch, batch.id, batch.fence);
    const pqxx::row row = transaction.exec_params1(impl_->sql().read_result, batch.id);
    result.differences = row[0].as<int64_t>();
    result.digest = row[1].as<std::string>();
    return absl::OkStatus();
  }));
  return result;
}

}  // namespace tidemark::recon
