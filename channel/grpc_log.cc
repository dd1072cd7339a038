#include "channel/grpc_log.h"

#include <grpc/support/log.h>

#include <string>

#include "common/log.h"

namespace tidemark {
namespace {

std::string FileName(const char* path) {
  const std::string text = path;
  return text.substr(text.rfind('/') + 1);
}

// The debug and info levels are off unless GRPC_VERBOSITY asks for them.
void ToOurLog(gpr_log_func_args* line) {
  const std::string at = FileName(line->file) + ":" + std::to_string(line->line);
  LogWarn("gRPC", {{"says", line->message}, {"at", at}});
}

void Nowhere(gpr_log_func_args*) {}

}  // namespace

void SendGrpcLogToOurs() { gpr_set_log_function(ToOurLog); }
void SilenceGrpcLog() { gpr_set_log_function(Nowhere); }

}  // namespace tidemark
