// The spool's format before segments: one file a result.
#ifndef TIDEMARK_EXECUTOR_SRC_SPOOL_OLD_H_
#define TIDEMARK_EXECUTOR_SRC_SPOOL_OLD_H_

#include <optional>
#include <string>
#include <string_view>

#include "executor/src/core_types.h"

namespace tidemark::exec {

// "<run_id>.<attempt>.result", ".acked" once committed: "TMSPOOL1", SHA-256 of what follows, the
// RunReport. Read for those who come from a version that wrote it; never written.
bool IsOldSpoolFile(std::string_view name);
// What the file holds; none when it is damaged.
std::optional<SpooledResult> ParseOldSpoolFile(std::string_view name, std::string_view bytes);

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_SPOOL_OLD_H_
