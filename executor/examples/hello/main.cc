// The README's executor of one's own: the smallest useful one.
#include <tidemark/executor.h>

int main() {
  tidemark::Executor executor({.schedulers = {"127.0.0.1:7400"}, .app = "hello"});
  executor.Handle("hello", [](tidemark::Context& run) {
    run.Log("hello, " + run.biz_date());
    return tidemark::Outcome::Ok();
  });
  return executor.Run();
}
