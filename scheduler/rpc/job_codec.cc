#include "scheduler/rpc/job_codec.h"

#include <map>
#include <utility>

#include "common/status.h"
#include "common/text.h"
#include "common/time_text.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/type_resolver.h"
#include "google/protobuf/util/type_resolver_util.h"
#include "scheduler/core/time/cron_explain.h"
#include "scheduler/rpc/job_words.h"
#include "scheduler/rpc/proto_time.h"

namespace tidemark {
namespace {

void WriteSchedule(const ScheduleSpec& in, v1::ScheduleSpec* out) {
  switch (in.kind) {
    case ScheduleSpec::Kind::kCron:
      out->set_cron(in.cron);
      out->set_dialect(WordOf(kDialectWords, in.dialect));
      break;
    case ScheduleSpec::Kind::kEvery:
      *out->mutable_every() = ToProto(in.every);
      if (in.anchor != absl::UnixEpoch()) *out->mutable_anchor() = ToProto(in.anchor);
      break;
    case ScheduleSpec::Kind::kAt:
      *out->mutable_at() = ToProto(in.at);
      break;
    case ScheduleSpec::Kind::kManual:
      out->set_manual(true);
      break;
  }
  if (in.kind == ScheduleSpec::Kind::kCron || in.zone != "UTC") out->set_zone(in.zone);
  if (in.start_at.has_value()) *out->mutable_start_at() = ToProto(*in.start_at);
  if (in.end_at.has_value()) *out->mutable_end_at() = ToProto(*in.end_at);
  out->set_tracking(WordOf(kTrackingWords, in.tracking));
}

void WriteDates(const JobSpec& in, v1::JobSpec* out) {
  if (in.start_date.has_value()) out->set_start_date(FormatDate(*in.start_date));
  if (in.schedule.biz_offset != ScheduleSpec().biz_offset) {
    out->mutable_biz_date()->set_offset(in.schedule.biz_offset);
  }
  if (in.schedule.biz_unit != ScheduleSpec::Unit::kDay) {
    out->mutable_biz_date()->set_unit(WordOf(kUnitWords, in.schedule.biz_unit));
  }
  out->set_calendar(in.schedule.calendar);
  if (in.expected_by.has_value()) {
    // The text of the civil time that lies so long after midnight.
    const absl::CivilSecond time =
        absl::CivilSecond(2000, 1, 1) + absl::ToInt64Seconds(*in.expected_by);
    out->set_expected_by(FormatCivil(time).substr(11, 5));
  }
}

void WriteCatchUpAndMisfire(const JobSpec& in, v1::JobSpec* out) {
  const CatchUpPolicy catch_up;
  if (in.catch_up.order != catch_up.order) {
    out->mutable_catch_up()->set_order(WordOf(kOrderWords, in.catch_up.order));
  }
  if (in.catch_up.max_backfill_days != catch_up.max_backfill_days) {
    out->mutable_catch_up()->set_max_backfill_days(in.catch_up.max_backfill_days);
  }
  if (in.catch_up.source_retention_days != 0) {
    out->mutable_catch_up()->set_source_retention_days(in.catch_up.source_retention_days);
  }
  if (in.catch_up.parallelism != catch_up.parallelism) {
    out->mutable_catch_up()->set_parallelism(in.catch_up.parallelism);
  }
  const MisfireRule misfire;
  if (in.misfire.policy != misfire.policy) {
    out->mutable_misfire()->set_policy(WordOf(kMisfireWords, in.misfire.policy));
  }
  if (in.misfire.window != misfire.window) {
    *out->mutable_misfire()->mutable_window() = ToProto(in.misfire.window);
  }
  if (in.misfire.cap != misfire.cap) out->mutable_misfire()->set_cap(in.misfire.cap);
}

void WriteBlockingAndRouting(const JobSpec& in, v1::JobSpec* out) {
  const BlockingRule blocking;
  if (in.blocking.policy != blocking.policy) {
    out->mutable_blocking()->set_policy(WordOf(kBlockingWords, in.blocking.policy));
  }
  if (in.blocking.queue != blocking.queue) out->mutable_blocking()->set_queue(in.blocking.queue);
  if (in.blocking.policy == BlockingPolicy::kConcurrent) {
    out->mutable_blocking()->set_concurrent(in.blocking.concurrent);
  }
  if (in.routing.strategy != RoutingRule().strategy) {
    out->mutable_routing()->set_strategy(WordOf(kRoutingWords, in.routing.strategy));
  }
  for (const auto& [key, value] : in.routing.labels) {
    (*out->mutable_routing()->mutable_labels())[key] = value;
  }
}

void WriteRetryAndTimeouts(const JobSpec& in, v1::JobSpec* out) {
  const RetryRule retry;
  if (in.retry.max_attempts != retry.max_attempts) {
    out->mutable_retry()->set_max_attempts(in.retry.max_attempts);
  }
  if (in.retry.backoff != retry.backoff) {
    for (const absl::Duration step : in.retry.backoff) {
      *out->mutable_retry()->add_backoff() = ToProto(step);
    }
  }
  if (in.retry.jitter != retry.jitter) out->mutable_retry()->set_jitter(in.retry.jitter);
  const Timeouts normal;
  const auto write = [&](absl::Duration value, absl::Duration usual,
                         google::protobuf::Duration* (v1::TimeoutSpec::*field)()) {
    if (value != usual) *(out->mutable_timeouts()->*field)() = ToProto(value);
  };
  write(in.timeouts.start, normal.start, &v1::TimeoutSpec::mutable_start);
  write(in.timeouts.run, normal.run, &v1::TimeoutSpec::mutable_run);
  write(in.timeouts.lost_after, normal.lost_after, &v1::TimeoutSpec::mutable_lost_after);
  write(in.timeouts.reap_after, normal.reap_after, &v1::TimeoutSpec::mutable_reap_after);
  write(in.timeouts.long_running, normal.long_running, &v1::TimeoutSpec::mutable_long_running);
  write(in.timeouts.cancel_grace, normal.cancel_grace, &v1::TimeoutSpec::mutable_cancel_grace);
  if (in.on_lost == OnLost::kRetry) out->set_on_lost(v1::RETRY);
  if (in.on_lost == OnLost::kWait) out->set_on_lost(v1::WAIT);
}

google::protobuf::util::TypeResolver& Resolver() {
  static auto* resolver = google::protobuf::util::NewTypeResolverForDescriptorPool(
      "type.googleapis.com", google::protobuf::DescriptorPool::generated_pool());
  return *resolver;
}

}  // namespace

v1::JobSpec JobSpecToProto(const JobSpec& spec) {
  v1::JobSpec out;
  out.set_name(spec.name);
  out.set_app(spec.app);
  out.set_handler(spec.handler);
  WriteSchedule(spec.schedule, out.mutable_schedule());
  WriteDates(spec, &out);
  WriteCatchUpAndMisfire(spec, &out);
  WriteBlockingAndRouting(spec, &out);
  WriteRetryAndTimeouts(spec, &out);
  for (const Dependency& d : spec.after) {
    v1::Dependency* after = out.add_after();
    after->set_job(d.job);
    after->set_offset(d.offset);
  }
  if (spec.ns != JobSpec().ns) out.set_namespace_(spec.ns);
  out.set_owner(spec.owner);
  out.set_description(spec.description);
  if (!spec.enabled) out.set_enabled(false);
  for (const auto& [key, value] : spec.params) (*out.mutable_params())[key] = value;
  return out;
}

absl::StatusOr<std::shared_ptr<const Schedule>> CompileJob(
    const JobSpec& spec, std::shared_ptr<const Calendar> calendar) {
  absl::StatusOr<Schedule> schedule = Schedule::Compile(spec.schedule, std::move(calendar));
  if (!schedule.ok()) return Annotate(schedule.status(), "schedule");
  TM_RETURN_IF_ERROR(CheckPolicies(spec, schedule->dated()));
  return std::make_shared<const Schedule>(*std::move(schedule));
}

std::string EncodeJobSpec(const JobSpec& spec) {
  // Map entries have no order of their own; a deterministic binary form gives them one, and the
  // printer keeps it.
  std::string binary;
  {
    google::protobuf::io::StringOutputStream stream(&binary);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    JobSpecToProto(spec).SerializeToCodedStream(&coded);
  }
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  // Cannot fail for a message of our own pool.
  (void)google::protobuf::util::BinaryToJsonString(
      &Resolver(), "type.googleapis.com/tidemark.v1.JobSpec", binary, &json, options);
  return json;
}

absl::StatusOr<JobSpec> DecodeJobSpec(std::string_view json) {
  v1::JobSpec message;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), &message);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        ToAbsl("the stored definition is not readable: " + status.message().ToString()));
  }
  return JobSpecFromProto(message);
}

