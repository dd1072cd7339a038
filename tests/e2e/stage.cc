#include "tests/e2e/stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

namespace tidemark {
namespace {

struct JournalLine {
  std::string event, date, attempt, executor, checkpoint;
};

JournalLine ParseLine(const std::string& text) {
  JournalLine line;
  std::istringstream(text) >> line.event >> line.date >> line.attempt >> line.executor >>
      line.checkpoint;
  return line;
}

// Holds the answer to the next commit it is asked about.
std::function<CommitFate()> HoldOne() {
  auto asked = std::make_shared<bool>(false);
  return
      [asked] { return std::exchange(*asked, true) ? CommitFate::kPass : CommitFate::kHoldReply; };
}

// Whether an executor has a result on disk: a segment with more than its head.
bool HasSpooled(const std::string& folder) {
  constexpr uintmax_t kHead = 8;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".segment" && entry.file_size(error) > kHead) return true;
  }
  return false;
}

}  // namespace

std::string_view Name(Stage stage) {
  constexpr std::string_view kNames[] = {"Recorded", "Sent",     "Accepted", "Started",
                                         "HalfWay",  "Finished", "Reported", "Acknowledged"};
  return kNames[static_cast<int>(stage)];
}

StagedRun::StagedRun(Stage stage, const std::string& handler, const std::string& more)
    : database_(world_.database_url()) {
  world_.UseDatabase(database_.url());
  link_.emplace(world_.Reserve());
  world_.UseLink(link_->address());
  world_.StartScheduler();
  world_.StartProbe("e1");
  world_.StartProbe("e2");
  EXPECT_TRUE(WaitFor([&] {
    return world_.Cli({"cluster", "status"}).code == 0 &&
           world_.Sql("SELECT count(*) FROM executor WHERE registration > 0") == "2";
  }));
  Arm(stage);
  dates_ = world_.ApplyDaily("job", "ops", handler, 1, more);
  EXPECT_TRUE(WaitFor([&] { return Reached(stage); })) << "it never was " << Name(stage);
  const bool ended = stage == Stage::kReported || stage == Stage::kAcknowledged;
  executor_ =
      world_.Sql(std::string("SELECT executor_id FROM ") + (ended ? "run_history" : "active_run"));
  EXPECT_TRUE(executor_ == "e1" || executor_ == "e2") << executor_;
}

void StagedRun::Arm(Stage stage) {
  switch (stage) {
    case Stage::kRecorded:
      database_.AtCommit("INSERT INTO active_run", HoldOne());
      break;
    case Stage::kSent:
      link_->HoldNext(IsTrigger());
      break;
    case Stage::kAccepted:
      world_.Touch("hold-guard");
      link_->HoldNext([this](const LinkMessage& message) {
        if (IsReport(v1::RunReport::kAccepted)(message)) accepted_ = true;
        return false;
      });
      break;
    case Stage::kStarted:
      world_.Touch("hold-work-1");
      link_->HoldNext(IsReport(v1::RunReport::kStarted));
      break;
    case Stage::kHalfWay:
      world_.Touch("hold-work-1");
      break;
    case Stage::kFinished:
      link_->HoldNext(IsReport(v1::RunReport::kFinished));
      break;
    case Stage::kReported:
      database_.AtCommit("DELETE FROM active_run", HoldOne());
      break;
    case Stage::kAcknowledged:
      link_->HoldNext(IsAcknowledged());
      break;
  }
}

bool StagedRun::Reached(Stage stage) {
  switch (stage) {
    case Stage::kRecorded:
    case Stage::kReported:
      return database_.HoldingReply();
    case Stage::kAccepted:
      return accepted_;
    case Stage::kHalfWay:
      return world_.Sql("SELECT checkpoint FROM active_run") == "half";
    case Stage::kFinished:
      return link_->Holding() &&
             (HasSpooled(world_.Path("spool-e1")) || HasSpooled(world_.Path("spool-e2")));
    case Stage::kSent:
    case Stage::kStarted:
    case Stage::kAcknowledged:
      return link_->Holding();
  }
  return false;
}

void StagedRun::Release() {
  world_.Remove("hold-guard");
  world_.Remove("hold-work-1");
  database_.ReleaseReply();
  link_->Release();
}

void StagedRun::Kill(const std::string& program) {
  world_.Kill(program);
  std::ofstream(world_.Path("journal"), std::ios::app) << "killed - 0 " << program << " -\n";
}

void StagedRun::Restart(const std::string& program) {
  if (program == "scheduler") {
    world_.StartScheduler();
  } else {
    world_.StartProbe(program);
  }
}

void StagedRun::Drain() {
  for (const std::string& executor : {std::string("e1"), std::string("e2")}) {
    if (!world_.program(executor).Running()) continue;
    world_.Terminate(executor);
    EXPECT_EQ(world_.program(executor).Wait(absl::ZeroDuration()), 0) << executor;
    EXPECT_NE(ReadFile(world_.Path(executor + ".log")).find("nothing left to report"),
              std::string::npos);
  }
}

std::vector<std::string> StagedRun::Events(std::string_view event) const {
  std::vector<std::string> found;
  for (const std::string& text : world_.Journal()) {
    if (ParseLine(text).event == event) found.push_back(text);
  }
  return found;
}

std::string StagedRun::Overlap() const {
  std::set<std::string> inside;  // executors
  for (const std::string& text : world_.Journal()) {
    const JournalLine line = ParseLine(text);
    if (line.event != "enter") {
      inside.erase(line.executor);
      continue;
    }
    if (!inside.empty()) return text + " while it ran in " + *inside.begin();
    inside.insert(line.executor);
  }
  return "";
}

}  // namespace tidemark
