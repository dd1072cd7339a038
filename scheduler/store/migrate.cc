#include "scheduler/store/migrate.h"

#include <cstdio>
#include <map>

#include "common/log.h"
#include "common/status.h"
#include "common/text.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

struct AppliedOne {
  std::string checksum;
  int needs = 0;
};
using Applied = std::map<int, AppliedOne>;  // by version

int NeedsOf(const Migration& m) { return m.needs == 0 ? m.version : m.needs; }

absl::StatusOr<Applied> ReadApplied(SqlTransaction& transaction) {
  Applied applied;
  TM_ASSIGN_OR_RETURN(const SqlRows has, transaction.Run(sql::kHasMigrationTable));
  if (!has.Bool(0, 0)) return applied;
  TM_ASSIGN_OR_RETURN(const SqlRows rows, transaction.Run(sql::kAppliedMigrations));
  for (int i = 0; i < rows.size(); ++i) {
    applied[static_cast<int>(rows.Int(i, 0))] = {rows.Text(i, 1), static_cast<int>(rows.Int(i, 2))};
  }
  return applied;
}

// Whether this program can work with what was applied: its own migrations, and perhaps later ones
// that say so.
absl::Status Check(const Applied& applied, const std::string& schema,
                   const std::vector<Migration>& migrations) {
  const int known = migrations.back().version;
  for (const auto& [version, one] : applied) {
    const Migration* ours = nullptr;
    for (const Migration& m : migrations) {
      if (m.version == version) ours = &m;
    }
    if (ours == nullptr && version > known && one.needs <= known) continue;
    if (ours == nullptr) {
      return absl::FailedPreconditionError(
          "schema " + schema + " is at version " + std::to_string(applied.rbegin()->first) +
          ", newer than this program (" + std::to_string(known) +
          ") can work with: start the version of tidemark-scheduler that made it, or a later one");
    }
    if (MigrationChecksum(ours->sql) != one.checksum) {
      return absl::FailedPreconditionError(
          "schema " + schema + " was made by another form of migration " + std::string(ours->name) +
          ": this program and the database do not belong together; use the program that made it, "
          "or another schema name");
    }
  }
  return absl::OkStatus();
}

std::vector<const Migration*> Missing(const Applied& applied,
                                      const std::vector<Migration>& migrations) {
  std::vector<const Migration*> missing;
  for (const Migration& m : migrations) {
    if (applied.count(m.version) == 0) missing.push_back(&m);
  }
  return missing;
}

// Programs that are up know at least what was applied; those of the release before this one know
// no more.
absl::Status CheckLiveNodes(SqlTransaction& transaction, const Applied& applied,
                            const std::vector<const Migration*>& missing) {
  if (applied.empty()) return absl::OkStatus();
  const Migration* breaks = nullptr;
  for (const Migration* m : missing) {
    if (NeedsOf(*m) > applied.rbegin()->first) breaks = m;
  }
  if (breaks == nullptr) return absl::OkStatus();
  TM_ASSIGN_OR_RETURN(const SqlRows nodes, transaction.Run(sql::kLiveNodes));
  if (nodes.IsNull(0, 0)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      ToAbsl("migration " + std::string(breaks->name) +
             " makes a schema that the programs of before cannot work with, and these nodes are "
             "up: " +
             nodes.Text(0, 0) +
             ". Stop them first; a node that was killed counts as up until its "
             "lease is over, 10 s"));
}

absl::Status ApplyMissing(SqlTransaction& transaction, const std::string& schema,
                          const std::vector<Migration>& migrations) {
  TM_RETURN_IF_ERROR(transaction.Run(sql::kMigrationSettings, {schema}).status());
  TM_RETURN_IF_ERROR(transaction.Run(sql::kLockMigrations, {schema}).status());
  // Only now: another starter may just have finished.
  TM_ASSIGN_OR_RETURN(const Applied applied, ReadApplied(transaction));
  TM_RETURN_IF_ERROR(Check(applied, schema, migrations));
  const std::vector<const Migration*> missing = Missing(applied, migrations);
  TM_RETURN_IF_ERROR(CheckLiveNodes(transaction, applied, missing));
  TM_RETURN_IF_ERROR(transaction.RunScript(sql::kCreateSchema));
  TM_RETURN_IF_ERROR(transaction.RunScript(sql::kCreateMigrationTable));
  for (const Migration* m : missing) {
    const std::string name(m->name);
    if (absl::Status s = transaction.RunScript(m->sql); !s.ok()) {
      return Annotate(s, "migration " + name);
    }
    TM_RETURN_IF_ERROR(
        transaction
            .Run(sql::kRecordMigration,
                 {ToParam(m->version), name, MigrationChecksum(m->sql), ToParam(NeedsOf(*m))})
            .status());
    LogInfo("schema migrated", {{"schema", schema}, {"migration", name}});
  }
  return absl::OkStatus();
}

}  // namespace

std::string MigrationChecksum(std::string_view sql) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : sql) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

absl::Status Migrate(Connection& connection, const std::string& schema, bool apply,
                     const std::vector<Migration>& migrations) {
  Applied applied;
  TM_RETURN_IF_ERROR(connection.Transact([&](SqlTransaction& transaction) -> absl::Status {
    TM_ASSIGN_OR_RETURN(applied, ReadApplied(transaction));
    return Check(applied, schema, migrations);
  }));
  if (Missing(applied, migrations).empty()) return absl::OkStatus();
  if (!apply) {
    return absl::FailedPreconditionError(
        "schema " + schema +
        " lacks migrations: let a tidemark-scheduler whose role may create "
        "tables start once (migrate: true), then start this one");
  }
  return connection.Transact(
      [&](SqlTransaction& transaction) { return ApplyMissing(transaction, schema, migrations); });
}

}  // namespace tidemark
