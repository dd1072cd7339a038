// The version of all programs of this tree.
#ifndef TIDEMARK_COMMON_VERSION_H_
#define TIDEMARK_COMMON_VERSION_H_

namespace tidemark {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace tidemark

#endif  // TIDEMARK_COMMON_VERSION_H_
