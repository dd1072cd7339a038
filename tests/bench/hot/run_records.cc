#include "tests/bench/hot/run_records.h"

#include <fstream>

namespace tidemark {

bool WriteRunRecords(const std::string& file, const std::vector<RunRecord>& records) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(records.data()),
            static_cast<std::streamsize>(records.size() * sizeof(RunRecord)));
  return static_cast<bool>(out.flush());
}

std::vector<RunRecord> ReadRunRecords(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<RunRecord> records;
  RunRecord record;
  while (in.read(reinterpret_cast<char*>(&record), sizeof record)) records.push_back(record);
  return records;
}

std::vector<double> LatenessMillis(const std::vector<RunRecord>& records, int64_t offset_us) {
  std::vector<double> millis;
  millis.reserve(records.size());
  for (const RunRecord& record : records) {
    millis.push_back(static_cast<double>(record.entered_us + offset_us - record.fire_us) / 1000);
  }
  return millis;
}

}  // namespace tidemark
