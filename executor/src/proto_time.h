// Times of the contract as Abseil's.
#ifndef TIDEMARK_EXECUTOR_SRC_PROTO_TIME_H_
#define TIDEMARK_EXECUTOR_SRC_PROTO_TIME_H_

#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

namespace tidemark::exec {

inline absl::Duration FromProto(const google::protobuf::Duration& d) {
  return absl::Seconds(d.seconds()) + absl::Nanoseconds(d.nanos());
}

inline absl::Time FromProto(const google::protobuf::Timestamp& t) {
  return absl::FromUnixSeconds(t.seconds()) + absl::Nanoseconds(t.nanos());
}

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_PROTO_TIME_H_
