// Random flushes against a plain model of what their lists mean: whatever the lists make of each
// other, and however few statements they are put into, the tables are as if each element had been
// carried out by itself, one after the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/store/flush_fixture.h"

namespace tidemark {
namespace {

constexpr int64_t kDated = 1;
constexpr int64_t kInterval = 2;
constexpr int kOccurrences = 4;  // of each job
constexpr int kFlushes = 150;    // of each seed

// The tables, as ports.h says what becomes of them.
class Model {
 public:
  void Apply(const Flush& flush) {
    opened_ = closed_ = updated_ = {};
    std::set<std::string> opens;
    std::set<std::string> over;  // changes no more
    for (const RunOpen& open : flush.opens) opens.insert(open.run.run_id);
    for (const RunClose& close : flush.closes) {
      if (opens.count(close.run_id) == 0) Close(close);
      over.insert(close.run_id);
    }
    for (const Disarm& disarm : flush.disarms) {
      Take(disarm.run_id);
      over.insert(disarm.run_id);
    }
    for (const RunOpen& open : flush.opens) Open(open.run);
    for (const RunLaunch& launch : flush.launches) {
      const ActiveRun* run = Find(launch.run_id);
      if (run != nullptr && over.count(launch.run_id) == 0) Mark(*run, "RUNNING");
    }
    for (const RunUpdate& update : flush.updates) {
      if (over.count(update.run.run_id) == 0) Update(update.run);
    }
    for (const RunClose& close : flush.closes) {
      if (opens.count(close.run_id) > 0) Close(close);
    }
    for (const CursorWrite& cursor : flush.cursors) {
      absl::Time& last = cursors_.emplace(cursor.job_id, cursor.last_fire).first->second;
      last = std::max(last, cursor.last_fire);
    }
    for (const InboxWrite& write : flush.inbox) {
      const AttemptRef& attempt = write.item.attempt;
      const ActiveRun* run = Find(attempt.run_id);
      if (run == nullptr || run->attempt != attempt.attempt) continue;
      inbox_.emplace(std::pair(attempt.run_id, attempt.attempt), write.item.result.message);
    }
    for (const AttemptRef& taken : flush.inbox_taken) inbox_.erase({taken.run_id, taken.attempt});
  }

