#include "scheduler/alerts/channel_worker.h"

#include <utility>

#include "common/status.h"
#include "scheduler/alerts/alert_rules.h"
#include "scheduler/alerts/delivery_policy.h"

namespace tidemark {
namespace {

// Beyond the channel's timeout: for the reporting, and for clocks that differ a little.
constexpr absl::Duration kLeaseSlack = absl::Seconds(30);
constexpr absl::Duration kDatabasePause = absl::Seconds(1);

}  // namespace

ChannelWorker::ChannelWorker(Options options, std::unique_ptr<AlertChannel> channel,
                             std::unique_ptr<AlertDeliveries> deliveries, Clock& clock,
                             Random& random)
    : options_(std::move(options)),
      channel_(std::move(channel)),
      deliveries_(std::move(deliveries)),
      clock_(clock),
      random_(random),
      database_log_("reading what waits for alert channel " + options_.name),
      channel_log_("alert channel " + options_.name),
      thread_([this] { return RunOnce(); }) {}

void ChannelWorker::Stop() {
  channel_->Abort();
  deliveries_->Close();
  thread_.Stop();
}

absl::StatusOr<ClaimedMessage> ChannelWorker::Claim() {
  ClaimRequest request;
  request.channel = options_.name;
  request.node = options_.node;
  request.message_id = NewUuid(clock_.WallNow(), random_);
  request.lease = options_.timeout + kLeaseSlack;
  request.most_messages = options_.most_messages;
  request.window = options_.window;
  return deliveries_->Claim(request);
}

absl::StatusOr<ChannelWorker::Report> ChannelWorker::Send(const ClaimedMessage& claimed) {
  const absl::StatusOr<std::string> answer = channel_->Send(claimed.message);
  if (absl::IsCancelled(answer.status())) return answer.status();
  channel_log_.Report(answer.status());
  Report report{claimed.message, std::nullopt};
  if (answer.ok()) return report;
  DeliveryFailure failure;
  failure.error = Message(answer.status());
  failure.item_delay = RetryDelay(claimed.message.items.front().tries, random_.Uniform());
  failure.channel_delay = RetryDelay(claimed.channel.failures + 1, random_.Uniform());
  failure.give_up_after = options_.give_up_after;
  if (IsFailing(claimed.channel, claimed.now)) {
    failure.tell = ChannelFailing(options_.name, claimed.channel, failure.error);
    failure.tell->alert_id = NewUuid(clock_.WallNow(), random_);
  }
  report.failure = std::move(failure);
  return report;
}

absl::Status ChannelWorker::SendReport() {
  const absl::Status status =
      report_->failure.has_value()
          ? deliveries_->ReportFailed(options_.name, report_->message, *report_->failure)
          : deliveries_->ReportDelivered(options_.name, report_->message,
                                         FailingKey(options_.name));
  if (status.ok()) report_.reset();
  return status;
}

// A database that is away, or not migrated yet, is what the store tells of.
absl::Duration ChannelWorker::Told(const absl::Status& status) {
  if (!absl::IsUnavailable(status) && !absl::IsFailedPrecondition(status)) {
    database_log_.Report(status);
  }
  return kDatabasePause;
}

absl::Duration ChannelWorker::RunOnce() {
  if (report_.has_value()) {
    if (const absl::Status status = SendReport(); !status.ok()) return Told(status);
  }
  const absl::StatusOr<ClaimedMessage> claimed = Claim();
  if (!claimed.ok()) return Told(claimed.status());
  database_log_.Report(absl::OkStatus());
  if (claimed->message.empty()) return claimed->wait;
  absl::StatusOr<Report> report = Send(*claimed);
  if (!report.ok()) return TurnThread::kPoll;
  report_ = *std::move(report);
  if (const absl::Status status = SendReport(); !status.ok()) return Told(status);
  return absl::ZeroDuration();
}

}  // namespace tidemark
