// An executor whose handlers go to the limits of what may be handed over: limits-executor ADDRESS.
#include <tidemark/executor.h>

#include <cstdlib>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string world = std::getenv("WORLD");
  tidemark::Executor executor({.schedulers = {argv[1]},
                               .app = "limits",
                               .executor_id = "limits-1",
                               .spool_dir = world + "/spool-limits"});
  // 10 MiB of result and of message, three bytes a character.
  executor.Handle("long-result", [](tidemark::Context& run) {
    std::string text;
    while (text.size() < (10u << 20)) text += "账";
    run.SetResult(text);
    return tidemark::Outcome::Ok();
  });
  executor.Handle("long-error", [](tidemark::Context&) {
    std::string text;
    while (text.size() < (10u << 20)) text += "账";
    return tidemark::Outcome::Fail(text);
  });
  // Leaves the parameter as it came.
  executor.Handle("params", [world](tidemark::Context& run) {
    std::ofstream(world + "/param", std::ios::binary) << run.param("big");
    run.Log("the parameter has " + std::to_string(run.param("big").size()) + " bytes");
    return tidemark::Outcome::Ok();
  });
  return executor.Run();
}
