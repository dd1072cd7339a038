#include "scheduler/alerts/log_channel.h"

#include <string>
#include <utility>
#include <vector>

#include "common/log.h"

namespace tidemark {
namespace {

constexpr int kBatch = 100;

}  // namespace

void LogChannel::WriteLine(const OutboxAlert& alert) {
  const LogLevel level = alert.severity == "critical"  ? LogLevel::kError
                         : alert.severity == "warning" ? LogLevel::kWarn
                                                       : LogLevel::kInfo;
  std::vector<std::pair<std::string, std::string>> fields = {{"kind", alert.kind},
                                                             {"summary", alert.summary}};
  if (!alert.job_name.empty()) fields.emplace_back("job", alert.job_name);
  if (!alert.biz_date.empty()) fields.emplace_back("biz_date", alert.biz_date);
  if (!alert.run_id.empty()) fields.emplace_back("run_id", alert.run_id);
  fields.emplace_back("raised_at", alert.raised_at);
  fields.emplace_back("detail", alert.detail);
  Log(level, "ALERT", fields);
}

LogChannel::LogChannel(std::unique_ptr<AlertSource> outbox,
                       std::function<void(const OutboxAlert&)> write)
    : outbox_(std::move(outbox)),
      write_(std::move(write)),
      state_log_("reading the alert outbox") {}

LogChannel::~LogChannel() { Stop(); }

void LogChannel::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void LogChannel::Stop() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
  }
  wake_.Notify();
  outbox_->Close();
  if (thread_.joinable()) thread_.join();
}

bool LogChannel::Stopping() {
  const MutexLock lock(&mutex_);
  return stopping_;
}

void LogChannel::Loop() {
  while (!Stopping()) {
    if (!LogSome()) wake_.Wait(kPoll);
  }
}

bool LogChannel::LogSome() {
  const absl::StatusOr<int> logged = outbox_->LogSome(kBatch, write_);
  // A database that is away, or not migrated yet, is what the store tells of.
  const absl::StatusCode code = logged.status().code();
  if (code != absl::StatusCode::kUnavailable && code != absl::StatusCode::kFailedPrecondition) {
    state_log_.Report(logged.status());
  }
  return logged.ok() && *logged == kBatch;
}

}  // namespace tidemark
