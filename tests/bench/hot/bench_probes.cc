#include "tests/bench/hot/bench_probes.h"

#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/bench/hot/bench_clock.h"
#include "tests/support/process.h"

namespace tidemark {
namespace {

// The fields of /proc/PID/stat behind the name, from "state" (number 3) on.
std::vector<std::string> StatFields(pid_t pid) {
  const std::string text = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  const size_t end = text.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream in(text.substr(end + 1));
  std::vector<std::string> fields;
  for (std::string field; in >> field;) fields.push_back(field);
  return fields;
}

double Ticks(const std::vector<std::string>& fields, size_t number) {
  const size_t index = number - 3;
  return index < fields.size() ? std::atof(fields[index].c_str()) : 0;
}

// The value behind `key` in a file of lines "key : value".
std::string LineValue(const std::string& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t at = line.find_first_not_of(" \t", line.find(':') + 1);
    return at == std::string::npos ? "" : line.substr(at);
  }
  return "";
}

}  // namespace

double CpuSeconds(pid_t pid) {
  const std::vector<std::string> fields = StatFields(pid);
  return (Ticks(fields, 14) + Ticks(fields, 15)) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double PostgresCpuSeconds(pid_t postmaster) {
  const std::vector<std::string> own = StatFields(postmaster);
  double seconds = CpuSeconds(postmaster) +
                   (Ticks(own, 16) + Ticks(own, 17)) / static_cast<double>(sysconf(_SC_CLK_TCK));
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    const std::vector<std::string> fields = StatFields(pid);
    if (fields.size() > 1 && std::atoi(fields[1].c_str()) == postmaster) seconds += CpuSeconds(pid);
  }
  return seconds;
}

int64_t ResidentBytes(pid_t pid) {
  const std::string kb = LineValue("/proc/" + std::to_string(pid) + "/status", "VmRSS");
  return std::atoll(kb.c_str()) * 1024;
}

int64_t FreeDiskBytes(const std::string& folder) {
  struct statvfs fs{};
  if (statvfs(folder.c_str(), &fs) != 0) return 0;
  return static_cast<int64_t>(fs.f_bavail) * static_cast<int64_t>(fs.f_frsize);
}

DatabaseMeter::DatabaseMeter(BenchSql& sql) : sql_(sql) {
  flushes_ = sql_.Double("SELECT wal_sync FROM pg_stat_wal");
  lsn_ = sql_.Text("SELECT pg_current_wal_insert_lsn()");
  sql_.Text("SELECT pg_stat_statements_reset()");
}

DatabaseCost DatabaseMeter::Read(bool with_flushes) {
  const std::string mine =
      " FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = "
      "current_database()) AND query !~ 'pg_stat_|pg_current_wal|bench_poll'";
  DatabaseCost cost;
  cost.wal_bytes = sql_.Double("SELECT pg_current_wal_insert_lsn() - '" + lsn_ + "'::pg_lsn");
  cost.commits =
      sql_.Double("SELECT coalesce(sum(calls), 0)" + mine + " AND query ILIKE 'commit%'");
  cost.statements = sql_.Double("SELECT coalesce(sum(calls), 0)" + mine +
                                " AND query !~* '^(commit|begin|start|rollback|set|show|discard)'");
  cost.flushes = -1;
  if (!with_flushes) return cost;
  constexpr double kIdleReport = 11;  // seconds until an idle session reports (PostgreSQL: 10)
  BenchWait(kIdleReport);
  cost.flushes = sql_.Double("SELECT wal_sync FROM pg_stat_wal") - flushes_;
  return cost;
}

std::vector<std::string> DatabaseMeter::Slowest(int count) {
  return sql_.Rows(
      "SELECT round(total_exec_time), calls, rows, "
      "left(regexp_replace(query, '\\s+', ' ', 'g'), 90) FROM pg_stat_statements "
      "WHERE query !~ 'pg_stat_' ORDER BY total_exec_time DESC LIMIT " +
      std::to_string(count));
}

std::string MachineText() {
  struct utsname system{};
  uname(&system);
  const int64_t kb = std::atoll(LineValue("/proc/meminfo", "MemTotal").c_str());
  return LineValue("/proc/cpuinfo", "model name") + ", " +
         std::to_string(std::thread::hardware_concurrency()) + " cores, " +
         std::to_string(kb / (1 << 20)) + " GiB, " + system.sysname + " " + system.release;
}

}  // namespace tidemark
