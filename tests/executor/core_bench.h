// The session core in virtual time, with a scheduler that the test plays by hand.
#ifndef TIDEMARK_TESTS_EXECUTOR_CORE_BENCH_H_
#define TIDEMARK_TESTS_EXECUTOR_CORE_BENCH_H_

#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/src/session_core.h"

namespace tidemark::exec {

inline std::string RunId(int n) {
  char text[40];
  std::snprintf(text, sizeof text, "00000000-0000-7000-8000-%012d", n);
  return text;
}

inline CoreOptions DefaultOptions() {
  CoreOptions options;
  options.executor_id = "e1";
  options.app = "recon";
  options.incarnation = RunId(999);
  options.capacity = 3;
  options.handlers = {{"soft", true, 0}, {"hard", false, 0}, {"single", true, 1}};
  return options;
}

// Owns the core and a record of every effect. Time moves only by Advance, which stops at each
// moment that the core asks to be woken at.
class CoreBench {
 public:
  explicit CoreBench(CoreOptions options = DefaultOptions(), std::vector<SpooledResult> spool = {})
      : core(std::move(options), std::move(spool), Now()) {}

  Moment Now() const { return {mono_, absl::FromUnixSeconds(1795000000) + mono_}; }

  void Take() {
    for (Effect& effect : core.TakeEffects(Now())) {
      if (auto* send = std::get_if<SendEffect>(&effect)) {
        core.OnWritten(send->link, send->bytes);
        sent.emplace_back(send->link, send->message);
      } else {
        effects.push_back(std::move(effect));
      }
    }
  }

  void Advance(absl::Duration d) {
    const absl::Duration until = mono_ + d;
    int turns = 0;
    while (core.NextWake() <= until) {
      mono_ = std::max(mono_, core.NextWake());
      core.OnTick(Now());
      Take();
      if (++turns > 100000) {
        std::fprintf(stderr, "the core asks to be woken without end\n");
        std::abort();
      }
    }
    mono_ = until;
    core.OnTick(Now());
    Take();
  }

  // As a process that was suspended: nothing runs in between.
  void Suspend(absl::Duration d) { mono_ += d; }

  void Open(LinkId link) {
    core.OnLinkOpened(link, Now());
    Take();
  }
  void Close(LinkId link) {
    core.OnLinkClosed(link, Now());
    Take();
  }
  void Deliver(LinkId link, const v1::SchedulerMessage& message) {
    core.OnMessage(link, message, Now());
    Take();
  }
  void Welcome(LinkId link, const std::string& node = "n1", int64_t registration = 7) {
    v1::SchedulerMessage message;
    message.mutable_welcome()->set_registration(registration);
    message.mutable_welcome()->set_node_id(node);
    message.mutable_welcome()->mutable_beat()->set_seconds(5);
    message.mutable_welcome()->mutable_lease()->set_seconds(17);
    Deliver(link, message);
  }
  void Connect(LinkId link, const std::string& node = "n1", int64_t registration = 7) {
    Open(link);
    Welcome(link, node, registration);
  }

  static v1::Trigger MakeTrigger(int run, const std::string& handler = "soft") {
    v1::Trigger trigger;
    trigger.mutable_attempt()->set_run_id(RunId(run));
    trigger.mutable_attempt()->set_attempt(1);
    trigger.set_registration(7);
    trigger.set_shard(1);
    trigger.mutable_epoch()->set_timeline(1);
    trigger.mutable_epoch()->set_number(10);
    trigger.set_job("job");
    trigger.set_handler(handler);
    trigger.set_biz_date("2026-11-28");
    trigger.set_on_lost(handler == "hard" ? v1::WAIT : v1::RETRY);
    trigger.mutable_lost_after()->set_seconds(300);
    trigger.mutable_cancel_grace()->set_seconds(30);
    return trigger;
  }
  void Trigger(LinkId link, const v1::Trigger& trigger) {
    v1::SchedulerMessage message;
    *message.add_orders()->mutable_trigger() = trigger;
    Deliver(link, message);
  }
  void Cancel(LinkId link, int run, uint64_t epoch = 10) {
    v1::SchedulerMessage message;
    v1::Cancel& cancel = *message.add_orders()->mutable_cancel();
    cancel.mutable_attempt()->set_run_id(RunId(run));
    cancel.mutable_attempt()->set_attempt(1);
    cancel.set_shard(1);
    cancel.mutable_epoch()->set_timeline(1);
    cancel.mutable_epoch()->set_number(epoch);
    cancel.set_reason("by ann");
    Deliver(link, message);
  }
  void Acknowledge(LinkId link, int run) {
    v1::SchedulerMessage message;
    *message.add_orders()->mutable_acknowledged()->mutable_attempt() = Ref(run);
    Deliver(link, message);
  }
  // Answers the last heartbeat of the link.
  void Ack(LinkId link, const std::vector<int>& renewed = {}) {
    v1::SchedulerMessage message;
    message.mutable_heartbeat_ack()->set_sequence(LastHeartbeat(link).sequence());
    for (const int run : renewed) *message.mutable_heartbeat_ack()->add_renewed() = Ref(run);
    Deliver(link, message);
  }
  // Lets `d` pass with every heartbeat of `link` answered, naming `renewed`.
  void AdvanceInContact(LinkId link, absl::Duration d, const std::vector<int>& renewed) {
    for (absl::Duration done = absl::ZeroDuration(); done < d; done += absl::Seconds(5)) {
      Advance(std::min(absl::Duration(absl::Seconds(5)), d - done));
      Ack(link, renewed);
    }
  }

