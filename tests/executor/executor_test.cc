// The library over real gRPC, threads and disk, against a scheduler of the tests.
#include "tidemark/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/executor/fake_scheduler.h"
#include "tests/executor/temp_dir.h"

namespace tidemark {
namespace {

using exec::FakeScheduler;

// An executor that runs in a thread of its own.
class Running {
 public:
  Running(const std::string& address, const std::string& spool,
          const std::function<void(Executor&)>& add_handlers,
          std::chrono::milliseconds drain_timeout = std::chrono::seconds(10)) {
    ExecutorOptions options;
    options.schedulers = {address};
    options.app = "recon";
    options.capacity = 4;
    options.spool_dir = spool;
    options.handle_signals = false;
    options.drain_timeout = drain_timeout;
    options.log = [](LogSeverity, std::string_view) {};
    options.on_run_event = [this](const RunEvent& event) {
      if (event.kind == RunEvent::Kind::kFinished) ++finished_events;
    };
    executor_ = std::make_unique<Executor>(options);
    add_handlers(*executor_);
    thread_ = std::thread([this] { code_ = executor_->Run(); });
  }
  ~Running() { Stop(); }
  int Stop() {
    executor_->Stop();
    return Join();
  }
  int Join() {
    if (thread_.joinable()) thread_.join();
    return code_;
  }
  std::atomic<int> finished_events{0};

