// What one side may cost the other (P3). Every refusal names its limit by the configuration key.
#ifndef TIDEMARK_SCHEDULER_RPC_LIMITS_H_
#define TIDEMARK_SCHEDULER_RPC_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace tidemark {

struct RpcLimits {
  size_t max_message = size_t{16} * 1024 * 1024;  // bytes of one gRPC message, either way
  // Bytes of one executor's messages that wait for the engine: beyond half of it the executor is
  // told to hold and gets nothing new, beyond it its stream is not read.
  size_t max_inbox = size_t{8} * 1024 * 1024;
  size_t max_inboxes = size_t{256} * 1024 * 1024;  // … of all together: beyond it none is read
  int max_streams = 20000;                         // executors' streams of this node
  int max_streams_per_credential = 10000;          // … with one token, or without from one address
  int requests_per_second = 200;       // of operators, per token or address; 0: any number
  size_t max_waiting_requests = 256;   // of operators, for the database, a service
  int64_t max_jobs_per_app = 100'000;  // that are not deleted
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_LIMITS_H_
