// What the oracle needs of a definition.
#ifndef TIDEMARK_SCHEDULER_RPC_VERIFY_CODEC_H_
#define TIDEMARK_SCHEDULER_RPC_VERIFY_CODEC_H_

#include <string>
#include <vector>

#include "scheduler/core/job.h"
#include "scheduler/core/job_timeline.h"
#include "scheduler/verify/history.h"

namespace tidemark {

verify::Definition ToVerify(int version, absl::Time valid_from, const JobSpec& spec);
std::map<std::string, std::vector<verify::Edition>> ToVerify(const CalendarSet* calendars);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_RPC_VERIFY_CODEC_H_
