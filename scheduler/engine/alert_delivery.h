// Alerts on their way to channels: ports that the store implements, and the values that they speak.
#ifndef TIDEMARK_SCHEDULER_ENGINE_ALERT_DELIVERY_H_
#define TIDEMARK_SCHEDULER_ENGINE_ALERT_DELIVERY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/engine/ports.h"

namespace tidemark {

// An alert as its row has it.
struct AlertFact {
  std::string alert_id;
  int episode = 1;
  std::string kind;
  std::string severity;  // info, warning, critical
  std::string ns;
  std::string job;  // "": none, as below
  std::optional<absl::CivilDay> biz_date;
  std::string run_id;
  std::string summary;
  std::string detail;
  std::string dedup_key;
  absl::Time raised_at;
  std::optional<absl::Time> resolved_at;
  bool event = false;  // it happened, and has no end: resolved_at is unset
};

enum class AlertPhase { kRaised, kReminder, kResolved };

// ---------------------------------------------------------------- routing

// A silence that an operator asked for. Empty fields match all.
struct AlertSilence {
  std::string silence_id;
  std::string job;
  std::string kind;
  std::string ns;
  std::string reason;
  std::string actor;
  absl::Time created_at;
  absl::Time until;
};

// What becomes of an alert that waits: kept back until a time, or given to channels (none: to
// nobody, for good).
struct AlertRoute {
  std::optional<absl::Time> silenced_until;
  std::string silence_id;  // "": a window of the file
  std::vector<std::string> channels;
  std::optional<absl::Duration> remind_after;
};

// Judges one alert; `silences` are those in force at `now`. Called within a transaction: must
// return at once. `reminder`: it was told before, and has been open for long.
using AlertRouter = std::function<AlertRoute(
    const AlertFact&, const std::vector<AlertSilence>& silences, absl::Time now, bool reminder)>;

// Used by one thread, but for Close. Several nodes may route: each alert is judged by one.
class AlertRouting {
 public:
  virtual ~AlertRouting() = default;

  // Judges at most `limit` alerts each that were raised, are to be told again, or ended, and makes
  // their deliveries. An end is told to the channels that have the raising. Returns how many.
  virtual absl::StatusOr<int> RouteSome(int limit, const AlertRouter& route) = 0;
  // Deliveries to channels but `known` that wait for longer than `limit` become dead letters: no
  // node has such a channel.
  virtual absl::Status BuryUnknown(const std::vector<std::string>& known, absl::Duration limit) = 0;
  // The start of a process: what its node had claimed before is free, and alerts about channels but
  // `known` end.
  virtual absl::Status Recover(const std::string& node, const std::vector<std::string>& known) = 0;
  // Ends what is in progress, and all later calls, with UNAVAILABLE.
  virtual void Close() = 0;
};

// ---------------------------------------------------------------- sending

struct AlertItem {
  AlertFact alert;
  AlertPhase phase = AlertPhase::kRaised;
  int number = 0;  // of the reminder
  int tries = 1;   // this one included
};

// One message: an alert, or several in a digest.
struct AlertMessage {
  std::string message_id;  // UUID of this try
  std::vector<AlertItem> items;
  bool empty() const { return items.empty(); }
};

struct ChannelState {
  int failures = 0;  // in a row
  std::optional<absl::Time> failing_since;
};

struct ClaimRequest {
  std::string channel;
  std::string node;
  std::string message_id;
  absl::Duration lease;    // afterwards others may try
  int most_messages = 10;  // in a window; what comes beyond waits for its end, as one digest
  absl::Duration window;
  int most_items = 500;  // of a digest
};

struct ClaimedMessage {
  AlertMessage message;  // empty: there is nothing to be sent now
  ChannelState channel;
  absl::Time now;       // of the database
  absl::Duration wait;  // when empty: look again after this, or when poked
};

struct DeliveryFailure {
  std::string error;               // without secrets
  absl::Duration item_delay;       // until these are tried again
  absl::Duration channel_delay;    // until anything is
  absl::Duration give_up_after;    // since they were made: dead letters
  std::optional<AlertRaise> tell;  // about the channel
};

// Used by one thread, but for Close. Several nodes share the deliveries of a channel.
class AlertDeliveries {
 public:
  virtual ~AlertDeliveries() = default;

  // Takes what is to be sent next, until the lease is over. At least once: what was claimed and is
  // not reported comes again.
  virtual absl::StatusOr<ClaimedMessage> Claim(const ClaimRequest& request) = 0;
  // `failing_key`: alerts whose key begins so are about this channel, and end.
  virtual absl::Status ReportDelivered(const std::string& channel, const AlertMessage& message,
                                       const std::string& failing_key) = 0;
  virtual absl::Status ReportFailed(const std::string& channel, const AlertMessage& message,
                                    const DeliveryFailure& failure) = 0;
  virtual void Close() = 0;
};

// ---------------------------------------------------------------- for operators

// The channels of this process. Thread-safe.
class AlertChannels {
 public:
  struct Channel {
    std::string name;
    std::string type;
  };
  virtual ~AlertChannels() = default;
  virtual std::vector<Channel> Channels() const = 0;
  // Sends a test message now; blocks for the channel's timeout at most. Returns what the receiver
  // answered. NOT_FOUND: no such channel; RESOURCE_EXHAUSTED: another test is under way.
  virtual absl::StatusOr<std::string> SendTest(const std::string& channel) = 0;
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_ENGINE_ALERT_DELIVERY_H_