  void Enter(int run) {
    core.OnEntered(Key(run), Now());
    Take();
  }
  void Finish(int run, HandlerResult result = {}) {
    core.OnFinished(Key(run), result, Now());
    Take();
  }
  // Trigger, start, enter.
  void Run(LinkId link, int run, const std::string& handler = "soft") {
    Trigger(link, MakeTrigger(run, handler));
    Enter(run);
  }
  void Stop() {
    core.OnStop(Now());
    Take();
  }

  static AttemptKey Key(int run) { return {RunId(run), 1}; }
  static v1::AttemptRef Ref(int run) {
    v1::AttemptRef ref;
    SetRef(Key(run), &ref);
    return ref;
  }

  // ---- what came out
  std::vector<v1::RunReport> Reports(LinkId link, int run) const {
    std::vector<v1::RunReport> out;
    for (const auto& [to, message] : sent) {
      for (const v1::RunReport& report : message.reports()) {
        if (to == link && KeyOf(report.attempt()) == Key(run)) out.push_back(report);
      }
    }
    return out;
  }
  std::optional<v1::Refused::Reason> LastRefusal(LinkId link, int run) const {
    std::optional<v1::Refused::Reason> last;
    for (const v1::RunReport& report : Reports(link, run)) {
      if (report.has_refused()) last = report.refused().reason();
    }
    return last;
  }
  std::vector<v1::Finished> Finishes(LinkId link, int run) const {
    std::vector<v1::Finished> out;
    for (const v1::RunReport& report : Reports(link, run)) {
      if (report.has_finished()) out.push_back(report.finished());
    }
    return out;
  }
  v1::Heartbeat LastHeartbeat(LinkId link) const {
    v1::Heartbeat last;
    for (const auto& [to, message] : sent) {
      if (to == link && message.has_heartbeat()) last = message.heartbeat();
    }
    return last;
  }
  v1::Hello LastHello(LinkId link) const {
    v1::Hello last;
    for (const auto& [to, message] : sent) {
      if (to == link && message.has_hello()) last = message.hello();
    }
    return last;
  }
  bool SaidGoodbye(LinkId link) const {
    for (const auto& [to, message] : sent) {
      if (to == link && message.has_goodbye()) return true;
    }
    return false;
  }
  template <typename T>
  std::vector<T> All() const {
    std::vector<T> out;
    for (const Effect& effect : effects) {
      if (const T* value = std::get_if<T>(&effect)) out.push_back(*value);
    }
    return out;
  }
  int Starts(int run) const {
    int count = 0;
    for (const StartEffect& start : All<StartEffect>()) count += start.key == Key(run) ? 1 : 0;
    return count;
  }
  int Cancels(int run) const {
    int count = 0;
    for (const CancelEffect& cancel : All<CancelEffect>()) count += cancel.key == Key(run) ? 1 : 0;
    return count;
  }

 private:
  absl::Duration mono_ = absl::Seconds(1000);

 public:
  SessionCore core;
  std::vector<std::pair<LinkId, v1::ExecutorMessage>> sent;
  std::vector<Effect> effects;
};

}  // namespace tidemark::exec

#endif  // TIDEMARK_TESTS_EXECUTOR_CORE_BENCH_H_
