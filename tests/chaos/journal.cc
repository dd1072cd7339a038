#include "tests/chaos/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

namespace tidemark {
namespace {

// So soon after a handler's return its result may not be on disk yet.
constexpr double kNotSpooledYet = 3;

class Judge {
 public:
  explicit Judge(bool commits_may_be_lost) : commits_may_be_lost_(commits_may_be_lost) {}

  void Take(const JournalLine& line) {
    if (line.event == "killed") {
      last_killed_[line.executor].push_back(line.seconds);
      for (auto& [batch, state] : states_) {
        if (state.inside.has_value() && state.inside->executor == line.executor) {
          state.dead_pids.insert(state.inside->pid);
          state.inside.reset();
        }
      }
    } else if (line.event == "failover") {
      failovers_.push_back(line.seconds);
    } else if (line.event == "enter") {
      Enter(line);
    } else {
      Leave(line);
    }
  }

  JournalVerdict Verdict() { return std::move(verdict_); }

 private:
  struct State {
    std::optional<JournalLine> inside;
    std::optional<JournalLine> done;
    std::set<int> dead_pids;  // of handlers whose executor was killed
    bool again_since_death = false;
  };

  static std::string Text(const JournalLine& line) {
    char text[64];
    std::snprintf(text, sizeof text, " attempt %d pid %d at %.3f ", line.attempt, line.pid,
                  line.seconds);
    return line.event + " " + line.batch + text + line.executor + " " + line.token;
  }

  void Enter(const JournalLine& line) {
    State& state = states_[line.batch];
    ++verdict_.enters;
    ++verdict_.enters_by_app[line.executor.substr(0, 1)];
    if (state.inside.has_value()) {
      Again(line, *state.inside, "two at once: ");
    } else if (state.done.has_value()) {
      Again(line, *state.done, "done and run again: ");
    }
    state.again_since_death = !state.dead_pids.empty();
    state.inside = line;
  }

  void Again(const JournalLine& line, const JournalLine& before, const std::string& what) {
    const bool was_done = before.event == "leave";
    for (const double killed : last_killed_[before.executor]) {
      if (!was_done || killed < before.seconds - 0.1) continue;
      if (killed > before.seconds + kNotSpooledYet || killed > line.seconds) continue;
      ++verdict_.again_after_kill;
      return;
    }
    // Lost commits: neither the run nor its end is known to the new primary.
    for (const double failover : failovers_) {
      if (!commits_may_be_lost_ || failover < before.seconds - 10 || failover > line.seconds + 1) {
        continue;
      }
      ++verdict_.again_after_failover;
      return;
    }
    verdict_.violations.push_back(what + Text(line) + "; before: " + Text(before));
  }

  void Leave(const JournalLine& line) {
    State& state = states_[line.batch];
    // A command that outlived its agent, and ran on beside the next attempt.
    if (state.dead_pids.count(line.pid) != 0 && state.again_since_death) {
      verdict_.violations.push_back("survived its executor's death, beside another attempt: " +
                                    Text(line));
    }
    if (line.event == "leave") {
      state.done = line;
      ++verdict_.done;
      verdict_.done_batches.insert(line.batch);
    }
    if (state.inside.has_value() && state.inside->pid == line.pid &&
        state.inside->attempt == line.attempt && state.inside->executor == line.executor) {
      state.inside.reset();
    }
  }

  const bool commits_may_be_lost_;
  std::map<std::string, State> states_;  // by batch
  std::map<std::string, std::vector<double>> last_killed_;
  std::vector<double> failovers_;
  JournalVerdict verdict_;
};

}  // namespace

void AppendJournal(const std::string& file, const JournalLine& line) {
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, " %d %s %d %.3f ", line.attempt, line.executor.c_str(),
                line.pid, line.seconds);
  const std::string text = line.event + " " + line.batch + numbers + line.token + "\n";
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0 || write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) abort();
  close(fd);
}

std::vector<JournalLine> ReadJournal(const std::string& file) {
  std::vector<JournalLine> lines;
  std::ifstream in(file);
  for (std::string text; std::getline(in, text);) {
    std::istringstream fields(text);
    JournalLine line;
    fields >> line.event >> line.batch >> line.attempt >> line.executor >> line.pid >>
        line.seconds >> line.token;
    if (!fields.fail()) lines.push_back(std::move(line));
  }
  return lines;
}

JournalVerdict JudgeJournal(const std::vector<JournalLine>& lines, bool commits_may_be_lost) {
  Judge judge(commits_may_be_lost);
  for (const JournalLine& line : lines) judge.Take(line);
  return judge.Verdict();
}

}  // namespace tidemark
