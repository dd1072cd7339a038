// Instants and durations between Abseil and Protobuf.
#ifndef TIDEMARK_SCHEDULER_RPC_PROTO_TIME_H_
#define TIDEMARK_SCHEDULER_RPC_PROTO_TIME_H_

#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

namespace tidemark {

// Nanoseconds outside [0, 1e9) (Timestamp) are added as they are.
absl::Time FromProto(const google::protobuf::Timestamp& message);
absl::Duration FromProto(const google::protobuf::Duration& message);

// `time` must be finite. Cut to microseconds, as the database keeps it.
google::protobuf::Timestamp ToProto(absl::Time time);
// `duration` must be finite.
google::protobuf::Duration ToProto(absl::Duration duration);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_PROTO_TIME_H_
