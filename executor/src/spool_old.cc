#include "executor/src/spool_old.h"

#include <cstring>

#include "tidemark/digest.h"

namespace tidemark::exec {
namespace {

constexpr std::string_view kMagic = "TMSPOOL1";
constexpr size_t kDigestBytes = 32;
constexpr std::string_view kResult = ".result";
constexpr std::string_view kAcked = ".acked";

}  // namespace

bool IsOldSpoolFile(std::string_view name) {
  return name.ends_with(kResult) || name.ends_with(kAcked);
}

std::optional<SpooledResult> ParseOldSpoolFile(std::string_view name, std::string_view bytes) {
  if (bytes.size() < kMagic.size() + kDigestBytes || !bytes.starts_with(kMagic)) {
    return std::nullopt;
  }
  const std::string_view digest = bytes.substr(kMagic.size(), kDigestBytes);
  const std::string_view payload = bytes.substr(kMagic.size() + kDigestBytes);
  const auto right = Sha256(payload);
  if (std::memcmp(digest.data(), right.data(), kDigestBytes) != 0) return std::nullopt;
  SpooledResult result;
  result.acknowledged = name.ends_with(kAcked);
  if (!result.report.ParseFromArray(payload.data(), static_cast<int>(payload.size())) ||
      !result.report.has_finished()) {
    return std::nullopt;
  }
  return result;
}

}  // namespace tidemark::exec
