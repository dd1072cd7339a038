// The embeddable executor: register handlers, run until SIGTERM, be triggered by Tidemark.
//
//   #include <tidemark/executor.h>
//
//   int main() {
//     tidemark::Executor executor({.schedulers = {"127.0.0.1:7400"}, .app = "hello"});
//     executor.Handle("hello", [](tidemark::Context& run) {
//       run.Log("hello, " + run.biz_date());
//       return tidemark::Outcome::Ok();
//     });
//     return executor.Run();
//   }
//
// The executor dials every scheduler node and never listens. It reconnects by itself for ever.
// A result is kept, in memory and in the spool folder, until a scheduler has committed it; work
// that runs is not disturbed by a scheduler that is away for less than the job's lost_after.
#ifndef TIDEMARK_EXECUTOR_H_
#define TIDEMARK_EXECUTOR_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

// What a handler's run came to. `message` is for operators (an error, a remark): it is cut to 4 KiB
// on a character boundary, and bytes that are not UTF-8 are replaced.
//
// A handler may also throw: that is Retry with the exception's text.
struct Outcome {
  enum class Kind {
    kSucceeded,
    kRetry,    // failed; another attempt may help
    kFailed,   // failed for good: no retry
    kStopped,  // ended early because the context was cancelled
  };

  static Outcome Ok(std::string message = "") { return {Kind::kSucceeded, std::move(message)}; }
  static Outcome Retry(std::string message) { return {Kind::kRetry, std::move(message)}; }
  static Outcome Fail(std::string message) { return {Kind::kFailed, std::move(message)}; }
  // What a handler returns that saw cancelled(). When the cancel came from this process's own
  // shutdown, the run goes on elsewhere from its last checkpoint.
  static Outcome Stopped(std::string message = "") { return {Kind::kStopped, std::move(message)}; }

  bool ok() const { return kind == Kind::kSucceeded; }

  Kind kind = Kind::kSucceeded;
  std::string message;
};

enum class TriggerKind { kSchedule, kCatchUp, kBackfill, kManual };

// Grows with each attempt of an occurrence and with each change of the scheduler's owner of the
// job. Write it beside business rows (`… WHERE fence <= $1`) where an attempt that was given up,
// for instance in a suspended host, must not write any more.
struct FencingToken {
  uint32_t timeline = 0;
  uint64_t epoch = 0;
  std::string run_id;  // time-ordered: compares as text
  uint32_t attempt = 0;

  friend bool operator==(const FencingToken&, const FencingToken&) = default;
  friend auto operator<=>(const FencingToken&, const FencingToken&) = default;

  // Fixed width, so that it compares as text as it does as a token: timeline (10 digits), epoch
  // (20 digits), run_id, attempt (10 digits), joined by '/'.
  std::string ToText() const;
};

// Number of rows that a run left and a digest of them (≤ 128 bytes; see digest.h). Two runs of the
// same date are held to be equal when both are.
struct Fingerprint {
  int64_t rows = 0;
  std::string digest;

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

class RunState;  // internal

// What one run of a handler gets. Lives as long as the handler's call; owned by the executor.
// Thread-safe: a handler may hand it to threads that it joins before it returns.
class Context {
 public:
  explicit Context(std::shared_ptr<RunState> state);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const std::string& job() const;
  const std::string& handler() const;
  // The date whose data this run handles, "YYYY-MM-DD": the same for a late start, a retry, a
  // catch-up and a rerun. Empty for interval jobs.
  const std::string& biz_date() const;
  // When the schedule says the run is due; never "now".
  std::chrono::system_clock::time_point fire_time() const;
  // fire_time in the job's zone, "YYYY-MM-DDThh:mm:ss", and that IANA zone.
  const std::string& nominal_time() const;
  const std::string& zone() const;
  const std::string& run_id() const;
  int attempt() const;  // from 1
  // "<job>/<biz_date or fire time>": the same for every run of the occurrence. Key drafts by it.
  const std::string& batch_id() const;
  TriggerKind trigger() const;
  const std::map<std::string, std::string>& params() const;
  // The parameter `name`, or `fallback` when the job does not set it.
  std::string param(const std::string& name, const std::string& fallback = "") const;
  // The last checkpoint of an earlier attempt, on whatever executor; empty when there is none.
  const std::string& checkpoint() const;
  FencingToken fencing_token() const;