std::string EncodeParams(const std::map<std::string, std::string>& params) {
  if (params.empty()) return "";
  google::protobuf::Struct object;
  for (const auto& [key, value] : params) (*object.mutable_fields())[key].set_string_value(value);
  std::string json;
  (void)google::protobuf::util::MessageToJsonString(object, &json);
  return json;
}

absl::StatusOr<std::map<std::string, std::string>> DecodeParams(std::string_view json) {
  std::map<std::string, std::string> params;
  if (json.empty()) return params;
  google::protobuf::Struct object;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), &object);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        ToAbsl("the stored parameters are not readable: " + status.message().ToString()));
  }
  for (const auto& [key, value] : object.fields()) {
    if (!value.has_string_value()) {
      return absl::InvalidArgumentError(ToAbsl("the stored parameter '" + key + "' is no text"));
    }
    params[key] = value.string_value();
  }
  return params;
}

std::vector<std::string> JobWarnings(const JobSpec& spec, const Schedule& schedule,
                                     absl::Time now) {
  std::vector<std::string> warnings;
  if (spec.schedule.kind == ScheduleSpec::Kind::kCron) {
    warnings = CronWarnings(schedule.cron(), spec.schedule.dialect, schedule.zone(), now);
  } else if (spec.schedule.kind != ScheduleSpec::Kind::kManual && !schedule.Next(now).has_value()) {
    warnings.push_back("schedule: nothing is left to fire after now.");
  }
  const Calendar* calendar = schedule.calendar().get();
  if (calendar != nullptr && calendar->mode() == Calendar::Mode::kInclude) {
    const absl::CivilDay last = calendar->dates().back();
    const int64_t days = last - absl::ToCivilDay(now, schedule.zone());
    if (days < 366) {
      warnings.push_back(
          "calendar: '" + calendar->name() + "' ends on " + FormatDate(last) +
          (days < 0 ? ", which has passed" : ", in " + std::to_string(days) + " days") +
          "; beyond it nothing is due: import its next dates in time (tidemark "
          "calendar import).");
    }
  }
  const MisfireRule normal;
  if (schedule.dated() &&
      (spec.misfire.policy != normal.policy || spec.misfire.window != normal.window ||
       spec.misfire.cap != normal.cap)) {
    warnings.push_back(
        "misfire: has no effect on a job that is tracked by date: its missed dates are caught up "
        "as catch_up says.");
  }
  if (spec.timeouts.lost_after - spec.timeouts.cancel_grace < absl::Seconds(20)) {
    warnings.push_back(
        "timeouts.lost_after: less than 20 s longer than cancel_grace: a few lost heartbeats "
        "cancel the run.");
  }
  if (spec.retry.backoff.size() >= static_cast<size_t>(spec.retry.max_attempts) &&
      spec.retry.backoff != RetryRule().backoff) {
    warnings.push_back("retry.backoff: has more steps than retry.max_attempts can use.");
  }
  if (!spec.enabled) warnings.push_back("enabled: false: this job does not fire.");
  return warnings;
}

}  // namespace tidemark
