#include "scheduler/store/lease.h"

#include <sstream>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "scheduler/store/alert_raise.h"
#include "scheduler/store/array.h"
#include "scheduler/store/batch.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

// Epochs must not go back: executors refuse the orders of an owner with a lower one.
constexpr char kMendShards[] =
    "Somebody deleted them. Put them back with an epoch above all that were: INSERT INTO shard "
    "(shard, epoch) SELECT s, 1000000 FROM generate_series(0, 127) s ON CONFLICT DO NOTHING";

// For so long after a fail-over an owner may have gone before its executors had told what they
// have: the next one asks them again. They offer again what they reported in the last 10 min.
constexpr absl::Duration kFailOverLasts = absl::Minutes(10);

SqlParam Micros(absl::Duration d) { return ToParam(absl::ToInt64Microseconds(d)); }
SqlParam Micros(const std::optional<absl::Duration>& d) {
  return d.has_value() ? Micros(*d) : SqlParam();
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

absl::StatusOr<absl::Time> RegisterNode(Connection& connection, const NodeFacts& node,
                                        bool replace_live, const std::string& last_own) {
  absl::Time now;
  const Owner& owner = node.owner;
  TM_RETURN_IF_ERROR(connection.Transact([&](SqlTransaction& transaction) -> absl::Status {
    TM_ASSIGN_OR_RETURN(
        const SqlRows rows,
        transaction.Run(sql::kRegisterNode,
                        {owner.node_id, owner.incarnation, node.address, node.version,
                         Micros(node.lease), ToParam(replace_live), NullIfEmpty(last_own)}));
    if (rows.empty()) {
      return absl::FailedPreconditionError(
          "another process runs as node " + owner.node_id +
          " on this database: give each scheduler an id of its own, or stop the other");
    }
    now = rows.Time(0, 0);
    TM_RETURN_IF_ERROR(
        transaction.Run(sql::kAddFence, {owner.node_id, owner.incarnation}).status());
    TM_RETURN_IF_ERROR(
        transaction.Run(sql::kAddFlush, {owner.node_id, owner.incarnation}).status());
    return transaction.Run(sql::kTellCluster).status();
  }));
  return now;
}

absl::StatusOr<std::vector<Owner>> Predecessors(Connection& connection, const Owner& owner) {
  TM_ASSIGN_OR_RETURN(const SqlRows rows,
                      connection.RunOne(sql::kPredecessors, {owner.node_id, owner.incarnation}));
  std::vector<Owner> owners;
  owners.reserve(rows.size());
  for (int i = 0; i < rows.size(); ++i) owners.push_back({rows.Text(i, 0), rows.Text(i, 1)});
  return owners;
}

absl::Status Fence(Connection& connection, const Owner& predecessor, bool* unknown) {
  TM_ASSIGN_OR_RETURN(
      const SqlRows rows,
      connection.RunOne(sql::kFence, {predecessor.node_id, predecessor.incarnation}));
  if (unknown != nullptr) *unknown = !rows.empty() && rows.Bool(0, 0);
  return absl::OkStatus();
}

absl::Status CheckShards(Connection& connection, const Owner& owner) {
  static constexpr char kKey[] = "shards_missing/";
  int64_t missing = 0;
  TM_RETURN_IF_ERROR(connection.Transact([&](SqlTransaction& transaction) -> absl::Status {
    TM_ASSIGN_OR_RETURN(const SqlRows rows, transaction.Run(sql::kCountShards));
    missing = kShards - rows.Int(0, 0);
    if (missing == 0) {
      return transaction.Run(sql::kResolveAlerts, {ToArray({std::string(kKey)})}).status();
    }
    AlertRaise alert;
    alert.alert_id = owner.incarnation;
    alert.dedup_key = kKey;
    alert.kind = "shards_missing";
    alert.severity = "critical";
    alert.summary =
        "Nothing is scheduled: " + std::to_string(missing) + " rows of the table shard are missing";
    alert.detail = kMendShards;
    Batch batch(kAlertRaiseWidth);
    AddAlert(batch, alert);
    return transaction.Run(sql::kRaiseAlerts, std::move(batch).Take()).status();
  }));
  if (missing == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      ToAbsl(std::to_string(missing) + " rows of the table shard are missing. " + kMendShards));
}

absl::StatusOr<std::map<int, uint64_t>> ClaimShards(Connection& connection, const Owner& owner,
                                                    uint32_t timeline, bool* failed_over) {
  std::map<int, uint64_t> shards;
  bool elsewhere = false;
  TM_RETURN_IF_ERROR(connection.Transact([&](SqlTransaction& transaction) -> absl::Status {
    TM_RETURN_IF_ERROR(HoldFence(transaction, owner).status());
    TM_ASSIGN_OR_RETURN(const SqlRows rows,
                        transaction.Run(sql::kClaimShards, {owner.node_id, owner.incarnation,
                                                            ToParam(static_cast<int64_t>(timeline)),
                                                            Micros(kFailOverLasts)}));
    for (int i = 0; i < rows.size(); ++i) {
      shards[static_cast<int>(rows.Int(i, 0))] = static_cast<uint64_t>(rows.Int(i, 1));
      elsewhere = elsewhere || rows.Bool(i, 2);
    }
    // What is left is for others. A claim of nothing is told to nobody: it would come back.
    return shards.empty() ? absl::OkStatus() : transaction.Run(sql::kTellCluster).status();
  }));
  if (failed_over != nullptr) *failed_over = elsewhere;
  return shards;
}

absl::StatusOr<ClusterView> LookAtCluster(Connection& connection, const Owner& owner) {
  TM_ASSIGN_OR_RETURN(const SqlRows rows,
                      connection.RunOne(sql::kLookAtCluster, {owner.node_id, owner.incarnation}));
  ClusterView view;
  view.share = static_cast<int>(rows.Int(0, 0));
  view.owned = static_cast<int>(rows.Int(0, 1));
  view.unowned = static_cast<int>(rows.Int(0, 2));
  view.rows = static_cast<int>(rows.Int(0, 3));
  if (!rows.IsNull(0, 4)) view.first_end = absl::Microseconds(rows.Int(0, 4));
  view.addresses = Lines(rows.Text(0, 5));
  for (std::string& line : Lines(rows.Text(0, 6))) view.drained.insert(std::move(line));
  view.endless = Lines(rows.Text(0, 7));
  return view;
}

absl::StatusOr<std::optional<absl::Time>> RenewLease(Connection& connection, const Owner& owner,
                                                     absl::Duration lease,
                                                     const NodeVitals& vitals) {
  TM_ASSIGN_OR_RETURN(
      const SqlRows rows,
      connection.RunOne(sql::kRenewLease, {owner.node_id, owner.incarnation, Micros(lease),
                                           Micros(vitals.clock_offset),
                                           Micros(vitals.clock_uncertainty), Micros(vitals.lag)}));
  if (rows.empty()) return std::optional<absl::Time>();
  return std::optional<absl::Time>(rows.Time(0, 0));
}

absl::Status ReleaseNode(Connection& connection, const Owner& owner) {
  return connection.Transact([&](SqlTransaction& transaction) -> absl::Status {
    const std::vector<SqlParam> who = {owner.node_id, owner.incarnation};
    TM_RETURN_IF_ERROR(HoldFence(transaction, owner).status());
    TM_RETURN_IF_ERROR(transaction.Run(sql::kFreeShards, who).status());
    TM_RETURN_IF_ERROR(transaction.Run(sql::kEndLease, who).status());
    TM_RETURN_IF_ERROR(transaction.Run(sql::kFence, who).status());
    return transaction.Run(sql::kTellCluster).status();
  });
}

absl::StatusOr<uint32_t> ReadTimeline(Connection& connection) {
  const auto rows = connection.RunOne(sql::kTimeline);
  if (rows.status().code() == absl::StatusCode::kPermissionDenied) return 1;
  TM_RETURN_IF_ERROR(rows.status());
  return static_cast<uint32_t>(rows->Int(0, 0));
}

absl::Status Housekeeping(Connection& connection) {
  return connection.Transact([](SqlTransaction& transaction) -> absl::Status {
    TM_RETURN_IF_ERROR(transaction.Run(sql::kEnsurePartitions).status());
    TM_RETURN_IF_ERROR(transaction.Run(sql::kForgetNodes).status());
    TM_RETURN_IF_ERROR(transaction.Run(sql::kForgetFences).status());
    return transaction.Run(sql::kForgetFlushes).status();
  });
}

}  // namespace tidemark