  // True once the run is to end: cancelled by an operator or a policy, over its time limit, out of
  // contact for too long, or this process is leaving. Return soon (Outcome::Stopped): an
  // interruptible handler that does not end within the job's cancel grace takes its process down.
  bool cancelled() const;
  // Why, for people; empty while not cancelled.
  std::string cancel_reason() const;
  // Waits until cancelled or `timeout` is over; returns cancelled(). Use it to wait in a handler.
  bool WaitCancelled(std::chrono::milliseconds timeout) const;
  // Runs `callback` once when the run is cancelled (at once when it already is), from another
  // thread. It must return soon, and may still be running when the handler returns: let it own what
  // it uses.
  void OnCancel(std::function<void()> callback);
  // Cancels this run from within; it ends as failed, to be retried, with `reason`.
  void Cancel(std::string reason);
  // Time left of the job's run limit, not negative; nothing when it has none.
  std::optional<std::chrono::milliseconds> TimeLeft() const;

  // Reports how far the run is: 0..100 (negative: not said), a checkpoint (≤ 4 KiB; empty: keep the
  // last one; one that is longer or is not UTF-8 text is ignored with a line in the run's log,
  // because a cut checkpoint would be a wrong one), a message (≤ 1 KiB, cut). Cheap: sent at most
  // once a second.
  void Progress(double percent, std::string_view checkpoint = "", std::string_view message = "");
  // Adds a line to the run's log. Never blocks: what the scheduler cannot take in time is dropped
  // with a mark.
  void Log(std::string_view line);
  // The same for raw bytes, without a line end of its own.
  void LogBytes(std::string_view bytes);
  // A short result for operators and dependent jobs; ≤ 16 KiB, cut.
  void SetResult(std::string_view text);
  // What the run left behind; shown, and compared by drills.
  void SetFingerprint(int64_t rows, std::string_view digest);

