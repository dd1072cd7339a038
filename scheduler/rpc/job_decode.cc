// The JobSpec message into the core's: bounds and defaults, every problem named by its field.
#include <string>
#include <utility>
#include <vector>

#include "common/text.h"
#include "common/time_text.h"
#include "scheduler/rpc/job_codec.h"
#include "scheduler/rpc/job_words.h"
#include "scheduler/rpc/proto_time.h"

namespace tidemark {
namespace {

constexpr size_t kMaxParamBytes = size_t{64} * 1024;
constexpr int kMaxListed = 32;
constexpr absl::Duration kYear = absl::Hours(24 * 366);

// Reads one message. Use once, one thread.
class SpecReader {
 public:
  explicit SpecReader(const v1::JobSpec& in) : in_(in) {}

  absl::StatusOr<JobSpec> Read() {
    ReadNames();
    ReadSchedule(in_.schedule());
    ReadDates();
    ReadCatchUp();
    ReadMisfire();
    ReadBlockingAndRouting();
    ReadRetry();
    ReadTimeouts(in_.timeouts());
    ReadAfter();
    ReadParams();
    if (problems_.empty()) return std::move(out_);
    return absl::InvalidArgumentError(ToAbsl(Join(problems_, "; ")));
  }

 private:
  void Problem(const std::string& field, const std::string& text) {
    problems_.push_back(field + ": " + text);
  }

  std::string TakeName(const std::string& field, const std::string& value) {
    if (const std::string problem = NameProblem(value); !problem.empty()) {
      Problem(field, problem == "is empty" ? "is required" : problem);
    }
    return value;
  }

  std::string TakeText(const std::string& field, const std::string& value, size_t limit) {
    if (value.size() > limit) {
      Problem(field, "has " + std::to_string(value.size()) + " bytes, at most " +
                         std::to_string(limit) + " are allowed");
    } else if (!IsCleanUtf8(value)) {
      Problem(field, "is not valid UTF-8 text, or has a NUL");
    }
    return value;
  }

  int TakeNumber(const std::string& field, int64_t value, int64_t low, int64_t high) {
    if (value < low || value > high) {
      Problem(field, std::to_string(value) + " is not within " + std::to_string(low) + " to " +
                         std::to_string(high));
      return static_cast<int>(low);
    }
    return static_cast<int>(value);
  }

  template <typename Enum, size_t n>
  Enum TakeWord(const std::string& field, const std::string& text, const Word<Enum> (&words)[n]) {
    const std::optional<Enum> value = FindWord(words, text);
    if (value.has_value()) return *value;
    const std::vector<std::string> all = AllWords(words);
    const std::string near = Nearest(text, all);
    Problem(field, "'" + EscapeControl(text) + "' is none of " + Join(all, ", ") +
                       (near.empty() ? "" : "; did you mean '" + near + "'?"));
    return words[0].value;
  }

  absl::Duration TakeDuration(const std::string& field, const google::protobuf::Duration& message,
                              absl::Duration low, absl::Duration high) {
    // Looked at as numbers first: the sum of wild ones is no honest duration.
    const bool form = message.nanos() >= 0 && message.nanos() < 1000000000;
    const absl::Duration value = FromProto(message);
    if (!form || value < low || value > high) {
      Problem(field, (form && value >= absl::ZeroDuration() ? DurationText(value)
                                                            : "a negative or broken duration") +
                         " is not within " + DurationText(low) + " to " + DurationText(high));
      return low;
    }
    return value;
  }

  absl::Time TakeInstant(const std::string& field, const google::protobuf::Timestamp& message) {
    const absl::Time value = FromProto(message);
    if (message.nanos() < 0 || message.nanos() >= 1000000000 || value < absl::UnixEpoch() ||
        value >= absl::FromCivil(absl::CivilDay(2200, 1, 1), absl::UTCTimeZone())) {
      Problem(field, "is not an instant within 1970 to 2199");
    }
    return value;
  }

  void ReadNames();
  void ReadSchedule(const v1::ScheduleSpec& in);
  void ReadKind(const v1::ScheduleSpec& in);
  void ReadDates();
  void ReadCatchUp();
  void ReadMisfire();
  void ReadBlockingAndRouting();
  void ReadRetry();
  void ReadTimeouts(const v1::TimeoutSpec& in);
  void ReadAfter();
  void ReadParams();

