// The executor session between wire and engine.
#ifndef TIDEMARK_SCHEDULER_RPC_EXECUTOR_CODEC_H_
#define TIDEMARK_SCHEDULER_RPC_EXECUTOR_CODEC_H_

#include <vector>

#include "scheduler/engine/messages.h"
#include "scheduler/engine/run_log.h"
#include "tidemark/v1/executor.pb.h"

namespace tidemark {

// Never fails: what is missing stays at its default, and the engine judges it. Texts are cleaned
// and cut to the bounds that executor.proto states.
ExecutorMessage FromProto(const v1::ExecutorMessage& message);

// Moves the log chunks out of the message. The executor's id is left to who knows the stream.
std::vector<RunLogChunk> TakeLogs(v1::ExecutorMessage& message);

// Adds the message to `out`, which may hold others that are not yet sent.
void AddTo(const Outbound& outbound, v1::SchedulerMessage& out);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_EXECUTOR_CODEC_H_