 private:
  std::shared_ptr<RunState> state_;
};

using HandlerFunction = std::function<Outcome(Context&)>;

// Something held around a handler's call, such as a lock: it is taken before the handler is entered
// and destroyed after it has returned.
class RunGuard {
 public:
  virtual ~RunGuard() = default;
};
// Returns a guard, or null with the reason in `*refused`: the run then goes back to the scheduler
// without having consumed an attempt. May keep a reference to the context until the guard is
// destroyed, and cancel it.
using GuardFunction = std::function<std::unique_ptr<RunGuard>(Context&, std::string* refused)>;

struct HandlerOptions {
  // The promise that the handler returns within the job's cancel grace (30 s by default) once
  // cancelled() is true. Only such a run may be retried elsewhere when contact is lost; when it
  // does not keep the promise then, the whole process is aborted, because two runs of one date
  // would be worse.
  bool interruptible = false;
  // Runs of this handler at once; 0: only the executor's capacity limits.
  uint32_t concurrency = 0;
  GuardFunction guard = {};
};

// What happened to a run here, for metrics.
struct RunEvent {
  enum class Kind { kAccepted, kRefused, kStarted, kCancelled, kFinished };
  Kind kind = Kind::kAccepted;
  std::string handler;
  std::string run_id;
  uint32_t attempt = 0;
  std::string detail;  // the refusal's or cancel's reason, or the outcome
};

enum class LogSeverity { kDebug, kInfo, kWarn, kError };

struct ExecutorOptions {
  // "host:port" of at least one scheduler node; the other nodes are learned from it.
  std::vector<std::string> schedulers = {};
  // The group of interchangeable executors that this process belongs to. 1–64 bytes.
  std::string app = {};
  // Unique among all executors and stable over restarts. Default: "<app>-<host name>-<8 hex
  // digits>", the digits made once and kept in the spool folder. Two processes with one id are
  // refused.
  std::string executor_id = {};
  // Runs at once in this process; also the number of threads that call handlers.
  uint32_t capacity = 4;
  // Matched by a job's routing labels.
  std::map<std::string, std::string> labels = {};
  // Who this process is: a token for its app (tidemark token create --app APP), and the file that
  // holds it. Off loopback it takes both a token and TLS: nothing is sent there in the clear.
  // `tls_ca`: the authority that the schedulers' certificates must come from ("system": one that
  // this machine trusts). `tls_cert`, `tls_key`: this process's own, where schedulers ask for one.
  // `tls_server_name`: that the certificates must have, instead of the host of the address. PEM
  // files; all are read anew for each connection, so they can be replaced while the process runs.
  // What is empty comes from TIDEMARK_TOKEN_FILE, TIDEMARK_TLS_CA, TIDEMARK_TLS_CERT,
  // TIDEMARK_TLS_KEY and TIDEMARK_TLS_SERVER_NAME.
  std::string token_file = {};
  std::string tls_ca = {};
  std::string tls_cert = {};
  std::string tls_key = {};
  std::string tls_server_name = {};
  // Folder of results that no scheduler has committed yet; made when it is missing. One process at
  // a time. Default: $XDG_STATE_HOME or ~/.local/state, then /tidemark/<app>.
  std::string spool_dir = {};
  // Over so many bytes of unacknowledged results, new triggers are refused; no result is dropped.
  // At most 8 MiB, so that all of them fit into one message at a reconnect.
  size_t spool_limit_bytes = 8u << 20;
  // Version of the embedding program, for display. ≤ 64 bytes.
  std::string version = {};
  std::string name_space = "default";
  // After SIGTERM or Stop(), running handlers have so long to end by themselves. Then their
  // contexts are cancelled, and they have `stop_grace` more. After the last one's end, schedulers
  // have 10 s (at most drain_timeout) to commit what was reported.
  std::chrono::milliseconds drain_timeout = std::chrono::seconds(60);
  std::chrono::milliseconds stop_grace = std::chrono::seconds(30);
  // Run() ends on SIGTERM and SIGINT. For that the constructor blocks these signals in its thread:
  // make the Executor in main(), before other threads. False: call Stop() yourself.
  bool handle_signals = true;
  // Called on SIGHUP, with handle_signals. Without it SIGHUP ends Run(), too.
  std::function<void()> on_hangup = {};
  // Hooks; called from threads of the executor, must return soon and not throw. Without `log`,
  // lines go to stderr.
  std::function<void(const RunEvent&)> on_run_event = {};
  std::function<void(LogSeverity, std::string_view line)> log = {};
};

// Owns connections, threads and the spool. Handle() before Run(); Run() once. Stop() may be called
// from any thread and more than once.
class Executor {
 public:
  explicit Executor(ExecutorOptions options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Registers a handler (name: 1–64 bytes). A bad or repeated name makes Run() fail.
  Executor& Handle(const std::string& name, HandlerOptions options, HandlerFunction function);
  Executor& Handle(const std::string& name, HandlerFunction function);

  // Serves until SIGTERM, SIGINT or Stop(), then drains: takes nothing new, hands back what has not
  // started, lets running handlers end, waits for the acknowledgement of their results, says
  // goodbye. Returns an exit code; the reason of all but 0 has been logged:
  //   0  drained. Results that no scheduler took in time stay in the spool for the next start.
  //   1  a scheduler refused this process for good (superseded, wrong app).
  //   2  bad options or handlers, or a spool folder that cannot be used.
  //   3  handlers did not end within drain_timeout + stop_grace. They may still be running: leave
  //      the process without destroying what they use (std::_Exit).
  int Run();
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// ---- to unit-test a handler, without a scheduler

struct RunRequest {
  std::string job = "test";
  std::string biz_date = "2026-01-01";
  std::chrono::system_clock::time_point fire_time{};
  std::string nominal_time = "2026-01-02T01:00:00";
  std::string zone = "UTC";
  std::string run_id = "00000000-0000-7000-8000-000000000001";
  uint32_t attempt = 1;
  std::string batch_id;  // default: "<job>/<biz_date>"
  TriggerKind trigger = TriggerKind::kSchedule;
  std::map<std::string, std::string> params;
  std::string checkpoint;
  // Cancels the context when the handler reports a percent ≥ this; negative: never. 0 with
  // `cancelled`: from the start.
  double cancel_at_percent = -1;
  bool cancelled = false;
};

struct RunResult {
  Outcome outcome;
  double percent = -1;     // last reported; negative: none
  std::string checkpoint;  // last reported, else the request's
  std::string message;     // last progress message
  std::string result;
  std::optional<Fingerprint> fingerprint;
  std::string log;
};

// Calls `handler` once, in this thread, as the executor would: exceptions become outcomes.
RunResult RunOnce(const HandlerFunction& handler, const RunRequest& request);

}  // namespace tidemark

#endif  // TIDEMARK_EXECUTOR_H_
