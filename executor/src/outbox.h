// Final reports (Finished, Refused) that are repeated until a scheduler has committed them.
#ifndef TIDEMARK_EXECUTOR_SRC_OUTBOX_H_
#define TIDEMARK_EXECUTOR_SRC_OUTBOX_H_

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "executor/src/core_types.h"

namespace tidemark::exec {

// Keeps each final report until it is acknowledged, and a while after, so that a repeated trigger
// gets the same answer and never a second start. A refusal here is the attempt's tombstone.
// Value type of the core: no I/O, one thread.
class Outbox {
 public:
  struct Record {
    v1::RunReport report;
    std::string owner_node;  // that the attempt came from; "" when unknown
    size_t bytes = 0;
    uint32_t tries = 0;  // how often it was sent
    bool acknowledged = false;
    absl::Duration next_send;   // while not acknowledged
    absl::Duration keep_until;  // acknowledged results, and refusals whatever their state
    bool refused() const { return report.has_refused(); }
  };

  // `limit` bounds the bytes of acknowledged results that are kept for repeated triggers.
  Outbox(absl::Duration resend_every, absl::Duration keep_acknowledged, size_t limit)
      : resend_every_(resend_every), keep_acknowledged_(keep_acknowledged), limit_(limit) {}

  void AddResult(const AttemptKey& key, v1::RunReport report, std::string owner_node,
                 absl::Duration now);
  // A tombstone until `keep_until`.
  void AddRefusal(const AttemptKey& key, v1::RunReport report, std::string owner_node,
                  absl::Duration now, absl::Duration keep_until);

  const Record* Find(const AttemptKey& key) const;
  // Returns the record when this was its first acknowledgement, else null. The record of a result
  // stays for keep_acknowledged.
  const Record* Acknowledge(const AttemptKey& key, absl::Duration now);
  // The report goes out now: its next sending is a period away.
  void MarkSent(const AttemptKey& key, absl::Duration now);
  // What came from that node and is not acknowledged is due now.
  void Hurry(const std::string& owner_node, absl::Duration now);
  // Results whose acknowledgement is no older than they are kept are as if there had been none.
  void OfferAgain(absl::Duration now);
  // Not acknowledged and due to be sent (again), oldest first.
  std::vector<AttemptKey> Due(absl::Duration now) const;
  // Drops what need not be kept any longer; returns the results among it.
  std::vector<AttemptKey> Expire(absl::Duration now);
  // All results (not refusals) that nobody acknowledged.
  std::vector<const Record*> UnacknowledgedResults() const;

  size_t unacknowledged_bytes() const { return unacknowledged_bytes_; }
  // Reports, refusals too, that nobody acknowledged.
  size_t unacknowledged() const { return sends_.size(); }
  // When Due, or Expire, will have something; InfiniteDuration when never.
  absl::Duration NextSend() const;
  absl::Duration NextExpiry() const;

 private:
  void Add(const AttemptKey& key, Record record);

  absl::Duration resend_every_;
  absl::Duration keep_acknowledged_;
  size_t limit_;
  std::map<AttemptKey, Record> records_;
  std::set<std::pair<absl::Duration, AttemptKey>> sends_;     // by next_send
  std::set<std::pair<absl::Duration, AttemptKey>> expiries_;  // by keep_until
  size_t unacknowledged_bytes_ = 0;                           // results only
  size_t acknowledged_bytes_ = 0;                             // results only
};

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_OUTBOX_H_
