// The nodes of the cluster: how they stand, and draining one.
#include <string>

#include "common/status.h"
#include "common/text.h"
#include "scheduler/store/audit_row.h"
#include "scheduler/store/operator_store.h"

namespace tidemark {
namespace {

constexpr std::string_view kNodes =
    "SELECT n.node_id, n.address, n.incarnation, n.version, n.lease_until, "
    "coalesce(f.fenced, true), "
    "(SELECT count(*) FROM shard s WHERE s.node_id = n.node_id AND s.incarnation = n.incarnation), "
    "n.started_at, n.draining, n.clock_offset, n.clock_uncertainty, n.lag, "
    "w.node_id IS NOT NULL, w.looked_at, w.look_error, w.jobs, w.dates, w.pings, "
    "w.pinged_at, w.ping_error, w.withheld_since, w.withheld_until, w.reasons "
    "FROM scheduler_node n "
    "LEFT JOIN node_fence f ON f.node_id = n.node_id AND f.incarnation = n.incarnation "
    "LEFT JOIN watch_state w ON w.node_id = n.node_id "
    "ORDER BY n.node_id";

constexpr std::string_view kCounts =
    "SELECT (SELECT count(*) FROM shard), "
    "(SELECT count(*) FROM shard s WHERE NOT EXISTS (SELECT FROM scheduler_node n "
    "  WHERE n.node_id = s.node_id AND n.incarnation = s.incarnation "
    "  AND n.lease_until > tidemark_now())), "
    "tidemark_now(), "
    "(SELECT count(*) FROM job WHERE deleted_at IS NULL AND ($1 = '' OR namespace = $1)), "
    "(SELECT count(*) FROM job WHERE deleted_at IS NULL AND error <> '' "
    " AND ($1 = '' OR namespace = $1)), "
    "(SELECT count(*) FROM active_run WHERE $1 = '' OR namespace = $1), "
    "(SELECT count(*) FROM alert WHERE resolved_at IS NULL AND ($1 = '' OR namespace = $1)), "
    "(SELECT max(version)::text FROM schema_migration)";

// Locked, so that two orders at once do not drain the last two.
constexpr std::string_view kLockNodes =
    "SELECT n.node_id, n.lease_until > tidemark_now() AND NOT coalesce(f.fenced, true), n.draining "
    "FROM scheduler_node n "
    "LEFT JOIN node_fence f ON f.node_id = n.node_id AND f.incarnation = n.incarnation "
    "ORDER BY n.node_id FOR UPDATE OF n";

constexpr std::string_view kSetDraining =
    "UPDATE scheduler_node SET draining = $2 WHERE node_id = $1";

OperatorWatch ReadWatch(const SqlRows& rows, int i, int c) {
  OperatorWatch watch;
  watch.looked_at = rows.OptTime(i, c);
  watch.look_error = rows.Text(i, c + 1);
  watch.jobs = rows.Int(i, c + 2);
  watch.dates = rows.Int(i, c + 3);
  watch.pings = rows.Bool(i, c + 4);
  watch.pinged_at = rows.OptTime(i, c + 5);
  watch.ping_error = rows.Text(i, c + 6);
  watch.withheld_since = rows.OptTime(i, c + 7);
  watch.withheld_until = rows.OptTime(i, c + 8);
  watch.reasons = rows.Text(i, c + 9);
  return watch;
}

std::optional<absl::Duration> OptMicros(const SqlRows& rows, int i, int c) {
  const std::optional<int64_t> micros = rows.OptInt(i, c);
  if (!micros.has_value()) return std::nullopt;
  return absl::Microseconds(*micros);
}

OperatorNode ReadNode(const SqlRows& rows, int i) {
  OperatorNode node;
  node.node_id = rows.Text(i, 0);
  node.address = rows.Text(i, 1);
  node.incarnation = rows.Text(i, 2);
  node.version = rows.Text(i, 3);
  node.lease_until = rows.Time(i, 4);
  node.fenced = rows.Bool(i, 5);
  node.shards = static_cast<int>(rows.Int(i, 6));
  node.started_at = rows.Time(i, 7);
  node.draining = rows.Bool(i, 8);
  node.clock_offset = OptMicros(rows, i, 9);
  node.clock_uncertainty = OptMicros(rows, i, 10);
  node.lag = OptMicros(rows, i, 11);
  if (rows.Bool(i, 12)) node.watch = ReadWatch(rows, i, 13);
  return node;
}

// Judges an order to drain; true: there is something to do.
absl::StatusOr<bool> MayDrain(const SqlRows& nodes, const NodeDrain& order) {
  std::vector<std::string> known;
  int found = -1;
  bool others = false;  // that could take its shards
  for (int i = 0; i < nodes.size(); ++i) {
    const bool alive = nodes.Bool(i, 1);
    if (alive) known.push_back(nodes.Text(i, 0));
    if (nodes.View(i, 0) == order.node_id) {
      found = i;
    } else {
      others = others || (alive && !nodes.Bool(i, 2));
    }
  }
  if (found < 0) {
    const std::string all = known.empty() ? "no node is up" : "up are " + Join(known, ", ");
    return absl::NotFoundError(
        ToAbsl("there is no node '" + EscapeControl(order.node_id) + "': " + all));
  }
  if (nodes.Bool(found, 2) != order.undo) return false;
  if (order.undo) return true;
  if (!nodes.Bool(found, 1)) {
    return absl::FailedPreconditionError(
        ToAbsl("node '" + order.node_id +
               "' is not alive: it has no shards that it could give away, the others take them"));
  }
  if (!others) {
    return absl::FailedPreconditionError(
        ToAbsl("node '" + order.node_id +
               "' is the last that takes shards: its jobs would have no owner. Start another "
               "tidemark-scheduler on this database first, or take a drain back (tidemark cluster "
               "drain NODE --undo)"));
  }
  return true;
}

}  // namespace

absl::StatusOr<ClusterRows> OperatorStore::Cluster() {
  ClusterRows cluster;
  TM_RETURN_IF_ERROR(pool_->Transact(
      [&](SqlTransaction& tx) -> absl::Status {
        cluster = ClusterRows();
        TM_ASSIGN_OR_RETURN(const SqlRows nodes, tx.Run(kNodes));
        for (int i = 0; i < nodes.size(); ++i) cluster.nodes.push_back(ReadNode(nodes, i));
        TM_ASSIGN_OR_RETURN(const SqlRows counts, tx.Run(kCounts, {caller_.ns}));
        cluster.shards = static_cast<int>(counts.Int(0, 0));
        cluster.unowned_shards = static_cast<int>(counts.Int(0, 1));
        cluster.now = counts.Time(0, 2);
        cluster.jobs = static_cast<int>(counts.Int(0, 3));
        cluster.jobs_in_error = static_cast<int>(counts.Int(0, 4));
        cluster.live_runs = static_cast<int>(counts.Int(0, 5));
        cluster.open_alerts = static_cast<int>(counts.Int(0, 6));
        cluster.schema_version = counts.Text(0, 7);
        return absl::OkStatus();
      },
      Isolation::kRepeatableReadOnly));
  return cluster;
}

absl::StatusOr<bool> OperatorStore::DrainNode(const NodeDrain& order) {
  bool changed = false;
  TM_RETURN_IF_ERROR(pool_->Transact([&](SqlTransaction& tx) -> absl::Status {
    TM_ASSIGN_OR_RETURN(const SqlRows nodes, tx.Run(kLockNodes));
    TM_ASSIGN_OR_RETURN(changed, MayDrain(nodes, order));
    if (!changed) return absl::OkStatus();
    TM_RETURN_IF_ERROR(tx.Run(kSetDraining, {order.node_id, ToParam(!order.undo)}).status());
    AuditRow audit{order.actor, "drain_node"};
    audit.subject = order.node_id;
    audit.before = order.undo ? "draining" : "in use";
    audit.after = order.undo ? "in use" : "draining";
    audit.reason = order.reason;
    TM_RETURN_IF_ERROR(WriteAudit(tx, caller_, audit));
    return tx.Run("SELECT pg_notify('tidemark_cluster', '')").status();
  }));
  return changed;
}

}  // namespace tidemark
