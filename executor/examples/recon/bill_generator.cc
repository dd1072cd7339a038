#include "executor/examples/recon/bill_generator.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "common/id.h"
#include "common/time_text.h"

namespace tidemark::recon {
namespace {

// Of each thousand orders this many get the difference.
constexpr int kPerMille = 6;
constexpr int kLeastOfAKind = 3;

uint64_t Seed(absl::CivilDay biz_date) {
  return static_cast<uint64_t>(biz_date - absl::CivilDay(1970, 1, 1)) * 2654435761U + 17;
}

int Below(Random& random, int bound) {
  return static_cast<int>(random.Next() % static_cast<uint64_t>(bound));
}

Bill MakeBill(absl::CivilDay biz_date, int number, Random& random) {
  char id[40];
  std::snprintf(id, sizeof id, "P%04d%02d%02d-%06d", static_cast<int>(biz_date.year()),
                biz_date.month(), biz_date.day(), number);
  Bill bill;
  bill.order_id = id;
  bill.cents = 100 + Below(random, 500000);
  bill.paid_at = FormatCivil(absl::CivilSecond(biz_date) + Below(random, 86400));
  return bill;
}

// Puts one order into both sides with the difference `kind`, or without one.
void Plant(const Bill& bill, const DifferenceKind* kind, Random& random, GeneratedBills& out) {
  Bill channel = bill;
  if (kind != nullptr && *kind == DifferenceKind::kAmountDiffers) {
    channel.cents += 1 + Below(random, 5000);
  }
  if (kind == nullptr || *kind != DifferenceKind::kMissingOurs) out.ours.push_back(bill);
  if (kind == nullptr || *kind != DifferenceKind::kMissingChannel) out.channel.push_back(channel);
  if (kind != nullptr && *kind == DifferenceKind::kDuplicateOurs) out.ours.push_back(bill);
  if (kind != nullptr && *kind == DifferenceKind::kDuplicateChannel) {
    out.channel.push_back(channel);
  }
}

void Shuffle(std::vector<Bill>& bills, Random& random) {
  for (size_t i = bills.size(); i > 1; --i) std::swap(bills[i - 1], bills[random.Next() % i]);
}

}  // namespace

GeneratedBills GenerateBills(absl::CivilDay biz_date, int orders) {
  SeededRandom random(Seed(biz_date));
  orders = std::max(orders, 100);
  // Which order gets which difference: the first slots of a shuffled list of all of them.
  std::vector<int> slots(orders);
  for (int i = 0; i < orders; ++i) slots[i] = i;
  for (int i = orders; i > 1; --i) std::swap(slots[i - 1], slots[Below(random, i)]);
  std::map<int, DifferenceKind> kind_of;
  size_t slot = 0;
  GeneratedBills out;
  for (DifferenceKind kind : kAllKinds) {
    const int count = kLeastOfAKind + Below(random, std::max(1, orders * kPerMille / 1000));
    for (int i = 0; i < count; ++i) kind_of[slots[slot++]] = kind;
    out.planted[kind] = count;
  }
  for (int number = 0; number < orders; ++number) {
    const Bill bill = MakeBill(biz_date, number, random);
    const auto kind = kind_of.find(number);
    Plant(bill, kind == kind_of.end() ? nullptr : &kind->second, random, out);
  }
  Shuffle(out.ours, random);
  Shuffle(out.channel, random);
  return out;
}

int DefaultOrders(absl::CivilDay biz_date) {
  SeededRandom random(Seed(biz_date) + 1);
  return 2000 + Below(random, 2000);
}

absl::Status EnsureBills(const std::string& dir, absl::CivilDay biz_date) {
  std::error_code ignored;
  if (std::filesystem::exists(OursPath(dir, biz_date), ignored) &&
      std::filesystem::exists(ChannelPath(dir, biz_date), ignored)) {
    return absl::OkStatus();
  }
  const GeneratedBills bills = GenerateBills(biz_date, DefaultOrders(biz_date));
  return SaveBills(dir, biz_date, bills.ours, bills.channel);
}

}  // namespace tidemark::recon
