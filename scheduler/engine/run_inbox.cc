// Final reports that come to a node which does not have their run, and their way to the one that
// has it.
#include <string>
#include <utility>

#include "scheduler/engine/runs.h"

namespace tidemark {

// Of what is not final the owner hears again, or does without.
void Runs::OnForeignReport(const ExecutorSession& session, const RunReport& report) {
  InboxWrite write;
  write.item.attempt = report.attempt;
  write.item.registration = report.registration;
  write.app = session.hello.app;
  write.ns = session.hello.ns;
  if (const auto* refused = std::get_if<RefusedReport>(&report.event)) {
    write.item.refused = refused->reason;
    write.item.result.outcome = Outcome::kRefused;
    write.item.result.message = refused->message;
  } else if (const auto* finished = std::get_if<FinishedReport>(&report.event)) {
    write.item.result = finished->result;
  } else {
    return;
  }
  if (s_.inboxed.insert(report.attempt).second) s_.flush.inbox.push_back(std::move(write));
  s_.OnCommit([this, stream = session.stream, attempt = report.attempt](const FlushResult&) {
    s_.Send(stream, AcknowledgedOrder{attempt});
  });
}

void Runs::OnInbox(const InboxItem& item) {
  RunReport report{item.attempt, item.registration, {}};
  if (item.refused.empty()) {
    report.event = FinishedReport{item.result};
  } else {
    report.event = RefusedReport{item.refused, item.result.message};
  }
  OnReport(/*stream=*/0, report, s_.now.mono);
  s_.flush.inbox_taken.push_back(item.attempt);
}

}  // namespace tidemark
