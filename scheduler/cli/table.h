// Text tables for terminals.
#ifndef TIDEMARK_SCHEDULER_CLI_TABLE_H_
#define TIDEMARK_SCHEDULER_CLI_TABLE_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "common/safe_text.h"
#include "google/protobuf/timestamp.pb.h"

namespace tidemark {

// Columns as wide as their widest cell. Control characters in cells are escaped, whatever a server
// sends. A value of one thread.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void Add(std::vector<std::string> row);
  bool empty() const { return rows_.size() == 1; }
  void Print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the header first
};

// Lines of "name: value", aligned; those without a value are left out.
class Card {
 public:
  void Add(const std::string& name, const std::string& value);
  void Print(std::ostream& out) const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

// Terminal columns of a text: characters count one, those of East Asian width two, marks none.
size_t DisplayWidth(const std::string& text);

// "2026-11-28T17:00:00Z", whole seconds.
std::string TimeText(const google::protobuf::Timestamp& time);

// What a cell shows of a text that may be empty.
inline std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

// Cut to `width` columns, with "…" where something was cut.
std::string Shorten(const std::string& text, size_t width);

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_CLI_TABLE_H_
