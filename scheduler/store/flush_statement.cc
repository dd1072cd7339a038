#include "scheduler/store/flush_statement.h"

#include <utility>

#include "common/status.h"
#include "scheduler/store/flush_writer.h"

namespace tidemark {
namespace {

// Columns of the answer before those of the parts.
constexpr int kAt = 0;
constexpr int kHeld = 1;
constexpr int kFirstOutcome = 2;  // two a part: how many rows were done, and which if not all

// "{ID,ID}", as PostgreSQL writes an array of uuids.
void AddIds(std::string_view array, std::set<std::string>* done) {
  while (array.size() > 1) {
    array.remove_prefix(1);
    const size_t end = array.find_first_of(",}");
    if (end == std::string_view::npos) return;
    if (end > 0) done->emplace(array.substr(0, end));
    array.remove_prefix(end);
  }
}

}  // namespace

FlushStatement::FlushStatement() : first_(false) {}

FlushStatement::FlushStatement(const Owner& owner, uint64_t seq)
    : first_(true), params_{owner.node_id, owner.incarnation, ToParam(static_cast<int64_t>(seq))} {}

bool FlushStatement::Has(const FlushPart& part) const {
  for (const Added& added : parts_) {
    if (added.part == &part) return true;
  }
  return false;
}

void FlushStatement::Add(const FlushPart& part, InputBatch batch) {
  Add(part, std::move(batch), /*dated=*/true, {}, nullptr);
}

void FlushStatement::Add(const FlushPart& part, InputBatch batch, bool dated,
                         std::vector<std::string> run_ids, std::set<std::string>* done) {
  std::string input = std::move(batch).Take(part.input, &params_);
  parts_.push_back({&part, std::move(input), dated, std::move(run_ids), done});
}

std::string FlushStatement::Text() const {
  std::string text(first_ ? parts::kFirst : parts::kLater);
  std::string outcome = "\nSELECT (SELECT at FROM go), ";
  outcome += first_ ? "EXISTS (SELECT 1 FROM fence)" : "true";
  for (const Added& added : parts_) {
    const FlushPart& part = *added.part;
    text += ", " + added.input + ", ";
    text += part.tables;
    if (added.dated && !part.marks.empty()) {
      text += ", ";
      text += part.marks;
    }
    if (added.done == nullptr) continue;
    const std::string done(part.done);
    outcome += ", (SELECT count(*) FROM " + done + "), (SELECT CASE WHEN count(*) <> ";
    outcome += std::to_string(added.run_ids.size()) + " THEN array_agg(run_id)::text END FROM ";
    outcome += done + ")";
  }
  return text + outcome;
}

absl::Status FlushStatement::Judge(const SqlRows& rows) const {
  if (!rows.IsNull(0, kAt)) return absl::OkStatus();
  if (!rows.Bool(0, kHeld)) {
    return absl::CancelledError("this node is fenced: another owner took over its shards");
  }
  return absl::CancelledError("the database does not have the flush before number " + *params_[2] +
                              ": commits were lost, or one was left out");
}

absl::Status FlushStatement::Run(SqlTransaction& transaction, absl::Time* at) const {
  if (empty()) return absl::OkStatus();
  TM_ASSIGN_OR_RETURN(const SqlRows rows, transaction.Run(Text(), params_));
  TM_RETURN_IF_ERROR(Judge(rows));
  if (at != nullptr) *at = rows.Time(0, kAt);
  int column = kFirstOutcome;
  for (const Added& added : parts_) {
    if (added.done == nullptr) continue;
    if (rows.Int(0, column) == static_cast<int64_t>(added.run_ids.size())) {
      added.done->insert(added.run_ids.begin(), added.run_ids.end());
    } else {
      AddIds(rows.View(0, column + 1), added.done);
    }
    column += 2;
  }
  return absl::OkStatus();
}

}  // namespace tidemark