  std::vector<ActiveRun> Live() const {
    std::vector<ActiveRun> runs;
    for (const auto& [key, run] : live_) runs.push_back(run);
    return runs;
  }
  // As the test reads the tables.
  std::vector<std::string> Rows() const {
    std::vector<std::string> rows;
    for (const auto& [key, run] : live_) {
      rows.push_back("live|" + key.key + "|" + run.run_id + "|" + std::string(Name(run.status)) +
                     "|" + std::to_string(run.attempt) + "|" + run.message +
                     (run.armed ? "|t" : "|f"));
    }
    rows.insert(rows.end(), history_.begin(), history_.end());
    for (const auto& [date, mark] : marks_) rows.push_back("mark|" + date + "|" + mark);
    for (const auto& [job_id, last] : cursors_) {
      rows.push_back("cursor|" + std::to_string(job_id) + "|" +
                     std::to_string(absl::ToUnixSeconds(last)));
    }
    for (const auto& [attempt, message] : inbox_) {
      rows.push_back("inbox|" + attempt.first + "|" + std::to_string(attempt.second) + "|" +
                     message);
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  const std::set<std::string>& opened() const { return opened_; }
  const std::set<std::string>& closed() const { return closed_; }
  const std::set<std::string>& updated() const { return updated_; }

 private:
  const ActiveRun* Find(const std::string& run_id) const {
    for (const auto& [key, run] : live_) {
      if (run.run_id == run_id) return &run;
    }
    return nullptr;
  }

  void Mark(const ActiveRun& run, const std::string& status) {
    if (!run.biz_date.has_value()) return;
    std::string& mark = marks_[run.occurrence.key];
    if (mark.rfind("DONE", 0) == 0 && status != "DONE") return;
    mark = status + "|" + run.run_id;
  }

  void Close(const RunClose& close) {
    const auto it = live_.find(close.run.occurrence);
    if (it == live_.end() || it->second.run_id != close.run_id) return;
    history_.push_back("over|" + close.run.occurrence.key + "|" + close.run_id + "|" +
                       std::string(Name(close.status)));
    if (!close.watermark.empty()) Mark(it->second, close.watermark);
    live_.erase(it);
    closed_.insert(close.run_id);
  }

  void Take(const std::string& run_id) {
    const ActiveRun* run = Find(run_id);
    if (run != nullptr && run->armed) live_.erase(OccurrenceKey(run->occurrence));
  }

  void Open(const ActiveRun& run) {
    if (!live_.emplace(run.occurrence, run).second) return;
    opened_.insert(run.run_id);
    if (!run.armed) Mark(run, "RUNNING");
  }

  void Update(const ActiveRun& run) {
    const auto it = live_.find(run.occurrence);
    if (it == live_.end() || it->second.run_id != run.run_id) return;
    if (it->second.attempt > run.attempt) return;
    it->second.status = run.status;
    it->second.attempt = run.attempt;
    it->second.message = run.message;
    it->second.armed = false;
    updated_.insert(run.run_id);
  }

  std::map<OccurrenceKey, ActiveRun> live_;
  std::vector<std::string> history_;
  std::map<std::string, std::string> marks_;  // by date
  std::map<int64_t, absl::Time> cursors_;
  std::map<std::pair<std::string, int>, std::string> inbox_;
  std::set<std::string> opened_, closed_, updated_;
};

// Flushes of which each element is now and then beside the point: of a run that is over, of an
// occurrence that is taken, of a run that the same flush opens, closes, changes or takes back.
class FlushMaker {
 public:
  explicit FlushMaker(uint64_t seed) : random_(seed) {}

  bool Coin() { return Below(2) == 0; }

  Flush Make(const std::vector<ActiveRun>& live) {
    Flush flush;
    known_.insert(known_.end(), live.begin(), live.end());
    if (known_.size() > 12) known_.erase(known_.begin(), known_.end() - 12);
    for (int i = Below(4); i > 0; --i) flush.closes.push_back(CloseOf(Pick()));
    for (int i = Below(3); i > 0; --i) {
      const ActiveRun run = Pick();
      flush.disarms.push_back({run.occurrence.job_id, run.run_id});
    }
    for (int i = Below(5); i > 0; --i) {
      const ActiveRun run = New();
      flush.opens.push_back({run, ""});
      known_.push_back(run);
      if (!run.biz_date.has_value()) {
        flush.cursors.push_back({run.occurrence.job_id, run.fire_time});
      }
    }
    for (int i = Below(3); i > 0; --i) {
      const ActiveRun run = Pick();
      flush.launches.push_back({run.occurrence.job_id, run.run_id});
    }
    for (int i = Below(4); i > 0; --i) flush.updates.push_back({Changed(Pick())});
    for (int i = Below(3); i > 0; --i) flush.closes.push_back(CloseOf(Pick()));
    for (int i = Below(4); i > 0; --i) {
      InboxWrite write{{{Pick().run_id, Below(3)}, 0, "", {}}, "recon", "default"};
      write.item.result.message = "report " + std::to_string(++changes_);
      flush.inbox.push_back(write);
    }
    for (int i = Below(3); i > 0; --i) flush.inbox_taken.push_back({Pick().run_id, Below(3)});
    // One run has one end: the engine forgets it when it has written that.
    std::set<std::string> ended;
    std::erase_if(flush.closes, [&](const RunClose& c) { return !ended.insert(c.run_id).second; });
    return flush;
  }

 private:
  int Below(int limit) { return static_cast<int>(random_.Next() % static_cast<uint64_t>(limit)); }
  ActiveRun Pick() {
    if (known_.empty()) return New();
    return known_[static_cast<size_t>(Below(static_cast<int>(known_.size())))];
  }

  ActiveRun New() {
    const int n = Below(kOccurrences);
    const bool dated = Below(2) == 0;
    ActiveRun run = MakeRun(dated ? kDated : kInterval, dated ? "dated" : "interval",
                            "2026-11-2" + std::to_string(n), Uuid(++runs_));
    if (!dated) {
      run.biz_date.reset();
      run.fire_time += absl::Hours(n);
      run.occurrence = FireKey(kInterval, run.fire_time);
    }
    run.attempt = Below(2);
    run.armed = Below(3) == 0;
    return run;
  }

  ActiveRun Changed(ActiveRun run) {
    run.status = Below(2) == 0 ? RunStatus::kPending : RunStatus::kRunning;
    run.attempt = Below(4);
    run.message = "change " + std::to_string(++changes_);
    return run;
  }

  RunClose CloseOf(const ActiveRun& run) {
    RunClose close;
    close.run_id = run.run_id;
    close.run = run;
    close.status = Below(2) == 0 ? RunStatus::kCompleted : RunStatus::kFailed;
    if (run.biz_date.has_value() && Below(4) > 0) {
      close.watermark = close.status == RunStatus::kCompleted ? "DONE" : "FAILED";
    }
    close.ended_at = At("2026-11-27T18:00:00Z");
    return close;
  }

  SeededRandom random_;
  std::vector<ActiveRun> known_;  // live ones and some that no longer are
  int runs_ = 0;
  int changes_ = 0;
};

class FlushModelTest : public FlushTest, public ::testing::WithParamInterface<uint64_t> {
 protected:
  // Which ways to join and to scan there are: the order of things within a statement is the
  // planner's, and it must not matter.
  void PlanAnew(bool nested, bool hashed, bool scanned) {
    const absl::Status status = connection_->Transact([&](SqlTransaction& transaction) {
      return transaction
          .Run(
              "SELECT set_config('enable_nestloop', $1, false),"
              " set_config('enable_hashjoin', $2, false), set_config('enable_seqscan', $3, false)",
              {ToParam(nested), ToParam(hashed), ToParam(scanned)})
          .status();
    });
    ASSERT_TRUE(status.ok()) << status;
  }

  std::vector<std::string> Rows() {
    std::vector<std::string> rows = database_.Rows(
        "SELECT 'live', occurrence, run_id, status, attempt, message, armed::text FROM active_run");
    const auto add = [&](const std::string& statement) {
      for (std::string& row : database_.Rows(statement)) rows.push_back(std::move(row));
    };
    add("SELECT 'over', occurrence, run_id, status FROM run_history");
    add("SELECT 'mark', biz_date, status, run_id FROM job_watermark");
    add("SELECT 'cursor', job_id, extract(epoch FROM last_fire)::bigint FROM job_cursor");
    add("SELECT 'inbox', run_id, attempt, message FROM inbox");
    for (std::string& row : rows) {  // "true" and "false" of a text column
      if (row.rfind("live", 0) != 0) continue;
      row = row.substr(0, row.rfind('|') + 2);
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  }
};

TEST_P(FlushModelTest, TheTablesAreAsIfEachElementHadBeenCarriedOutByItself) {
  InsertJob(database_, kDated, "dated");
  InsertJob(database_, kInterval, "interval");
  FlushMaker maker(GetParam());
  Model model;
  for (int i = 0; i < kFlushes; ++i) {
    const Flush flush = maker.Make(model.Live());
    PlanAnew(maker.Coin(), maker.Coin(), maker.Coin());
    model.Apply(flush);
    const FlushResult result = Commit(flush);
    ASSERT_EQ(result.opened, model.opened()) << "flush " << i;
    ASSERT_EQ(result.closed, model.closed()) << "flush " << i;
    ASSERT_EQ(result.updated, model.updated()) << "flush " << i;
    ASSERT_THAT(Rows(), ::testing::ElementsAreArray(model.Rows())) << "flush " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FlushModelTest, ::testing::Range<uint64_t>(1, 7));

}  // namespace
}  // namespace tidemark