 private:
  std::unique_ptr<Executor> executor_;
  std::thread thread_;
  int code_ = -1;
};

TEST(ExecutorTest, RunsAHandlerWithAllThatTheTriggerSays) {
  TempDir dir;
  FakeScheduler scheduler;
  std::string seen;
  Running executor(scheduler.address(), dir.path(), [&](Executor& e) {
    e.Handle("recon", [&](Context& run) {
      seen = run.job() + " " + run.biz_date() + " " + run.nominal_time() + " " + run.zone() + " " +
             run.batch_id() + " " + run.param("bills", "none") + " " + run.param("x", "none") +
             " " + run.checkpoint() + " " + std::to_string(run.attempt()) + " " +
             run.fencing_token().ToText();
      run.Progress(50, "row-5", "half");
      run.Log("a line");
      run.SetResult("fine");
      run.SetFingerprint(12, "sha256:ab");
      return Outcome::Ok();
    });
  });
  ASSERT_TRUE(scheduler.AwaitHello());
  scheduler.Trigger(1, "recon", {{"bills", "/data"}}, "row-1");
  ASSERT_TRUE(scheduler.AwaitFinished(1));
  EXPECT_EQ(executor.Stop(), 0);
  EXPECT_EQ(seen,
            "job 2026-11-28 2026-11-29T01:00:00 Asia/Shanghai job/2026-11-28 /data none row-1 1 "
            "0000000001/00000000000000000001/" +
                FakeScheduler::RunId(1) + "/0000000001");
  const v1::Finished finished = scheduler.Finishes(1)[0];
  EXPECT_EQ(finished.outcome(), v1::Finished::SUCCEEDED);
  EXPECT_EQ(finished.result(), "fine");
  EXPECT_EQ(finished.result_rows(), 12);
  EXPECT_EQ(finished.result_digest(), "sha256:ab");
  EXPECT_EQ(finished.checkpoint(), "row-5");
  EXPECT_EQ(scheduler.LogOf(1), "a line\n");
  EXPECT_EQ(scheduler.goodbyes, 1);
  EXPECT_EQ(executor.finished_events, 1);
}

TEST(ExecutorTest, ExceptionsBecomeFailures) {
  TempDir dir;
  FakeScheduler scheduler;
  Running executor(scheduler.address(), dir.path(), [](Executor& e) {
    e.Handle("throws", [](Context&) -> Outcome { throw std::runtime_error("no bills yet"); });
    e.Handle("odd", [](Context&) -> Outcome { throw 42; });
  });
  ASSERT_TRUE(scheduler.AwaitHello());
  scheduler.Trigger(1, "throws");
  scheduler.Trigger(2, "odd");
  ASSERT_TRUE(scheduler.AwaitFinished(1));
  ASSERT_TRUE(scheduler.AwaitFinished(2));
  executor.Stop();
  EXPECT_EQ(scheduler.Finishes(1)[0].outcome(), v1::Finished::FAILED_RETRYABLE);
  EXPECT_EQ(scheduler.Finishes(1)[0].message(), "exception: no bills yet");
  EXPECT_EQ(scheduler.Finishes(2)[0].outcome(), v1::Finished::FAILED_RETRYABLE);
}

TEST(ExecutorTest, CancelReachesTheHandler) {
  TempDir dir;
  FakeScheduler scheduler;
  Running executor(scheduler.address(), dir.path(), [](Executor& e) {
    e.Handle("waits", [](Context& run) {
      return run.WaitCancelled(std::chrono::seconds(30)) ? Outcome::Stopped(run.cancel_reason())
                                                         : Outcome::Fail("never cancelled");
    });
  });
  ASSERT_TRUE(scheduler.AwaitHello());
  scheduler.Trigger(1, "waits");
  ASSERT_TRUE(scheduler.AwaitStarted(1));
  scheduler.Cancel(1);
  ASSERT_TRUE(scheduler.AwaitFinished(1));
  EXPECT_EQ(scheduler.Finishes(1)[0].outcome(), v1::Finished::STOPPED);
}

TEST(ExecutorTest, ResultSurvivesASchedulerThatDies) {
  TempDir dir;
  auto scheduler = std::make_unique<FakeScheduler>();
  const int port = scheduler->port();
  std::atomic<int> entered{0};
  std::atomic<bool> go{false};
  Running executor(scheduler->address(), dir.path(), [&](Executor& e) {
    e.Handle("work", [&](Context& run) {
      ++entered;
      while (!go && !run.WaitCancelled(std::chrono::milliseconds(5))) {
      }
      return Outcome::Ok("done");
    });
  });
  ASSERT_TRUE(scheduler->AwaitHello());
  scheduler->Trigger(1, "work");
  ASSERT_TRUE(scheduler->AwaitStarted(1));
  scheduler.reset();
  scheduler = std::make_unique<FakeScheduler>(port);
  ASSERT_TRUE(scheduler->AwaitHello());
  EXPECT_EQ(scheduler->hellos[0].registration(), 1);
  ASSERT_EQ(scheduler->hellos[0].held_size(), 1);
  EXPECT_TRUE(scheduler->hellos[0].held(0).started());
  scheduler->Trigger(1, "work");  // a copy
  go = true;
  ASSERT_TRUE(scheduler->AwaitFinished(1));
  EXPECT_EQ(executor.Stop(), 0);
  EXPECT_EQ(entered, 1);
}

TEST(ExecutorTest, ResultSurvivesTheProcess) {
  TempDir dir;
  auto scheduler = std::make_unique<FakeScheduler>();
  scheduler->SetAcknowledge(false);
  const auto handlers = [](Executor& e) {
    e.Handle("work", [](Context&) { return Outcome::Ok("kept"); });
  };
  std::string id;
  {
    Running first(scheduler->address(), dir.path(), handlers, std::chrono::milliseconds(100));
    ASSERT_TRUE(scheduler->AwaitHello());
    id = scheduler->hellos[0].executor_id();
    scheduler->Trigger(1, "work");
    ASSERT_TRUE(scheduler->AwaitFinished(1));
    EXPECT_EQ(first.Stop(), 0);
  }
  EXPECT_EQ(scheduler->goodbyes, 0);  // something is left to report
  FakeScheduler other;
  Running second(other.address(), dir.path(), handlers);
  ASSERT_TRUE(other.AwaitHello());
  EXPECT_EQ(other.hellos[0].executor_id(), id);
  EXPECT_NE(other.hellos[0].incarnation(), scheduler->hellos[0].incarnation());
  ASSERT_EQ(other.hellos[0].results_size(), 1);
  EXPECT_EQ(other.hellos[0].results(0).finished().message(), "kept");
  second.Stop();
}

TEST(ExecutorTest, GuardRefusesOrIsHeldAroundTheCall) {
  TempDir dir;
  FakeScheduler scheduler;
  struct Flag : RunGuard {
    explicit Flag(std::atomic<bool>* f) : flag(f) { *flag = true; }
    ~Flag() override { *flag = false; }
    std::atomic<bool>* flag;
  };
  std::atomic<bool> held{false};
  std::atomic<bool> held_inside{false};
  Running executor(scheduler.address(), dir.path(), [&](Executor& e) {
    HandlerOptions locked;
    locked.guard = [](Context&, std::string* refused) -> std::unique_ptr<RunGuard> {
      *refused = "held by another";
      return nullptr;
    };
    e.Handle("locked", locked, [](Context&) { return Outcome::Ok(); });
    HandlerOptions open;
    open.guard = [&](Context&, std::string*) { return std::make_unique<Flag>(&held); };
    e.Handle("open", open, [&](Context&) {
      held_inside = held.load();
      return Outcome::Ok();
    });
  });
  ASSERT_TRUE(scheduler.AwaitHello());
  scheduler.Trigger(1, "locked");
  ASSERT_TRUE(scheduler.Await(
      [&] { return !scheduler.reports.empty() && scheduler.reports.back().has_refused(); }));
  EXPECT_EQ(scheduler.reports.back().refused().reason(), v1::Refused::LOCK_REFUSED);
  EXPECT_EQ(scheduler.reports.back().refused().message(), "held by another");
  scheduler.Trigger(2, "open");
  ASSERT_TRUE(scheduler.AwaitFinished(2));
  EXPECT_TRUE(held_inside);
  EXPECT_FALSE(held);
}

TEST(ExecutorTest, StopDrains) {
  TempDir dir;
  FakeScheduler scheduler;
  std::atomic<bool> go{false};
  Running executor(scheduler.address(), dir.path(), [&](Executor& e) {
    e.Handle("work", [&](Context& run) {
      while (!go && !run.WaitCancelled(std::chrono::milliseconds(5))) {
      }
      return run.cancelled() ? Outcome::Stopped() : Outcome::Ok();
    });
  });
  ASSERT_TRUE(scheduler.AwaitHello());
  scheduler.Trigger(1, "work");
  ASSERT_TRUE(scheduler.AwaitStarted(1));
  std::thread stopper([&] { EXPECT_EQ(executor.Stop(), 0); });
  ASSERT_TRUE(scheduler.Await([&] { return scheduler.heartbeats.back().draining(); }));
  go = true;
  stopper.join();
  EXPECT_EQ(scheduler.Finishes(1)[0].outcome(), v1::Finished::SUCCEEDED);
  EXPECT_EQ(scheduler.goodbyes, 1);
}

TEST(ExecutorTest, RejectedProcessLeavesWithAnError) {
  TempDir dir;
  FakeScheduler scheduler;
  v1::SchedulerMessage rejected;
  rejected.mutable_rejected()->set_reason(v1::Rejected::APP_MISMATCH);
  scheduler.SetHelloAnswer(rejected);
  Running executor(scheduler.address(), dir.path(),
                   [](Executor& e) { e.Handle("work", [](Context&) { return Outcome::Ok(); }); });
  EXPECT_EQ(executor.Join(), 1);
}

TEST(ExecutorTest, ThousandsOfEmptyRuns) {
  TempDir dir;
  FakeScheduler scheduler;
  Running executor(scheduler.address(), dir.path(),
                   [](Executor& e) { e.Handle("noop", [](Context&) { return Outcome::Ok(); }); });
  ASSERT_TRUE(scheduler.AwaitHello());
  constexpr int kRuns = 2000;
  size_t done = 0;
  for (int run = 1; run <= kRuns; ++run) {
    scheduler.Trigger(run, "noop");
    // No more at once than there are slots.
    ASSERT_TRUE(scheduler.Await([&] {
      done = 0;
      for (const v1::RunReport& report : scheduler.reports) done += report.has_finished() ? 1 : 0;
      return done + 3 >= static_cast<size_t>(run);
    }));
  }
  ASSERT_TRUE(scheduler.AwaitFinished(kRuns));
  EXPECT_EQ(executor.Stop(), 0);
  for (int run = 1; run <= kRuns; ++run) ASSERT_EQ(scheduler.Finishes(run).size(), 1u) << run;
}

std::vector<std::string> ProblemsOf(ExecutorOptions options, bool with_handler = true) {
  std::vector<std::string> lines;
  options.handle_signals = false;
  options.log = [&](LogSeverity, std::string_view line) { lines.emplace_back(line); };
  Executor executor(options);
  if (with_handler) executor.Handle("work", [](Context&) { return Outcome::Ok(); });
  EXPECT_EQ(executor.Run(), 2);
  return lines;
}

TEST(ExecutorTest, BadOptionsAreNamed) {
  TempDir dir;
  ExecutorOptions good;
  good.schedulers = {"127.0.0.1:1"};
  good.app = "recon";
  good.spool_dir = dir.path();
  ExecutorOptions bad = good;
  bad.schedulers = {"localhost"};
  EXPECT_NE(ProblemsOf(bad).at(0).find("scheduler address"), std::string::npos);
  bad = good;
  bad.app = "";
  EXPECT_NE(ProblemsOf(bad).at(0).find("app is empty"), std::string::npos);
  bad = good;
  bad.capacity = 0;
  EXPECT_NE(ProblemsOf(bad).at(0).find("capacity"), std::string::npos);
  bad = good;
  bad.spool_dir = "/proc/nowhere";
  EXPECT_NE(ProblemsOf(bad).at(0).find("spool folder /proc/nowhere"), std::string::npos);
  EXPECT_NE(ProblemsOf(good, false).at(0).find("no handler"), std::string::npos);
}

TEST(ExecutorTest, SpoolFolderOfAnotherProcessIsRefused) {
  TempDir dir;
  FakeScheduler scheduler;
  Running first(scheduler.address(), dir.path(),
                [](Executor& e) { e.Handle("work", [](Context&) { return Outcome::Ok(); }); });
  ASSERT_TRUE(scheduler.AwaitHello());
  ExecutorOptions second;
  second.schedulers = {scheduler.address()};
  second.app = "recon";
  second.spool_dir = dir.path();
  EXPECT_NE(ProblemsOf(second).at(0).find("in use by another executor"), std::string::npos);
}

TEST(RunOnceTest, TestsAHandlerWithoutAScheduler) {
  RunRequest request;
  request.params = {{"n", "3"}};
  request.checkpoint = "1";
  const RunResult result = RunOnce(
      [](Context& run) {
        int row = std::stoi(run.checkpoint());
        for (; row < std::stoi(run.param("n")); ++row) {
          run.Progress(row * 10.0, std::to_string(row));
          run.Log("row " + std::to_string(row));
        }
        run.SetFingerprint(row, "d");
        return Outcome::Ok("all");
      },
      request);
  EXPECT_TRUE(result.outcome.ok());
  EXPECT_EQ(result.checkpoint, "2");
  EXPECT_EQ(result.percent, 20);
  EXPECT_EQ(result.log, "row 1\nrow 2\n");
  EXPECT_EQ(result.fingerprint, (Fingerprint{3, "d"}));
}

TEST(RunOnceTest, CancelsAtAPercentAndTurnsExceptionsIntoOutcomes) {
  RunRequest request;
  request.cancel_at_percent = 50;
  const RunResult stopped = RunOnce(
      [](Context& run) {
        for (int i = 0; i <= 100; i += 10) {
          if (run.cancelled()) return Outcome::Stopped();
          run.Progress(i, std::to_string(i));
        }
        return Outcome::Ok();
      },
      request);
  EXPECT_EQ(stopped.outcome.kind, Outcome::Kind::kStopped);
  EXPECT_EQ(stopped.checkpoint, "50");
  const RunResult thrown =
      RunOnce([](Context&) -> Outcome { throw std::runtime_error("x"); }, RunRequest());
  EXPECT_EQ(thrown.outcome.kind, Outcome::Kind::kRetry);
}

TEST(RunOnceTest, ACheckpointThatDoesNotFitIsIgnoredAloud) {
  const RunResult result = RunOnce(
      [](Context& run) {
        run.Progress(1, "good");
        run.Progress(2, std::string(5000, 'x'));
        run.Progress(3, "\xff");
        return Outcome::Ok();
      },
      RunRequest());
  EXPECT_EQ(result.checkpoint, "good");
  EXPECT_NE(result.log.find("checkpoint ignored: 5000 bytes"), std::string::npos);
}

}  // namespace
}  // namespace tidemark
