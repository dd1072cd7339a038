#include "scheduler/store/lease_damage.h"

#include <utility>

#include "common/status.h"
#include "scheduler/store/alert_raise.h"
#include "scheduler/store/statements.h"

namespace tidemark {
namespace {

constexpr char kUntil[] = "lease_damaged/until/";

constexpr char kStartedOver[] =
    "The node started over with new rows by itself: nothing is to be mended. Find out who changes "
    "tables of the scheduler by hand: a node is taken out by 'tidemark cluster drain NODE' or by "
    "stopping it, never by SQL.";

absl::Status Raise(Connection& connection, const AlertRaise& alert) {
  return connection.Transact([&](SqlTransaction& transaction) -> absl::Status {
    Batch batch(kAlertRaiseWidth);
    AddAlert(batch, alert);
    return transaction.Run(sql::kRaiseAlerts, std::move(batch).Take()).status();
  });
}

AlertRaise Event(const std::string& alert_id, const Owner& owner, std::string summary) {
  AlertRaise alert;
  alert.alert_id = alert_id;
  alert.dedup_key = "lease_damaged/" + owner.incarnation;
  alert.kind = "lease_damaged";
  alert.severity = "warning";
  alert.summary = std::move(summary);
  alert.detail = kStartedOver;
  alert.event = true;
  return alert;
}

std::string Join(const std::vector<std::string>& nodes) {
  std::string text;
  for (const std::string& node : nodes) text += (text.empty() ? "" : ", ") + node;
  return text;
}

}  // namespace

absl::StatusOr<std::optional<std::string>> FindLeaseDamage(Connection& connection,
                                                           const EndedTerm& term) {
  // It ran out: nobody need have touched it, and rows of the dead are forgotten some day.
  if (!term.renewed_lately) return std::optional<std::string>();
  const Owner& owner = term.owner;
  TM_ASSIGN_OR_RETURN(const SqlRows rows,
                      connection.RunOne(sql::kLeaseRows, {owner.node_id, owner.incarnation}));
  const auto damage = [](const std::string& text) { return std::optional<std::string>(text); };
  const std::string node = "node " + owner.node_id;
  if (rows.IsNull(0, 0)) return damage("the row of " + node + " in scheduler_node was deleted");
  if (!rows.Bool(0, 0)) return std::optional<std::string>();  // another process has that name now
  if (rows.IsNull(0, 2)) return damage("the row of " + node + " in node_fence was deleted");
  if (!rows.Bool(0, 1)) {
    return damage("lease_until of " + node +
                  " was set back, or the database's clock stepped ahead by more than a lease");
  }
  if (!rows.Bool(0, 2) && static_cast<int>(rows.Int(0, 3)) < term.shards) {
    return damage("rows of the table shard that named " + node + " were changed or deleted");
  }
  return std::optional<std::string>();
}

absl::Status TellLeaseDamage(Connection& connection, const EndedTerm& term,
                             const std::string& damage, const std::string& alert_id) {
  return Raise(connection, Event(alert_id, term.owner,
                                 "Node " + term.owner.node_id + " stopped scheduling: " + damage));
}

absl::Status TellUnknownOwner(Connection& connection, const Owner& unknown,
                              const std::string& alert_id) {
  AlertRaise alert = Event(alert_id, unknown,
                           "Shards named an owner whose rows are gone: " + unknown.node_id + " (" +
                               unknown.incarnation + "). It is fenced, and they have another one");
  return Raise(connection, alert);
}

absl::Status EndlessLeases::Look(Connection& connection, const std::vector<std::string>& nodes,
                                 absl::Duration now, const std::string& alert_id) {
  constexpr absl::Duration kPatience = absl::Seconds(5);  // more than a renewal takes
  if (nodes != nodes_) since_ = now;
  nodes_ = nodes;
  if (nodes.empty()) {
    if (told_ == false) return absl::OkStatus();
    Batch prefixes(1);
    prefixes.Add(std::string(kUntil));
    TM_RETURN_IF_ERROR(connection.RunOne(sql::kResolveAlerts, std::move(prefixes).Take()).status());
    told_ = false;
    return absl::OkStatus();
  }
  if (now - since_ < kPatience || told_ == true) return absl::OkStatus();
  AlertRaise alert;
  alert.alert_id = alert_id;
  alert.dedup_key = kUntil + Join(nodes);
  alert.kind = "lease_damaged";
  alert.severity = "critical";
  alert.summary = "The lease of " + Join(nodes) +
                  " lasts for days: should it be dead, its shards are taken by nobody";
  alert.detail =
      "Somebody changed lease_until in scheduler_node. Make sure that the process is gone, then: "
      "UPDATE scheduler_node SET lease_until = tidemark_now() WHERE lease_until > tidemark_now() + "
      "interval '1 day'";
  TM_RETURN_IF_ERROR(Raise(connection, alert));
  told_ = true;
  return absl::OkStatus();
}

}  // namespace tidemark