  const v1::JobSpec& in_;
  JobSpec out_;
  std::vector<std::string> problems_;
};

void SpecReader::ReadNames() {
  out_.name = TakeName("name", in_.name());
  out_.app = TakeName("app", in_.app());
  out_.handler = TakeName("handler", in_.handler());
  if (!in_.namespace_().empty()) out_.ns = TakeName("namespace", in_.namespace_());
  out_.owner = TakeText("owner", in_.owner(), 256);
  out_.description = TakeText("description", in_.description(), 1024);
  out_.enabled = in_.has_enabled() ? in_.enabled() : true;
}

void SpecReader::ReadSchedule(const v1::ScheduleSpec& in) {
  if (!in_.has_schedule()) {
    Problem("schedule",
            "is required, as {cron: \"0 0 1 * * ?\", zone: Asia/Shanghai}, {every: 15m}, "
            "{at: 2026-12-01T03:00:00+08:00} or {manual: true}");
    return;
  }
  ReadKind(in);
  ScheduleSpec& out = out_.schedule;
  out.zone = in.zone();
  if (in.zone().empty()) {
    if (out.kind == ScheduleSpec::Kind::kCron && !in.cron().empty()) {
      Problem("schedule.zone",
              "is required: the IANA name of the zone that the cron is meant in, "
              "as Asia/Shanghai or UTC");
    }
    out.zone = "UTC";
  }
  if (in.has_start_at()) out.start_at = TakeInstant("schedule.start_at", in.start_at());
  if (in.has_end_at()) out.end_at = TakeInstant("schedule.end_at", in.end_at());
  if (out.start_at.has_value() && out.end_at.has_value() && *out.end_at < *out.start_at) {
    Problem("schedule.end_at", "is before schedule.start_at");
  }
  out.tracking = TakeWord("schedule.tracking", in.tracking(), kTrackingWords);
}

void SpecReader::ReadKind(const v1::ScheduleSpec& in) {
  ScheduleSpec& out = out_.schedule;
  const int kinds = (in.cron().empty() ? 0 : 1) + (in.has_every() ? 1 : 0) + (in.has_at() ? 1 : 0) +
                    (in.manual() ? 1 : 0);
  if (kinds != 1) {
    Problem("schedule", kinds == 0 ? "says no time; give one of cron, every, at, or manual: true"
                                   : "says more than one of cron, every, at, manual; keep one");
  }
  out.dialect = TakeWord("schedule.dialect", in.dialect(), kDialectWords);
  if (out.dialect != Dialect::kAuto && in.cron().empty()) {
    Problem("schedule.dialect", "is for cron only");
  }
  if (in.has_anchor() && !in.has_every()) Problem("schedule.anchor", "is for every only");
  out.cron = TakeText("schedule.cron", in.cron(), 256);
  if (in.manual()) out.kind = ScheduleSpec::Kind::kManual;
  if (in.has_every()) {
    out.kind = ScheduleSpec::Kind::kEvery;
    out.every = TakeDuration("schedule.every", in.every(), absl::Seconds(1), 10 * kYear);
    if (in.every().nanos() != 0) Problem("schedule.every", "must be whole seconds");
    if (in.has_anchor()) out.anchor = TakeInstant("schedule.anchor", in.anchor());
  }
  if (in.has_at()) {
    out.kind = ScheduleSpec::Kind::kAt;
    out.at = TakeInstant("schedule.at", in.at());
    if (in.at().nanos() != 0) Problem("schedule.at", "must be whole seconds");
  }
}

void SpecReader::ReadDates() {
  if (!in_.start_date().empty()) {
    const absl::StatusOr<absl::CivilDay> day = ParseDate(in_.start_date());
    if (day.ok()) {
      out_.start_date = *day;
    } else {
      Problem("start_date", ToStd(day.status().message()));
    }
  }
  if (in_.biz_date().has_offset()) {
    out_.schedule.biz_offset = TakeNumber("biz_date.offset", in_.biz_date().offset(), -366, 366);
  }
  out_.schedule.biz_unit = TakeWord("biz_date.unit", in_.biz_date().unit(), kUnitWords);
  if (!in_.calendar().empty()) out_.schedule.calendar = TakeName("calendar", in_.calendar());
  if (in_.expected_by().empty()) return;
  const absl::StatusOr<absl::CivilSecond> time =
      ParseCivil("2000-01-01T" + in_.expected_by() + ":00");
  if (time.ok() && in_.expected_by().size() == 5) {
    out_.expected_by = absl::Hours(time->hour()) + absl::Minutes(time->minute());
  } else {
    Problem("expected_by", "'" + EscapeControl(in_.expected_by()) +
                               "' is not a time of day (\"HH:MM\", 00:00 to 23:59)");
  }
}

void SpecReader::ReadCatchUp() {
  const v1::CatchUpSpec& in = in_.catch_up();
  out_.catch_up.order = TakeWord("catch_up.order", in.order(), kOrderWords);
  if (in.has_max_backfill_days()) {
    out_.catch_up.max_backfill_days =
        TakeNumber("catch_up.max_backfill_days", in.max_backfill_days(), 1, 3660);
  }
  out_.catch_up.source_retention_days =
      TakeNumber("catch_up.source_retention_days", in.source_retention_days(), 0, 36600);
  if (in.has_parallelism()) {
    out_.catch_up.parallelism = TakeNumber("catch_up.parallelism", in.parallelism(), 1, 100);
  }
}

void SpecReader::ReadMisfire() {
  const v1::MisfireSpec& in = in_.misfire();
  out_.misfire.policy = TakeWord("misfire.policy", in.policy(), kMisfireWords);
  if (in.has_window()) {
    out_.misfire.window = TakeDuration("misfire.window", in.window(), absl::Seconds(1), kYear);
  }
  if (in.has_cap()) out_.misfire.cap = TakeNumber("misfire.cap", in.cap(), 1, 10000);
}

void SpecReader::ReadBlockingAndRouting() {
  const v1::BlockingSpec& blocking = in_.blocking();
  out_.blocking.policy = TakeWord("blocking.policy", blocking.policy(), kBlockingWords);
  if (blocking.has_queue()) {
    out_.blocking.queue = TakeNumber("blocking.queue", blocking.queue(), 1, 10000);
  }
  if (blocking.has_concurrent()) {
    out_.blocking.concurrent = TakeNumber("blocking.concurrent", blocking.concurrent(), 1, 100);
  } else if (out_.blocking.policy == BlockingPolicy::kConcurrent) {
    Problem("blocking.concurrent", "is required with policy 'concurrent': how many at once");
  }
  const v1::RoutingSpec& routing = in_.routing();
  out_.routing.strategy = TakeWord("routing.strategy", routing.strategy(), kRoutingWords);
  if (routing.labels_size() > kMaxListed) Problem("routing.labels", "has more than 32 labels");
  for (const auto& [key, value] : routing.labels()) {
    const std::string field = "routing.labels." + EscapeControl(key);
    TakeName(field, key);
    out_.routing.labels[key] = TakeName(field, value);
  }
}

void SpecReader::ReadRetry() {
  const v1::RetrySpec& in = in_.retry();
  if (in.has_max_attempts()) {
    out_.retry.max_attempts = TakeNumber("retry.max_attempts", in.max_attempts(), 1, 100);
  }
  if (in.backoff_size() > kMaxListed) Problem("retry.backoff", "has more than 32 steps");
  if (in.backoff_size() > 0) out_.retry.backoff.clear();
  for (const google::protobuf::Duration& step : in.backoff()) {
    out_.retry.backoff.push_back(
        TakeDuration("retry.backoff", step, absl::ZeroDuration(), absl::Hours(24 * 30)));
  }
  if (!in.has_jitter()) return;
  out_.retry.jitter = in.jitter();
  if (!(in.jitter() >= 0 && in.jitter() <= 1)) Problem("retry.jitter", "is not within 0 to 1");
}

void SpecReader::ReadTimeouts(const v1::TimeoutSpec& in) {
  const auto take = [&](bool has, const char* name, const google::protobuf::Duration& message,
                        absl::Duration* out) {
    if (has) {
      *out = TakeDuration(std::string("timeouts.") + name, message, absl::Seconds(1), kYear);
    }
  };
  Timeouts& out = out_.timeouts;
  take(in.has_start(), "start", in.start(), &out.start);
  take(in.has_run(), "run", in.run(), &out.run);
  take(in.has_lost_after(), "lost_after", in.lost_after(), &out.lost_after);
  take(in.has_reap_after(), "reap_after", in.reap_after(), &out.reap_after);
  take(in.has_long_running(), "long_running", in.long_running(), &out.long_running);
  take(in.has_cancel_grace(), "cancel_grace", in.cancel_grace(), &out.cancel_grace);
  switch (in_.on_lost()) {
    case v1::ON_LOST_UNSPECIFIED:
      break;
    case v1::RETRY:
      out_.on_lost = OnLost::kRetry;
      break;
    case v1::WAIT:
      out_.on_lost = OnLost::kWait;
      break;
    default:
      Problem("on_lost", "is neither retry nor wait");
  }
}

void SpecReader::ReadAfter() {
  if (in_.after_size() > kMaxListed) Problem("after", "names more than 32 jobs");
  for (const v1::Dependency& in : in_.after()) {
    Dependency out;
    out.job = TakeName("after.job", in.job());
    out.offset = TakeNumber("after.offset", in.offset(), -366, 366);
    out_.after.push_back(std::move(out));
  }
}

void SpecReader::ReadParams() {
  size_t bytes = 0;
  for (const auto& [key, value] : in_.params()) {
    TakeName("params." + EscapeControl(key), key);
    out_.params[key] = TakeText("params." + EscapeControl(key), value, kMaxParamBytes);
    bytes += key.size() + value.size();
  }
  if (bytes > kMaxParamBytes) {
    Problem("params", "have " + std::to_string(bytes) +
                          " bytes together, at most 65536 are "
                          "allowed; hand over a path instead");
  }
}

}  // namespace

absl::StatusOr<JobSpec> JobSpecFromProto(const v1::JobSpec& message) {
  return SpecReader(message).Read();
}

}  // namespace tidemark
