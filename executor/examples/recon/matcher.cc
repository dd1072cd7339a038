#include "executor/examples/recon/matcher.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tidemark::recon {
namespace {

void Sort(std::vector<Bill>& bills) {
  std::sort(bills.begin(), bills.end(), [](const Bill& a, const Bill& b) {
    return std::tie(a.order_id, a.paid_at, a.cents) < std::tie(b.order_id, b.paid_at, b.cents);
  });
}

// The bills of `order_id` from `at` on; `at` moves past them. The first one stands for all.
struct Group {
  const Bill* first = nullptr;
  int copies = 0;
};

Group TakeGroup(const std::vector<Bill>& bills, const std::string& order_id, size_t& at) {
  Group group;
  for (; at < bills.size() && bills[at].order_id == order_id; ++at) {
    if (group.first == nullptr) group.first = &bills[at];
    ++group.copies;
  }
  return group;
}

}  // namespace

std::string_view KindName(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kMissingOurs:
      return "MISSING_OURS";
    case DifferenceKind::kMissingChannel:
      return "MISSING_CHANNEL";
    case DifferenceKind::kAmountDiffers:
      return "AMOUNT_DIFFERS";
    case DifferenceKind::kDuplicateOurs:
      return "DUPLICATE_OURS";
    case DifferenceKind::kDuplicateChannel:
      return "DUPLICATE_CHANNEL";
  }
  return "";
}

Matcher::Matcher(std::vector<Bill> ours, std::vector<Bill> channel)
    : ours_(std::move(ours)), channel_(std::move(channel)) {
  Sort(ours_);
  Sort(channel_);
}

void Matcher::SkipThrough(std::string_view order_id) {
  while (ours_at_ < ours_.size() && ours_[ours_at_].order_id <= order_id) ++ours_at_;
  while (channel_at_ < channel_.size() && channel_[channel_at_].order_id <= order_id) {
    ++channel_at_;
  }
}

bool Matcher::done() const { return ours_at_ == ours_.size() && channel_at_ == channel_.size(); }

int Matcher::percent() const {
  const size_t all = ours_.size() + channel_.size();
  return all == 0 ? 100 : static_cast<int>((ours_at_ + channel_at_) * 100 / all);
}

const std::string& Matcher::NextOrder() const {
  if (ours_at_ == ours_.size()) return channel_[channel_at_].order_id;
  if (channel_at_ == channel_.size()) return ours_[ours_at_].order_id;
  return std::min(ours_[ours_at_].order_id, channel_[channel_at_].order_id);
}

Matcher::Chunk Matcher::Next(size_t max_orders) {
  Chunk chunk;
  while (chunk.orders < std::max<size_t>(max_orders, 1) && !done()) {
    chunk.last_order_id = NextOrder();
    MatchOrder(chunk.last_order_id, chunk.differences);
    ++chunk.orders;
  }
  return chunk;
}

void Matcher::MatchOrder(const std::string& order_id, std::vector<Difference>& out) {
  const Group ours = TakeGroup(ours_, order_id, ours_at_);
  const Group channel = TakeGroup(channel_, order_id, channel_at_);
  Difference difference;
  difference.order_id = order_id;
  if (ours.first != nullptr) difference.ours_cents = ours.first->cents;
  if (channel.first != nullptr) difference.channel_cents = channel.first->cents;
  const auto add = [&](DifferenceKind kind, int copies) {
    difference.kind = kind;
    difference.copies = copies;
    out.push_back(difference);
  };
  if (ours.first == nullptr) add(DifferenceKind::kMissingOurs, 1);
  if (channel.first == nullptr) add(DifferenceKind::kMissingChannel, 1);
  if (ours.first != nullptr && channel.first != nullptr &&
      ours.first->cents != channel.first->cents) {
    add(DifferenceKind::kAmountDiffers, 1);
  }
  if (ours.copies > 1) add(DifferenceKind::kDuplicateOurs, ours.copies);
  if (channel.copies > 1) add(DifferenceKind::kDuplicateChannel, channel.copies);
}

}  // namespace tidemark::recon
