#include "tests/bench/hot/bench_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tests/bench/hot/bench_probes.h"

namespace tidemark {
namespace {

std::string Short(double value) {
  char text[64];
  const double size = std::fabs(value);
  const char* form = size >= 100 || value == std::floor(value) ? "%.0f"
                     : size >= 1                               ? "%.2f"
                                                               : "%.4g";
  std::snprintf(text, sizeof text, form, value);
  return text;
}

std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

std::string JsonNumber(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::isfinite(value) ? text : "null";
}

}  // namespace

void BenchReport::Setting(const std::string& name, const std::string& value) {
  settings_.emplace_back(name, value);
}

void BenchReport::Setting(const std::string& name, double value) { Setting(name, Short(value)); }

void BenchReport::Figure(const std::string& name, double value, const std::string& unit) {
  figures_.push_back({name, value, unit});
}

void BenchReport::GoalAtMost(const std::string& name, double value, double bound) {
  goals_.push_back({name, value, bound, false});
}

void BenchReport::GoalAtLeast(const std::string& name, double value, double bound) {
  goals_.push_back({name, value, bound, true});
}

void BenchReport::Print() const {
  std::printf("== %s\n   %s\n  ", scenario_.c_str(), MachineText().c_str());
  for (const auto& [name, value] : settings_) std::printf(" %s=%s", name.c_str(), value.c_str());
  std::printf("\n");
  for (const auto& [name, value, unit] : figures_) {
    std::printf("  %-44s %14s %s\n", name.c_str(), Short(value).c_str(), unit.c_str());
  }
  for (const Goal& goal : goals_) {
    std::printf("  goal: %-38s %14s %s %s  %s\n", goal.name.c_str(), Short(goal.value).c_str(),
                goal.at_least ? ">=" : "<=", Short(goal.bound).c_str(),
                goal.holds() ? "holds" : "DOES NOT HOLD");
  }
  for (const std::string& note : notes_) std::printf("  %s\n", note.c_str());
  std::fflush(stdout);
}

std::string BenchReport::Json() const {
  std::string out = "{\"scenario\": " + Quoted(scenario_) +
                    ", \"machine\": " + Quoted(MachineText()) + ",\n \"settings\": {";
  for (size_t i = 0; i < settings_.size(); ++i) {
    out += (i == 0 ? "" : ", ") + Quoted(settings_[i].first) + ": " + Quoted(settings_[i].second);
  }
  out += "},\n \"figures\": {";
  for (size_t i = 0; i < figures_.size(); ++i) {
    out += (i == 0 ? "" : ", ") + Quoted(figures_[i].name) + ": " + JsonNumber(figures_[i].value);
  }
  out += "},\n \"goals\": [";
  for (size_t i = 0; i < goals_.size(); ++i) {
    const Goal& goal = goals_[i];
    out += (i == 0 ? "" : ", ") + std::string("{\"name\": ") + Quoted(goal.name) +
           ", \"value\": " + JsonNumber(goal.value) + ", \"bound\": " + JsonNumber(goal.bound) +
           ", \"at_least\": " + (goal.at_least ? "true" : "false") +
           ", \"holds\": " + (goal.holds() ? "true" : "false") + "}";
  }
  return out + "]}";
}

double Percentile(std::vector<double> samples, double share) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const auto at = static_cast<size_t>(std::ceil(share * static_cast<double>(samples.size())));
  return samples[std::min(samples.size(), std::max<size_t>(at, 1)) - 1];
}

}  // namespace tidemark
