// The threads that call handlers.
#include "executor/src/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace tidemark::exec {
namespace {

// Lets everybody go who waits at it, once `count` are there.
class Gate {
 public:
  explicit Gate(int count) : missing_(count) {}
  void Pass() {
    std::unique_lock lock(mutex_);
    if (--missing_ <= 0) changed_.notify_all();
    changed_.wait(lock, [this] { return missing_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int missing_;
};

TEST(WorkerPoolTest, TasksThatBlockHaveAThreadEach) {
  constexpr int kTasks = 200;
  Gate gate(kTasks);  // nobody gets through before all have begun
  WorkerPool pool(kTasks);
  for (int i = 0; i < kTasks; ++i) pool.Submit([&] { gate.Pass(); });
}

TEST(WorkerPoolTest, NoMoreTasksAtOnceThanItsSize) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> done = 0;
  {
    WorkerPool pool(3);
    for (int i = 0; i < 500; ++i) {
      pool.Submit([&] {
        const int now = ++running;
        int before = most;
        while (before < now && !most.compare_exchange_weak(before, now)) {
        }
        std::this_thread::yield();
        --running;
        ++done;
      });
    }
  }
  EXPECT_EQ(done, 500) << "the destructor waits for all of them";
  EXPECT_LE(most, 3);
}

TEST(WorkerPoolTest, AHerdOfShortTasksMakesNoHerdOfThreads) {
  constexpr int kTasks = 5000;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  {
    WorkerPool pool(kTasks);
    for (int i = 0; i < kTasks; ++i) {
      pool.Submit([&] {
        const std::lock_guard lock(mutex);
        threads.insert(std::this_thread::get_id());
      });
    }
  }
  EXPECT_LT(threads.size(), kTasks / 10);
}

TEST(WorkerPoolTest, AHerdThatWaitsIsNotHandledOneByOne) {
  constexpr int kTasks = 300;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  {
    WorkerPool pool(kTasks);
    for (int i = 0; i < kTasks; ++i) {
      pool.Submit([&] {
        const int now = ++running;
        int before = most;
        while (before < now && !most.compare_exchange_weak(before, now)) {
        }
        // Each gets on soon, and none computes: more threads make all faster.
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable never;
        never.wait_for(lock, std::chrono::milliseconds(5), [] { return false; });
        --running;
      });
    }
  }
  EXPECT_GT(most, 20);
}

TEST(WorkerPoolTest, TasksThatComputeDoNotKeepTheRestFromRunning) {
  constexpr int kTasks = 12;  // more than there are processors, mostly
  std::atomic<int> begun = 0;
  WorkerPool pool(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    pool.Submit([&] {
      ++begun;
      while (begun < kTasks) {
      }
    });
  }
}

TEST(WorkerPoolTest, AThreadThatIsFreeIsUsedAgain) {
  std::mutex mutex;
  std::condition_variable changed;
  int done = 0;
  std::set<std::thread::id> threads;
  WorkerPool pool(100);
  for (int i = 1; i <= 200; ++i) {
    pool.Submit([&] {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
      ++done;
      changed.notify_one();
    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done == i; });
  }
  EXPECT_LE(threads.size(), 10u) << "a thread may be made while the last one is not yet idle";
}

TEST(WorkerPoolTest, ATaskBehindBlockedOnesStartsWithoutThem) {
  Gate gate(6);
  WorkerPool pool(6);
  for (int i = 0; i < 5; ++i) pool.Submit([&] { gate.Pass(); });
  pool.Submit([&] { gate.Pass(); });
}

TEST(WorkerPoolTest, AnAbandonedPoolWaitsForNobody) {
  auto gate = std::make_shared<Gate>(2);
  {
    WorkerPool pool(4);
    pool.Submit([gate] { gate->Pass(); });
    pool.Abandon();
  }
  gate->Pass();
}

}  // namespace
}  // namespace tidemark::exec
