// Threads that call handlers.
#ifndef TIDEMARK_EXECUTOR_SRC_WORKER_POOL_H_
#define TIDEMARK_EXECUTOR_SRC_WORKER_POOL_H_

#include <cstddef>
#include <functional>
#include <memory>

namespace tidemark::exec {

// Up to `size` threads: as many tasks do run at once, whatever they wait for, but a herd of short
// ones makes no herd of threads. A task that finds nobody idle and nobody before it has a thread
// made for it; while tasks wait behind others, a thread of the pool's own looks every millisecond
// whether those that have tasks get on, and doubles their number when they do not. The thread that
// became idle last is the next to work. Tasks must not throw. Thread-safe, but for its construction
// and destruction.
class WorkerPool {
 public:
  explicit WorkerPool(size_t size);
  // Waits for the tasks to end, unless abandoned.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void Submit(std::function<void()> task);
  // Lets the threads go on by themselves: the destructor no longer waits for them.
  void Abandon();

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_WORKER_POOL_H_
