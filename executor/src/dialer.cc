#include "executor/src/dialer.h"

#include <algorithm>

namespace tidemark::exec {
namespace {

constexpr absl::Duration kLeastBackoff = absl::Milliseconds(200);
constexpr absl::Duration kMostBackoff = absl::Seconds(5);

}  // namespace

Dialer::Dialer(const std::vector<std::string>& configured, Random& random) : random_(random) {
  for (const std::string& address : configured) targets_[address].configured = true;
}

std::vector<std::pair<LinkId, std::string>> Dialer::Due(absl::Duration now) {
  std::vector<std::pair<LinkId, std::string>> due;
  for (auto& [address, target] : targets_) {
    if (target.link || target.parked_by || target.next_dial > now) continue;
    target.link = next_link_++;
    due.emplace_back(*target.link, address);
  }
  return due;
}

absl::Duration Dialer::NextWake() const {
  absl::Duration wake = absl::InfiniteDuration();
  for (const auto& [address, target] : targets_) {
    if (!target.link && !target.parked_by) wake = std::min(wake, target.next_dial);
  }
  return wake;
}

Dialer::Targets::iterator Dialer::Find(LinkId link) {
  return std::find_if(targets_.begin(), targets_.end(),
                      [&](const auto& entry) { return entry.second.link == link; });
}

std::string Dialer::AddressOf(LinkId link) const {
  for (const auto& [address, target] : targets_) {
    if (target.link == link) return address;
  }
  return "";
}

void Dialer::OnWelcomed(LinkId link) {
  const auto it = Find(link);
  if (it == targets_.end()) return;
  it->second.up = true;
  it->second.backoff = absl::ZeroDuration();
  it->second.last_reason.reset();
}

bool Dialer::OnClosed(LinkId link, const std::string& reason, absl::Duration now) {
  for (auto& [address, target] : targets_) {
    if (target.parked_by != link) continue;
    target.parked_by.reset();
    target.next_dial = now;
  }
  const auto it = Find(link);
  if (it == targets_.end()) return false;
  Target& target = it->second;
  const bool news = target.up || target.last_reason != reason;
  target.up = false;
  target.link.reset();
  target.last_reason = reason;
  target.backoff = std::clamp(target.backoff * 2, kLeastBackoff, kMostBackoff);
  // Jitter of a half keeps a fleet from coming back in step.
  target.next_dial = now + target.backoff * (0.5 + 0.5 * random_.Uniform());
  DropForgotten();
  return news;
}

void Dialer::Park(LinkId link, LinkId by) {
  const auto it = Find(link);
  if (it == targets_.end()) return;
  it->second.link.reset();
  it->second.up = false;
  it->second.parked_by = by;
}

void Dialer::SetNodes(const std::vector<std::string>& addresses, absl::Duration now) {
  for (auto& [address, target] : targets_) target.named = false;
  for (const std::string& address : addresses) {
    if (address.empty()) continue;
    const auto [it, added] = targets_.try_emplace(address);
    it->second.named = true;
    if (added) it->second.next_dial = now;
  }
  DropForgotten();
}

void Dialer::DropForgotten() {
  std::erase_if(targets_, [](const auto& entry) {
    const Target& target = entry.second;
    return !target.configured && !target.named && !target.link;
  });
}

}  // namespace tidemark::exec
