// The rows of a list as the input of a statement: one array a column, and of a column that says the
// same in every row one value. Only for the store.
#ifndef TIDEMARK_SCHEDULER_STORE_INPUT_BATCH_H_
#define TIDEMARK_SCHEDULER_STORE_INPUT_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/store/database.h"

namespace tidemark {

struct InputColumn {
  const char* name;
  const char* type;  // of an element, e.g. "timestamptz"
  // Part of what rows of tables are found by: of several rows never a constant, which the planner
  // would take for a condition that hardly any row of the table meets.
  bool key = false;
};

// Columns of the input, a value a row in turn. The first column differs in every row.
//
// In a batch most columns say the same in every row (the trigger's type, the namespace, all that is
// seldom set): such a column is one plain parameter, a constant to the planner, and the rows that
// the statement takes apart and carries about have only those that vary. That is most of what a
// wide row costs.
class InputBatch {
 public:
  // `columns` must outlive this object.
  explicit InputBatch(const std::vector<InputColumn>& columns);

  // Text that is part of an identity or must not be altered, only made storable; at most 1 MiB.
  InputBatch& Exact(std::string_view text);
  // Cut with a mark: 32 bytes, 4 KiB, 64 KiB (R6).
  InputBatch& Word(std::string_view text);
  InputBatch& Message(std::string_view text);
  InputBatch& Body(std::string_view text);
  // "" is NULL.
  InputBatch& OrNull(std::string_view text);
  InputBatch& Put(std::string_view plain);  // without quotes, backslashes, blanks and NUL
  InputBatch& Put(int64_t value);
  InputBatch& Put(int value) { return Put(static_cast<int64_t>(value)); }
  InputBatch& Put(bool value) { return Put(std::string_view(value ? "t" : "f")); }
  InputBatch& Put(double value);
  InputBatch& Put(absl::Time time);
  InputBatch& Put(absl::CivilSecond civil);
  InputBatch& Put(absl::CivilDay day);
  template <typename T>
  InputBatch& Put(const std::optional<T>& value) {
    return value.has_value() ? Put(*value) : Null();
  }
  InputBatch& Null() { return Add(nullptr); }

  size_t rows() const { return rows_; }
  // Appends the parameters to `params` and returns "NAME AS NOT MATERIALIZED (SELECT … FROM go …)":
  // the rows, none when `go` has no row. Ends the use of this object; there must be rows.
  std::string Take(std::string_view name, std::vector<SqlParam>* params) &&;

 private:
  struct Column {
    bool uniform = true;
    std::optional<std::string> first;  // as an array's literal has it
    std::string text;                  // of all rows, once two differ
  };

  InputBatch& Add(const std::string_view* element);
  InputBatch& Clean(std::string_view text, size_t limit);
  void Spread(Column& column) const;

  const std::vector<InputColumn>& names_;
  std::vector<Column> columns_;
  std::string scratch_;
  size_t next_ = 0;
  size_t rows_ = 0;  // complete ones
};

}  // namespace tidemark

#endif  // TIDEMARK_SCHEDULER_STORE_INPUT_BATCH_H_
