// The reconciliation itself: two lists of bills in, their differences out. Pure.
#ifndef TIDEMARK_EXECUTOR_EXAMPLES_RECON_MATCHER_H_
#define TIDEMARK_EXECUTOR_EXAMPLES_RECON_MATCHER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/examples/recon/bill.h"

namespace tidemark::recon {

enum class DifferenceKind {
  kMissingOurs,       // the channel has the order, we do not
  kMissingChannel,    // we have it, the channel does not
  kAmountDiffers,     // both have it, with other amounts
  kDuplicateOurs,     // we have it more than once
  kDuplicateChannel,  // the channel has it more than once
};
inline constexpr std::array<DifferenceKind, 5> kAllKinds = {
    DifferenceKind::kMissingOurs, DifferenceKind::kMissingChannel, DifferenceKind::kAmountDiffers,
    DifferenceKind::kDuplicateOurs, DifferenceKind::kDuplicateChannel};

// "MISSING_OURS" …: the form in the tables.
std::string_view KindName(DifferenceKind kind);

struct Difference {
  std::string order_id;
  DifferenceKind kind = DifferenceKind::kMissingOurs;
  std::optional<int64_t> ours_cents;  // absent when we have no such order
  std::optional<int64_t> channel_cents;
  int copies = 1;  // how often the duplicating side has the order; 1 for the other kinds

  bool operator==(const Difference&) const = default;
};

// Walks both sides in the order of their ids (bytewise), some orders at a time. An order's
// differences depend on its own bills alone, so the walk may stop after any order and another
// process may go on from there. Owned by one thread.
class Matcher {
 public:
  Matcher(std::vector<Bill> ours, std::vector<Bill> channel);

  struct Chunk {
    std::vector<Difference> differences;
    std::string last_order_id;  // "" when there was nothing left
    size_t orders = 0;
  };

  // Passes over every order up to and including `order_id`.
  void SkipThrough(std::string_view order_id);
  // The differences of the next `max_orders` distinct orders (at least 1).
  Chunk Next(size_t max_orders);
  bool done() const;
  // Share of the bills that has been passed, 0–100.
  int percent() const;

 private:
  // The smallest order id not passed yet. Not done().
  const std::string& NextOrder() const;
  void MatchOrder(const std::string& order_id, std::vector<Difference>& out);

  std::vector<Bill> ours_;
  std::vector<Bill> channel_;
  size_t ours_at_ = 0;
  size_t channel_at_ = 0;
};

}  // namespace tidemark::recon

#endif  // TIDEMARK_EXECUTOR_EXAMPLES_RECON_MATCHER_H_
