// Which scheduler nodes to dial, and when.
#ifndef TIDEMARK_EXECUTOR_SRC_DIALER_H_
#define TIDEMARK_EXECUTOR_SRC_DIALER_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/id.h"
#include "executor/src/core_types.h"

namespace tidemark::exec {

// Keeps one stream to every known address: those of the configuration for ever, those learned from
// a scheduler while they are named. Backs off from 0.2 to 5 s with jitter. Pure but for the
// randomness that it is handed; one thread.
class Dialer {
 public:
  Dialer(const std::vector<std::string>& configured, Random& random);

  // Addresses to dial now, each with the id of its new link.
  std::vector<std::pair<LinkId, std::string>> Due(absl::Duration now);
  absl::Duration NextWake() const;

  void OnWelcomed(LinkId link);
  // True when this is news: the address was up, was never tried, or fails for another reason.
  bool OnClosed(LinkId link, const std::string& reason, absl::Duration now);
  // Do not dial the link's address while `by` is open, which reaches the same node.
  void Park(LinkId link, LinkId by);
  void SetNodes(const std::vector<std::string>& addresses, absl::Duration now);
  // The address of an open link, or "".
  std::string AddressOf(LinkId link) const;

 private:
  struct Target {
    bool configured = false;
    bool named = false;  // by the last Welcome
    std::optional<LinkId> link;
    std::optional<LinkId> parked_by;
    bool up = false;  // welcomed on this link
    absl::Duration next_dial = -absl::InfiniteDuration();
    absl::Duration backoff = absl::ZeroDuration();
    std::optional<std::string> last_reason;  // since it was last up
  };
  using Targets = std::map<std::string, Target>;

  Targets::iterator Find(LinkId link);
  void DropForgotten();

  Random& random_;
  Targets targets_;
  LinkId next_link_ = 1;
};

}  // namespace tidemark::exec

#endif  // TIDEMARK_EXECUTOR_SRC_DIALER_H_
