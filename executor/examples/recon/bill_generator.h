// Made-up bills for demonstrations and tests: equal dates give equal bills, everywhere.
#ifndef TIDEMARK_EXECUTOR_EXAMPLES_RECON_BILL_GENERATOR_H_
#define TIDEMARK_EXECUTOR_EXAMPLES_RECON_BILL_GENERATOR_H_

#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/civil_time.h"
#include "executor/examples/recon/bill.h"
#include "executor/examples/recon/matcher.h"

namespace tidemark::recon {

struct GeneratedBills {
  std::vector<Bill> ours;
  std::vector<Bill> channel;
  // How many differences of each kind went in; each kind has at least three.
  std::map<DifferenceKind, int> planted;
};

// `orders` bills before differences (at least 100).
GeneratedBills GenerateBills(absl::CivilDay biz_date, int orders);

// The number of orders of a date when nobody says otherwise: 2,000 to 3,999.
int DefaultOrders(absl::CivilDay biz_date);

// Generates and saves the bills of `biz_date` unless both files are there already.
absl::Status EnsureBills(const std::string& dir, absl::CivilDay biz_date);

}  // namespace tidemark::recon

#endif  // TIDEMARK_EXECUTOR_EXAMPLES_RECON_BILL_GENERATOR_H_
