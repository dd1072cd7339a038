// Cron expressions from arbitrary bytes: parsing never crashes, and what is accepted evaluates
// within its bounds and in order.
//
// Input: one byte of dialect and zone, five bytes of start (seconds since 1900), the expression.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "scheduler/core/time/cron.h"
#include "scheduler/core/time/cron_explain.h"
#include "scheduler/core/time/zone.h"

namespace {

using tidemark::Cron;
using tidemark::Dialect;
using tidemark::Fire;

void Check(bool holds, std::string_view what, std::string_view expression) {
  if (holds) return;
  std::cerr << what << ": " << expression << std::endl;
  std::abort();
}

absl::TimeZone ZoneOf(int index) {
  constexpr std::string_view kNames[] = {"UTC",           "America/New_York",   "Pacific/Apia",
                                         "Africa/Cairo",  "Africa/Casablanca",  "Antarctica/Troll",
                                         "Asia/Shanghai", "Australia/Lord_Howe"};
  return tidemark::LoadZone(kNames[index % 8]).value();
}

void Walk(const Cron& cron, absl::Time after, const absl::TimeZone& zone, Cron::Rule rule,
          std::string_view expression) {
  const bool fixed = rule == Cron::Rule::kFixed || !cron.IsWildcard();
  for (int i = 0; i < 4; ++i) {
    int steps = 0;
    const std::optional<Fire> fire = cron.Next(after, zone, rule, &steps);
    Check(steps < Cron::kMaxSteps - 1, "too many steps", expression);
    if (!fire) return;
    Check(fire->instant > after, "not after", expression);
    Check(cron.Matches(fire->nominal), "nominal does not match", expression);
    const absl::CivilSecond local = absl::ToCivilSecond(fire->instant, zone);
    Check(fixed ? local >= fire->nominal : local == fire->nominal, "another local time",
          expression);
    after = fire->instant;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 6) return 0;
  int64_t seconds = 0;
  for (int i = 1; i < 6; ++i) seconds = seconds << 8 | data[i];
  const absl::Time after = absl::FromUnixSeconds(seconds % 15'000'000'000 - 2'208'988'800);
  const std::string_view expression(reinterpret_cast<const char*>(data) + 6, size - 6);
  const absl::StatusOr<Cron> cron = Cron::Parse(expression, static_cast<Dialect>(data[0] & 3));
  if (!cron.ok()) {
    Check(!cron.status().message().empty(), "no reason", expression);
    return 0;
  }
  const absl::TimeZone zone = ZoneOf(data[0] >> 2);
  Walk(*cron, after, zone, Cron::Rule::kAsWritten, expression);
  Walk(*cron, after, zone, Cron::Rule::kFixed, expression);
  Check(cron->TimesPerDay() > 0, "no time of day", expression);
  Check(!tidemark::CronInWords(*cron).empty(), "no words", expression);
  tidemark::CronWarnings(*cron, Dialect::kAuto, zone, after);
  return 0;
}
