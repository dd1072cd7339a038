#include "scheduler/alerts/alert_service.h"

#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "scheduler/alerts/alert_rules.h"

namespace tidemark {
namespace {

constexpr int kBatch = 100;
constexpr absl::Duration kBuryEvery = absl::Minutes(10);
constexpr absl::Duration kDatabasePause = absl::Seconds(1);

AlertMessage TestMessage(const std::string& channel, absl::Time now, Random& random) {
  AlertItem item;
  item.alert.alert_id = NewUuid(now, random);
  item.alert.kind = "test";
  item.alert.severity = "info";
  item.alert.ns = "default";
  item.alert.summary = "Channel " + channel + " works: this is what an operator asked for.";
  item.alert.detail = "Nothing has to be done.";
  item.alert.raised_at = now;
  // Over at once: what keeps alerts must not keep this one.
  item.alert.resolved_at = now;
  AlertMessage message;
  message.message_id = item.alert.alert_id;
  message.items.push_back(std::move(item));
  return message;
}

}  // namespace

AlertService::AlertService(AlertsConfig config, Stores stores, Clock& clock, Random& random)
    : config_(std::move(config)),
      stores_(std::move(stores)),
      clock_(clock),
      random_(random),
      routing_log_("routing alerts"),
      router_([this] { return Route(); }) {
  for (const ChannelConfig& channel : config_.channels) {
    testers_.push_back(MakeAlertChannel(channel, clock));
  }
}

AlertService::~AlertService() { Stop(); }

void AlertService::Start(const std::string& node) {
  if (config_.channels.empty()) return;
  node_ = node;
  routing_ = stores_.routing();
  for (const ChannelConfig& channel : config_.channels) {
    ChannelWorker::Options options;
    options.name = channel.name;
    options.node = node;
    options.timeout = channel.timeout;
    options.most_messages = config_.most_messages;
    options.window = config_.window;
    options.give_up_after = config_.give_up_after;
    workers_.push_back(std::make_unique<ChannelWorker>(options, MakeAlertChannel(channel, clock_),
                                                       stores_.deliveries(), clock_, random_));
  }
  router_.Start();
  for (const auto& worker : workers_) worker->Start();
}

void AlertService::Poke() { router_.Poke(); }

void AlertService::Abort() {
  for (const auto& tester : testers_) tester->Abort();
  for (const auto& worker : workers_) worker->channel().Abort();
}

void AlertService::Stop() {
  Abort();
  if (routing_ != nullptr) routing_->Close();
  router_.Stop();
  for (const auto& worker : workers_) worker->Stop();
}

std::vector<std::string> AlertService::Names() const {
  std::vector<std::string> names;
  names.reserve(config_.channels.size());
  for (const ChannelConfig& channel : config_.channels) names.push_back(channel.name);
  return names;
}

absl::Duration AlertService::Route() {
  const auto work = [this]() -> absl::StatusOr<int> {
    if (!recovered_) TM_RETURN_IF_ERROR(routing_->Recover(node_, Names()));
    recovered_ = true;
    if (!buried_.has_value() || clock_.Monotonic() - *buried_ > kBuryEvery) {
      TM_RETURN_IF_ERROR(routing_->BuryUnknown(Names(), config_.give_up_after));
      buried_ = clock_.Monotonic();
    }
    return routing_->RouteSome(
        kBatch, [this](const AlertFact& alert, const std::vector<AlertSilence>& silences,
                       absl::Time now, bool) { return JudgeAlert(config_, alert, silences, now); });
  };
  const absl::StatusOr<int> routed = work();
  if (!routed.ok()) {
    const absl::Status& status = routed.status();
    // A database that is away, or not migrated yet, is what the store tells of.
    if (!absl::IsUnavailable(status) && !absl::IsFailedPrecondition(status)) {
      routing_log_.Report(status);
    }
    return kDatabasePause;
  }
  routing_log_.Report(absl::OkStatus());
  if (*routed == 0) return TurnThread::kPoll;
  for (const auto& worker : workers_) worker->Poke();
  return absl::ZeroDuration();
}

std::vector<AlertChannels::Channel> AlertService::Channels() const {
  std::vector<Channel> channels;
  channels.reserve(config_.channels.size());
  for (const ChannelConfig& channel : config_.channels) {
    channels.push_back({channel.name, ChannelTypeName(channel.type)});
  }
  return channels;
}

absl::StatusOr<std::string> AlertService::SendTest(const std::string& channel) {
  const std::vector<std::string> names = Names();
  size_t index = 0;
  while (index < names.size() && names[index] != channel) ++index;
  if (index == names.size()) {
    const std::string meant = Nearest(channel, names);
    std::string mend =
        "channels are configured in the scheduler's --config file, below "
        "alerts.channels (README, Alert channels)";
    if (!names.empty()) mend = "there are " + Join(names, ", ");
    if (!meant.empty()) mend = "did you mean " + meant + "?";
    return absl::NotFoundError(
        ToAbsl("there is no alert channel '" + EscapeControl(channel) + "'; " + mend));
  }
  {
    const MutexLock lock(&mutex_);
    if (!testing_.insert(channel).second) {
      return absl::ResourceExhaustedError(
          ToAbsl("another test of channel " + channel + " is under way; try again"));
    }
  }
  absl::StatusOr<std::string> answer =
      testers_[index]->Send(TestMessage(channel, clock_.WallNow(), random_));
  const MutexLock lock(&mutex_);
  testing_.erase(channel);
  return answer;
}

}  // namespace tidemark
