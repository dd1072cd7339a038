// Several scheduler nodes: which of them hears what.
#include <algorithm>
#include <utility>
#include <vector>

#include "executor/src/session_core.h"

namespace tidemark::exec {
namespace {

// Between heartbeats that are sent because a slot came free.
constexpr absl::Duration kLeastBeat = absl::Milliseconds(200);

}  // namespace

// A node that has just begun may know of none.
void SessionCore::LearnNodes(const Addresses& addresses) {
  if (addresses.empty()) return;
  effects_.push_back(NodesEffect{{addresses.begin(), addresses.end()}});
}

// PostgreSQL failed over: what was committed just before may be lost. Of results that an earlier
// process left nobody knows under which timeline they were acknowledged, so any but the first is
// news.
void SessionCore::LearnTimeline(uint32_t timeline, Moment now) {
  if (timeline <= timeline_) return;
  timeline_ = timeline;
  outbox_.OfferAgain(now.mono);
}

// Nodes that know of no free slot hear of it soon; that of its own run the owner knows anyway.
void SessionCore::TellOfRoom(const std::string& owner, Moment now) {
  for (auto& [id, link] : links_) {
    if (link.state != Link::State::kWelcomed) continue;
    if (!link.refused_for_room && !(link.told_full && link.node_id != owner)) continue;
    link.next_beat = std::min(link.next_beat, std::max(now.mono, link.last_beat + kLeastBeat));
  }
}

std::pair<const LinkId, SessionCore::Link>* SessionCore::FindNode(const std::string& node) {
  for (auto& entry : links_) {
    if (entry.second.state == Link::State::kWelcomed && entry.second.node_id == node) {
      return &entry;
    }
  }
  return nullptr;
}

// The owner first; of what it does not acknowledge, the others in turn.
std::pair<const LinkId, SessionCore::Link>* SessionCore::LinkFor(const std::string& node,
                                                                 uint32_t tries) {
  if (auto* entry = FindNode(node); entry != nullptr && tries == 0) return entry;
  std::vector<std::pair<const LinkId, Link>*> welcomed;
  for (auto& entry : links_) {
    if (entry.second.state != Link::State::kWelcomed) continue;
    const bool owner = entry.second.node_id == node;
    welcomed.insert(owner ? welcomed.begin() : welcomed.end(), &entry);
  }
  return welcomed.empty() ? nullptr : welcomed[tries % welcomed.size()];
}

bool SessionCore::Connected(const std::string& node) const {
  return std::any_of(links_.begin(), links_.end(), [&](const auto& entry) {
    return entry.second.state == Link::State::kWelcomed && entry.second.node_id == node;
  });
}

bool SessionCore::AnyWelcomed() const {
  return std::any_of(links_.begin(), links_.end(), [](const auto& entry) {
    return entry.second.state == Link::State::kWelcomed;
  });
}

void SessionCore::PostTo(const std::string& node, v1::RunReport report) {
  if (auto* entry = FindNode(node)) Post(entry->first, entry->second, std::move(report));
}

}  // namespace tidemark::exec
