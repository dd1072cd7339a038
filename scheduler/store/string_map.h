// Flat JSON objects of strings, as columns keep arguments, results and labels.
#ifndef TIDEMARK_SCHEDULER_STORE_STRING_MAP_H_
#define TIDEMARK_SCHEDULER_STORE_STRING_MAP_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tidemark {

// {"a":"b"}: keys in order. Values must be valid UTF-8 (CleanText).
std::string EncodeStringMap(const std::map<std::string, std::string>& values);

// Reads what EncodeStringMap or PostgreSQL's json_object wrote. Numbers, true, false are taken as
// their text, null as "". INVALID_ARGUMENT for anything else.
absl::StatusOr<std::map<std::string, std::string>> DecodeStringMap(std::string_view json);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_STRING_MAP_H_
