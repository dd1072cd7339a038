// The list of kinds is the truth: of what the sources raise, and of what people read.
#include "scheduler/engine/alert_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace tidemark {
namespace {

const std::filesystem::path kRoot = TIDEMARK_SOURCE_DIR;

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::set<std::string> Listed() {
  std::set<std::string> kinds;
  for (const AlertKind& kind : kAlertKinds) kinds.emplace(kind.name);
  return kinds;
}

void AddMatches(const std::string& text, const std::regex& pattern, std::set<std::string>* kinds) {
  for (auto it = std::sregex_iterator(text.begin(), text.end(), pattern);
       it != std::sregex_iterator(); ++it) {
    kinds->insert((*it)[1]);
  }
}

TEST(AlertKindsTest, AreThoseThatTheSourcesRaise) {
  const std::regex about(R"re((?:About\w*|Open)\(\s*\w+,(?:\s*\w+,)?\s*"([a-z_]+)")re");
  const std::regex field(R"re(\.kind = "([a-z_]+)")re");
  std::set<std::string> raised;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / "scheduler")) {
    if (entry.path().extension() != ".cc") continue;
    const std::string text = Read(entry.path());
    AddMatches(text, about, &raised);
    if (text.find("AlertRaise") != std::string::npos) AddMatches(text, field, &raised);
  }
  EXPECT_EQ(raised, Listed());
}

TEST(AlertKindsTest, AreThoseOfTheReadme) {
  std::set<std::string> told;
  AddMatches(Read(kRoot / "README.md"), std::regex(R"re(\n\| `([a-z_]+)` \|)re"), &told);
  EXPECT_EQ(told, Listed());
}

}  // namespace
}  // namespace tidemark
