// What a scenario found, as a table for people and JSON for programs.
#ifndef TIDEMARK_TESTS_BENCH_HOT_BENCH_REPORT_H_
#define TIDEMARK_TESTS_BENCH_HOT_BENCH_REPORT_H_

#include <string>
#include <utility>
#include <vector>

namespace tidemark {

// Figures in the order in which they were found. A goal says whether it holds; nothing gates.
class BenchReport {
 public:
  explicit BenchReport(std::string scenario) : scenario_(std::move(scenario)) {}

  void Setting(const std::string& name, const std::string& value);
  void Setting(const std::string& name, double value);
  void Figure(const std::string& name, double value, const std::string& unit = "");
  void GoalAtMost(const std::string& name, double value, double bound);
  void GoalAtLeast(const std::string& name, double value, double bound);
  // A remark under the table.
  void Note(const std::string& text) { notes_.push_back(text); }

  void Print() const;
  std::string Json() const;

 private:
  struct Number {
    std::string name;
    double value = 0;
    std::string unit;
  };
  struct Goal {
    std::string name;
    double value = 0;
    double bound = 0;
    bool at_least = false;
    bool holds() const { return at_least ? value >= bound : value <= bound; }
  };

  const std::string scenario_;
  std::vector<std::pair<std::string, std::string>> settings_;
  std::vector<Number> figures_;
  std::vector<Goal> goals_;
  std::vector<std::string> notes_;
};

// Of sorted or unsorted samples, `share` in 0..1; 0 when there are none.
double Percentile(std::vector<double> samples, double share);

}  // namespace tidemark

#endif  // TIDEMARK_TESTS_BENCH_HOT_BENCH_REPORT_H_
