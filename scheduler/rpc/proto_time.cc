#include "scheduler/rpc/proto_time.h"

namespace tidemark {

absl::Time FromProto(const google::protobuf::Timestamp& message) {
  return absl::FromUnixSeconds(message.seconds()) + absl::Nanoseconds(message.nanos());
}

absl::Duration FromProto(const google::protobuf::Duration& message) {
  return absl::Seconds(message.seconds()) + absl::Nanoseconds(message.nanos());
}

google::protobuf::Timestamp ToProto(absl::Time time) {
  const int64_t micros = absl::ToUnixMicros(time);
  int64_t seconds = micros / 1000000;
  int64_t rest = micros % 1000000;
  if (rest < 0) {  // nanos count forward, also before 1970
    --seconds;
    rest += 1000000;
  }
  google::protobuf::Timestamp message;
  message.set_seconds(seconds);
  message.set_nanos(static_cast<int32_t>(rest * 1000));
  return message;
}

google::protobuf::Duration ToProto(absl::Duration duration) {
  absl::Duration rest;
  google::protobuf::Duration message;
  message.set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &rest));
  message.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
  return message;
}

}  // namespace tidemark
