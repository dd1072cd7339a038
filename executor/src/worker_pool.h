// Threads that call handlers.
#ifndef TIDEMARK_EXECUTOR_SRC_WORKER_POOL_H_
#define TIDEMARK_EXECUTOR_SRC_WORKER_POOL_H_

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace tidemark::exec {

// Up to `size` threads, made when they are first needed. Submit from one thread; tasks must not
// throw.
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

  const size_t size_;
  const std::shared_ptr<Shared> shared_;
  std::vector<std::thread> threads_;
};

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_WORKER_POOL_H_
