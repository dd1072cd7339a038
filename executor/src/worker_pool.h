// Threads that call handlers.
#ifndef TIDEMARK_EXECUTOR_SRC_WORKER_POOL_H_
#define TIDEMARK_EXECUTOR_SRC_WORKER_POOL_H_

#include <cstddef>
#include <functional>
#include <memory>

namespace tidemark::exec {

// Up to `size` threads, made when a task would otherwise wait for one. Tasks must not throw.
// Thread-safe, but for its construction and destruction.
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
  static void Work(const std::shared_ptr<Shared>& shared);
  static void Grow(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_WORKER_POOL_H_
