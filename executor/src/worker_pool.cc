#include "executor/src/worker_pool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace tidemark::exec {
namespace {

constexpr std::chrono::milliseconds kTick(1);
// How many threads are looked at in a tick to see whether tasks compute or wait.
constexpr int kLookedAt = 8;
// After so long a backlog one more thread a tick, whatever the others do.
constexpr int kPatience = 20;

// Whether the kernel has the thread waiting for something other than a processor.
bool Sleeps(pid_t tid) {
  const std::string path = "/proc/self/task/" + std::to_string(tid) + "/stat";
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  char buffer[256];
  const ssize_t n = read(fd, buffer, sizeof buffer);
  close(fd);
  const std::string_view text(buffer, n > 0 ? static_cast<size_t>(n) : 0);
  const size_t name_end = text.rfind(") ");  // the name may hold anything
  return name_end == std::string_view::npos || name_end + 2 >= text.size() ||
         text[name_end + 2] != 'R';
}

}  // namespace

// Outlives the pool when a thread was abandoned.
struct WorkerPool::Shared : std::enable_shared_from_this<Shared> {
  struct Worker {
    std::thread thread;
    std::condition_variable wake;
    // Guarded by mutex.
    pid_t tid = 0;
    bool engaged = true;  // has, or is to look for, a task
    bool took = false;    // a task, since the last tick
  };

  explicit Shared(size_t threads) : size(threads) {}
  void Submit(std::function<void()> task);
  void Work(Worker& self);
  void Pace();

  // With the mutex held.
  size_t Active() const { return workers.size() - idle.size(); }
  bool Backlog() const { return !tasks.empty() && Active() < size && !abandoned; }
  void Engage(size_t count);
  void Tick();

  const size_t size;
  const size_t processors = std::max(1u, std::thread::hardware_concurrency());
  std::mutex mutex;
  std::condition_variable paced;
  // Guarded by mutex.
  std::deque<std::function<void()>> tasks;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Worker*> idle;  // the last is the next to work
  std::thread pacer;          // made when it is first needed
  bool pacing = false;        // it will look by itself
  int backlog_ticks = 0;
  bool stopping = false;
  bool abandoned = false;
};

WorkerPool::WorkerPool(size_t size) : shared_(std::make_shared<Shared>(size)) {}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
    for (const auto& worker : shared_->workers) worker->wake.notify_one();
  }
  shared_->paced.notify_one();
  // The pacer may make threads until the last task is taken.
  if (shared_->pacer.joinable()) shared_->pacer.join();
  for (const auto& worker : shared_->workers) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

void WorkerPool::Submit(std::function<void()> task) { shared_->Submit(std::move(task)); }

void WorkerPool::Abandon() {
  const std::lock_guard lock(shared_->mutex);
  shared_->abandoned = true;
  for (const auto& worker : shared_->workers) worker->thread.detach();
  if (shared_->pacer.joinable()) shared_->pacer.detach();
}

void WorkerPool::Shared::Submit(std::function<void()> task) {
  const std::lock_guard lock(mutex);
  tasks.push_back(std::move(task));
  if (tasks.size() == 1 || Active() < processors) {
    Engage(1);
  } else if (!pacer.joinable() && !abandoned) {
    pacer = std::thread([self = shared_from_this()] { self->Pace(); });
  } else if (!pacing) {
    paced.notify_one();
  }
}

void WorkerPool::Shared::Engage(size_t count) {
  for (; count > 0 && Active() < size && !abandoned; --count) {
    if (!idle.empty()) {
      idle.back()->engaged = true;
      idle.back()->wake.notify_one();
      idle.pop_back();
      continue;
    }
    workers.push_back(std::make_unique<Worker>());
    Worker& worker = *workers.back();
    worker.thread = std::thread([self = shared_from_this(), &worker] { self->Work(worker); });
  }
}

void WorkerPool::Shared::Work(Worker& self) {
  std::unique_lock lock(mutex);
  self.tid = gettid();
  while (true) {
    while (!tasks.empty()) {
      self.took = true;
      std::function<void()> task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
    if (stopping) return;
    self.engaged = false;
    idle.push_back(&self);
    self.wake.wait(lock, [&] { return self.engaged || stopping; });
  }
}

void WorkerPool::Shared::Pace() {
  std::unique_lock lock(mutex);
  while (!abandoned && !(stopping && tasks.empty())) {
    if (!Backlog()) {
      backlog_ticks = 0;
      pacing = false;
      paced.wait(lock, [this] { return Backlog() || stopping || abandoned; });
    }
    pacing = true;
    // A tick begins: whoever takes a task in it gets on.
    for (const auto& worker : workers) worker->took = false;
    paced.wait_for(lock, kTick, [this] { return stopping && tasks.empty(); });
    if (Backlog()) Tick();
  }
}

// Where tasks compute, more threads would only take turns; where they wait, each one helps.
void WorkerPool::Shared::Tick() {
  ++backlog_ticks;
  int looked_at = 0;
  bool computing = false;
  for (const auto& worker : workers) {
    if (!worker->took || worker->tid == 0) continue;
    computing = !Sleeps(worker->tid);
    if (computing || ++looked_at == kLookedAt) break;
  }
  if (!computing) {
    Engage(std::min(tasks.size(), std::max<size_t>(Active(), 1)));
  } else if (backlog_ticks > kPatience) {
    Engage(1);
  }
}

}  // namespace tidemark::exec
