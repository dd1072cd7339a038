// What gRPC itself has to say, in our logs.
#ifndef TIDEMARK_CHANNEL_GRPC_LOG_H_
#define TIDEMARK_CHANNEL_GRPC_LOG_H_

namespace tidemark {

// From now on gRPC's lines are warnings of our log: in its format, escaped, and bounded in number
// when bad peers cause them. For programs, before gRPC is used; a library leaves that to its user.
void SendGrpcLogToOurs();

// From now on gRPC says nothing: for commands, which tell errors themselves.
void SilenceGrpcLog();

}  // namespace tidemark

#endif  // TIDEMARK_CHANNEL_GRPC_LOG_H_
